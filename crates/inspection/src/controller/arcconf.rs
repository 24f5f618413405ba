//! Text of arcconf: `getconfig N`. Parts begin with headings between lines of dashes, logical
//! devices and disks with lines of their own.

use super::words::{OutputLine, lines, size_bytes, switch};
use super::{CacheBackup, Controller, ControllerError, LogicalDrive, Tool, WritePolicy};

/// Whether a text is one of this tool's.
pub(super) fn is_one(text: &str) -> bool {
    let mut all = lines(text);
    all.any(|line| line.text == "Controller information")
}

/// The controller of an output. The text does not say which number it was asked for by.
pub(super) fn read(text: &str) -> Result<Vec<Controller>, ControllerError> {
    let tool = Tool::Arcconf;
    let mut controller = Controller { tool, id: "1".to_owned(), ..Controller::default() };
    let mut section = "";
    let mut is_backup = false;
    let mut disk: Option<String> = None;
    for line in lines(text).filter(|line| !line.text.starts_with("---")) {
        if is_heading(&line) {
            is_backup = is_of_backup(line.text);
            // Those inside a section are indented.
            section = if line.indent == 0 { line.text } else { section };
        } else if let Some(id) = device_number(line.text) {
            controller.drives.push(LogicalDrive { id, ..LogicalDrive::default() });
        } else if let Some(number) = line.text.strip_prefix("Device #") {
            disk = Some(number.trim().to_owned());
        } else {
            match section {
                _ if is_backup => of_backup(&mut controller, &line),
                "Controller information" => of_controller(&mut controller, &line),
                "Logical device information" => {
                    if let Some(drive) = controller.drives.last_mut() {
                        of_drive(drive, &line);
                    }
                }
                "Physical Device information" => of_disk(&mut controller, disk.as_deref(), &line),
                _ => {}
            }
        }
    }
    if controller.model.is_empty() {
        return Err(ControllerError::Empty(Tool::Arcconf));
    }
    Ok(vec![controller])
}

fn is_heading(line: &OutputLine<'_>) -> bool {
    let words = line.text.to_ascii_lowercase();
    words.ends_with(" information") && line.value.is_empty()
}

/// Whether what follows tells of the battery, or of the capacitors of later models.
fn is_of_backup(heading: &str) -> bool {
    ["Battery", "ZMM", "Backup Unit"].iter().any(|word| heading.contains(word))
}

/// `Logical device number 0`; `Logical Device number 0` in later releases.
fn device_number(text: &str) -> Option<String> {
    let rest = text.strip_prefix("Logical")?.trim_start();
    let rest = rest.strip_prefix("device number").or_else(|| rest.strip_prefix("Device number"))?;
    let number = rest.trim();
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.to_owned())
}

fn of_controller(controller: &mut Controller, line: &OutputLine<'_>) {
    match line.name {
        "Controller Model" => line.value.clone_into(&mut controller.model),
        "Installed memory" => controller.cache_bytes = size_bytes(line.value),
        "Controller Mode" | "Functional Mode" => {
            controller.passes_disks_through = Some(line.value.contains("HBA"));
        }
        _ => {}
    }
}

fn of_backup(controller: &mut Controller, line: &OutputLine<'_>) {
    if !matches!(line.name, "Status" | "Overall Backup Unit Status") {
        return;
    }
    controller.backup = match line.value {
        "Optimal" | "ZMM Optimal" | "Ready" => CacheBackup::Ready,
        "Not Installed" | "Not Present" => CacheBackup::Absent,
        words => CacheBackup::NotReady(words.to_owned()),
    };
}

fn of_drive(drive: &mut LogicalDrive, line: &OutputLine<'_>) {
    let value = line.value;
    match line.name {
        "RAID level" => drive.level = format!("RAID {value}"),
        "Stripe-unit size" | "Strip Size" => drive.strip_bytes = size_bytes(value),
        "Status of logical device" | "Status of Logical Device" if value != "Optimal" => {
            drive.trouble = Some(format!("its status is {value}"));
        }
        // What is in force; what is set stands in `Write-cache setting`.
        "Write-cache mode" | "Write-cache status" => {
            drive.writes = match (switch(value), drive.writes) {
                (Some(true), WritePolicy::BackAlways) => WritePolicy::BackAlways,
                (Some(true), _) => WritePolicy::Back,
                (Some(false), _) => WritePolicy::Through,
                (None, _) => WritePolicy::Untold,
            };
        }
        // It stands before or behind the other, by release.
        "Write-cache setting"
            if switch(value) == Some(true)
                && drive.writes != WritePolicy::Through
                && !value.contains("when protected") =>
        {
            drive.writes = WritePolicy::BackAlways;
        }
        "Read-cache mode" | "Read-cache setting" => drive.reads_ahead = switch(value),
        name if name.contains("Segment ") => drive.disks = Some(drive.disks.unwrap_or(0) + 1),
        _ => {}
    }
}

fn of_disk(controller: &mut Controller, disk: Option<&str>, line: &OutputLine<'_>) {
    if let ("Write Cache", Some(number), Some(on)) = (line.name, disk, switch(line.value)) {
        controller.disks.push((format!("device {number}"), on));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CacheBackup, WritePolicy};
    use super::{is_one, read};

    const OUTPUT: &str = "
Controllers found: 1
----------------------------------------------------------------------
Controller information
----------------------------------------------------------------------
   Controller Status                        : Optimal
   Controller Model                         : Model 71605
   Installed memory                         : 1024 MB
   --------------------------------------------------------
   Controller ZMM Information
   --------------------------------------------------------
   Status                                   : ZMM Optimal

----------------------------------------------------------------------
Logical device information
----------------------------------------------------------------------
Logical device number 0
   RAID level                               : 10
   Status of logical device                 : Degraded
   Stripe-unit size                         : 64 KB
   Read-cache mode                          : Disabled
   Write-cache mode                         : Enabled (write-back)
   Write-cache setting                      : Enabled (write-back) when protected by battery/ZMM
   --------------------------------------------------------
   Logical device segment information
   --------------------------------------------------------
   Group 0, Segment 0                       : Present (0,0) A
   Group 0, Segment 1                       : Present (0,1) B
Logical Device number 1
   RAID level                               : 0
   Write-cache mode                         : Enabled (write-back)
   Write-cache setting                      : Enabled (write-back)

----------------------------------------------------------------------
Physical Device information
----------------------------------------------------------------------
      Device #0
         Device is a Hard drive
         Write Cache                        : Enabled (write-back)
      Device #1
         Write Cache                        : Disabled (write-through)
";

    #[test]
    fn policies_in_force_and_disks_are_read() {
        assert!(is_one(OUTPUT));
        let controller = &read(OUTPUT).unwrap()[0];
        assert_eq!(
            (controller.model.as_str(), &controller.backup),
            ("Model 71605", &CacheBackup::Ready)
        );
        assert_eq!(controller.cache_bytes, Some(1 << 30));
        let [first, second] = &controller.drives[..] else {
            panic!("{:?}", controller.drives);
        };
        assert_eq!((first.level.as_str(), first.strip_bytes), ("RAID 10", Some(64 << 10)));
        assert_eq!((first.writes, first.reads_ahead), (WritePolicy::Back, Some(false)));
        assert_eq!((first.disks, first.trouble.is_some()), (Some(2), true));
        assert_eq!((second.id.as_str(), second.writes), ("1", WritePolicy::BackAlways));
        let disks = [("device 0".to_owned(), true), ("device 1".to_owned(), false)];
        assert_eq!(controller.disks, disks);
    }

    /// As releases from 7.9 on print it.
    const LATER: &str = "
Controller information
   Controller Model     : Model 8805
   ----
   Controller Cache Backup Unit Information
   ----

    Overall Backup Unit Status : BACKUP

         Supercap Status : Ready
   Connector information
Logical device information
Logical Device number 0
   RAID level : 10
   Write-cache setting : SETTING
   Write-cache status : On
   Logical Device segment information
   Group 0, Segment 0 : Present (A)
Physical Device information
      Device #0
         Write Cache : Disabled
      Device Phy Information
         Phy #0
      Device #1
         Write Cache : Enabled (write-back)
";

    #[test]
    fn later_releases_are_read_too() {
        let told = |backup: &str, setting: &str| {
            let text = LATER.replace("BACKUP", backup).replace("SETTING", setting);
            read(&text).unwrap().remove(0)
        };
        let protected = "On when protected by battery/ZMM";
        let controller = told("Ready", protected);
        assert_eq!(controller.backup, CacheBackup::Ready);
        assert_eq!(controller.drives[0].writes, WritePolicy::Back);
        assert_eq!(controller.drives[0].disks, Some(1));
        assert_eq!(
            controller.disks,
            [("device 0".to_owned(), false), ("device 1".to_owned(), true)]
        );
        assert_eq!(told("Ready", "On").drives[0].writes, WritePolicy::BackAlways);
        let not_ready = CacheBackup::NotReady("Not Ready".to_owned());
        assert_eq!(told("Not Ready", protected).backup, not_ready);
        assert_eq!(told("Not Present", protected).backup, CacheBackup::Absent);
    }
}
