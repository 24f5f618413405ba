//! Names of controllers and drives, and commands that change them: for the controller that the
//! output names, or with an N to fill in if it names none.

use super::super::{Controller, LogicalDrive, Tool};

impl Controller {
    /// Name of the controller in findings.
    pub(in super::super) fn name(&self) -> String {
        let place = match self.tool {
            Tool::Ssacli => "slot",
            Tool::Mdadm => return self.model.clone(),
            Tool::Nvme => "NVMe device",
            Tool::Storcli | Tool::Storcli2 | Tool::Megacli | Tool::Arcconf => "controller",
        };
        let id = self.id.as_ref().map_or_else(String::new, |id| format!(" {id}"));
        let label = self.label.as_ref().filter(|label| !label.is_empty());
        let words: Vec<&str> = [Some(&self.model), label]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .filter(|word| !word.is_empty())
            .collect();
        match &words[..] {
            [] => format!("{place}{id}"),
            words => format!("{place}{id} ({})", words.join(", ")),
        }
    }

    pub(super) fn name_of(&self, drive: &LogicalDrive) -> String {
        if self.tool == Tool::Mdadm {
            return drive.id.clone();
        }
        let device = drive.device.as_ref().map_or_else(String::new, |name| format!(", {name}"));
        format!("{}, drive {}{device}", self.name(), drive.id)
    }

    /// Number of the controller in commands; N if the output lacks it, so that no command hits
    /// another controller.
    pub(super) fn number(&self) -> &str {
        self.id.as_deref().unwrap_or("N")
    }

    /// The command that sets write back as long as the cache is protected.
    pub(super) fn set_write_back(&self, drive: &str) -> String {
        let id = self.number();
        match self.tool {
            Tool::Ssacli => {
                format!("ssacli ctrl slot={id} logicaldrive {drive} modify caching=enable")
            }
            Tool::Arcconf => format!("arcconf setcache {id} logicaldrive {drive} wbb"),
            Tool::Megacli => format!("MegaCli64 -LDSetProp WB -L{drive} -a{id}"),
            _ => format!("{} /c{id}/v{drive} set wrcache=wb", self.tool),
        }
    }

    /// The command that bypasses the cache while it is unprotected.
    pub(super) fn set_only_with_backup(&self, drive: &str) -> String {
        let id = self.number();
        match self.tool {
            Tool::Ssacli => format!("ssacli ctrl slot={id} modify nobatterywritecache=disable"),
            Tool::Megacli => format!("MegaCli64 -LDSetProp NoCachedBadBBU -L{drive} -a{id}"),
            _ => self.set_write_back(drive),
        }
    }

    pub(super) fn set_no_read_ahead(&self, drive: &str) -> String {
        let id = self.number();
        match self.tool {
            Tool::Ssacli => {
                format!("ssacli ctrl slot={id} logicaldrive {drive} modify caching=enable")
            }
            Tool::Arcconf => format!("arcconf setcache {id} logicaldrive {drive} roff"),
            Tool::Megacli => format!("MegaCli64 -LDSetProp NORA -L{drive} -a{id}"),
            _ => format!("{} /c{id}/v{drive} set rdcache=nora", self.tool),
        }
    }

    /// The command that turns off the caches of disks; `None` for software RAID.
    pub(super) fn set_disk_caches_off(&self, drive: &str) -> Option<String> {
        let id = self.number();
        Some(match self.tool {
            Tool::Ssacli => format!("ssacli ctrl slot={id} modify dwc=disable"),
            Tool::Arcconf => format!("arcconf setcache {id} deviceall disable"),
            Tool::Megacli => format!("MegaCli64 -LDSetProp -DisDskCache -L{drive} -a{id}"),
            Tool::Storcli | Tool::Storcli2 => {
                format!("{} /c{id}/v{drive} set pdcache=off", self.tool)
            }
            Tool::Mdadm | Tool::Nvme => return None,
        })
    }

    /// The command that gives all of the cache to writes.
    pub(super) fn set_ratio(&self) -> String {
        let id = self.number();
        match self.tool {
            Tool::Arcconf => format!("arcconf setcache {id} cacheratio 0 100"),
            _ => format!("ssacli ctrl slot={id} modify cacheratio=0/100"),
        }
    }

    /// The command that shows the protection of the cache.
    pub(super) fn show_backup(&self) -> String {
        let id = self.number();
        match self.tool {
            Tool::Ssacli => format!("ssacli ctrl slot={id} show status"),
            Tool::Arcconf => format!("arcconf getconfig {id} ad"),
            Tool::Megacli => format!("MegaCli64 -AdpBbuCmd -GetBbuStatus -a{id}"),
            Tool::Storcli2 => format!("storcli2 /c{id}/ep show all"),
            _ => format!("storcli /c{id}/cv show all; storcli /c{id}/bbu show all"),
        }
    }
}
