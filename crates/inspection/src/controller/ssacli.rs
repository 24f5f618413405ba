//! Text of ssacli (hpssacli, hpacucli): `ctrl all show config detail`. Nesting is by indentation:
//! controllers, arrays, logical drives, physical drives.

use super::words::{OutputLine, lines, size_bytes, switch};
use super::{CacheBackup, Controller, ControllerError, LogicalDrive, Tool, WritePolicy};

/// Whether a text is one of this tool's.
pub(super) fn is_one(text: &str) -> bool {
    text.lines().any(|line| slot(line.trim_end()).is_some())
}

/// The controllers of an output.
pub(super) fn read(text: &str) -> Result<Vec<Controller>, ControllerError> {
    let mut parser = Parser::default();
    for line in lines(text) {
        parser.take(&line);
    }
    parser.end_drive();
    if parser.controllers.is_empty() {
        return Err(ControllerError::Empty(Tool::Ssacli));
    }
    for controller in &mut parser.controllers {
        settle(controller);
    }
    Ok(parser.controllers)
}

/// The model and the slot in the line that begins a controller: `Smart Array P822 in Slot 2`.
fn slot(line: &str) -> Option<(&str, &str)> {
    if line.starts_with(' ') {
        return None;
    }
    let (model, rest) = line.split_once(" in Slot ")?;
    Some((model, rest.split_whitespace().next()?))
}

/// Which part of a controller the lines tell of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Nesting {
    #[default]
    Controller,
    LogicalDrive,
    Other,
}

#[derive(Default)]
struct Parser {
    controllers: Vec<Controller>,
    drive: Option<LogicalDrive>,
    part: Nesting,
    /// Indentation of the line that began the part.
    indent: usize,
}

impl Parser {
    fn take(&mut self, line: &OutputLine<'_>) {
        if line.indent == 0 {
            self.end_drive();
            self.part = Nesting::Other;
            if let Some((model, slot)) = slot(line.text) {
                self.part = Nesting::Controller;
                let (model, id) = (model.to_owned(), slot.to_owned());
                let tool = Tool::Ssacli;
                self.controllers.push(Controller { tool, id, model, ..Controller::default() });
            }
        } else if let Some(part) = beginning(line) {
            self.end_drive();
            (self.part, self.indent) = (part, line.indent);
            if part == Nesting::LogicalDrive {
                let id = line.value.to_owned();
                self.drive = Some(LogicalDrive { id, ..LogicalDrive::default() });
            }
        } else {
            match self.part {
                Nesting::Controller => self.of_controller(line),
                Nesting::LogicalDrive => self.of_drive(line),
                Nesting::Other => {}
            }
        }
    }

    fn of_controller(&mut self, line: &OutputLine<'_>) {
        let Some(controller) = self.controllers.last_mut() else {
            return;
        };
        let value = line.value;
        match line.name {
            "Cache Ratio" => controller.read_percent = read_percent(value),
            "Drive Write Cache" => controller.disk_caches = switch(value),
            "Total Cache Size" => controller.cache_bytes = size_bytes(value),
            "No-Battery Write Cache" => controller.caches_without_backup = switch(value),
            "Cache Board Present" if switch(value) == Some(false) => {
                controller.passes_disks_through.get_or_insert(false);
                controller.backup = CacheBackup::Absent;
            }
            "Battery/Capacitor Count" if value == "0" => controller.backup = CacheBackup::Absent,
            "Battery/Capacitor Status" => {
                controller.backup = match value {
                    "OK" => CacheBackup::Ready,
                    other => CacheBackup::NotReady(other.to_owned()),
                }
            }
            // The state of the whole cache: a failed one is as good as none.
            "Cache Status" if value != "OK" && value != "Not Configured" => {
                controller.backup = CacheBackup::NotReady(format!("cache: {value}"));
            }
            "Controller Mode" => {
                controller.passes_disks_through = Some(value.to_ascii_uppercase().contains("HBA"));
            }
            "HBA Mode Enabled" => controller.passes_disks_through = switch(value),
            _ => {}
        }
    }

    fn of_drive(&mut self, line: &OutputLine<'_>) {
        let Some(drive) = &mut self.drive else {
            return;
        };
        let value = line.value;
        match line.name {
            "Fault Tolerance" => drive.level = format!("RAID {value}"),
            "Strip Size" => drive.strip_bytes = size_bytes(value),
            "Status" if value != "OK" => drive.trouble = Some(format!("its status is {value}")),
            "Caching" => {
                drive.writes = match switch(value) {
                    Some(true) => WritePolicy::Back,
                    Some(false) => WritePolicy::Through,
                    None => WritePolicy::Untold,
                }
            }
            "LD Acceleration Method" if value.contains("Smart Path") => {
                drive.is_flash = Some(true);
                drive.writes = WritePolicy::Through;
            }
            "Disk Name" => {
                let name = value.split_whitespace().next().unwrap_or_default();
                drive.device = name.starts_with("/dev/").then(|| name.to_owned());
            }
            _ if line.text.starts_with("physicaldrive ") => {
                drive.disks = Some(drive.disks.unwrap_or(0) + 1);
                if line.text.contains("Solid State") {
                    drive.is_flash = Some(true);
                }
            }
            _ => {}
        }
    }

    fn end_drive(&mut self) {
        if let (Some(drive), Some(controller)) = (self.drive.take(), self.controllers.last_mut()) {
            controller.drives.push(drive);
        }
    }
}

/// The part that a line begins. A physical drive inside a logical one stands on its own line with
/// its facts in brackets; one with lines of its own has none.
fn beginning(line: &OutputLine<'_>) -> Option<Nesting> {
    match line.name {
        "Logical Drive" => Some(Nesting::LogicalDrive),
        "Array" | "unassigned" | "Unassigned" | "HBA Drives" => Some(Nesting::Other),
        name if name.starts_with("physicaldrive ") && !line.text.contains('(') => {
            Some(Nesting::Other)
        }
        name if name.starts_with("Enclosure ") || name.starts_with("Expander ") => {
            Some(Nesting::Other)
        }
        name if name.starts_with("SEP ") || name.starts_with("Port Name") => Some(Nesting::Other),
        _ => None,
    }
}

/// `10% Read / 90% Write`.
fn read_percent(ratio: &str) -> Option<u32> {
    let (reads, _) = ratio.split_once('/')?;
    reads.trim().strip_suffix("% Read")?.trim().parse().ok()
}

/// What one line says of all drives.
fn settle(controller: &mut Controller) {
    let disk_caches = controller.disk_caches;
    for drive in &mut controller.drives {
        drive.disk_caches = drive.disk_caches.or(disk_caches);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CacheBackup, WritePolicy};
    use super::{is_one, read, read_percent};

    const OUTPUT: &str = "
Array Controller X1 in Slot 3 (Embedded)
   Slot: 3
   Cache Board Present: True
   Cache Status: OK
   Cache Ratio: 25% Read / 75% Write
   Drive Write Cache: Enabled
   Total Cache Size: 4.0 GB
   No-Battery Write Cache: Disabled
   Battery/Capacitor Count: 1
   Battery/Capacitor Status: Failed (Replace Batteries)

   Array: A
      Status: OK

      Logical Drive: 1
         Size: 2 TB
         Fault Tolerance: 1+0
         Strip Size: 128 KB
         Status: Interim Recovery Mode
         Caching:  Enabled
         Disk Name: /dev/sdc
         Mirror Group 0:
            physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS, 600 GB, OK)
         Mirror Group 1:
            physicaldrive 1I:1:2 (port 1I:box 1:bay 2, SAS, 600 GB, OK)
         LD Acceleration Method: Controller Cache

      Logical Drive: 2
         Fault Tolerance: 0
         Caching:  Disabled

      physicaldrive 1I:1:1
         Status: Failed
         Rotational Speed: 10000

Array Controller X2 in Slot 4
   Controller Mode: HBA
   Cache Board Present: False
";

    #[test]
    fn controllers_and_their_drives_are_told_apart() {
        assert!(is_one(OUTPUT) && !is_one("nothing in Slots"));
        let controllers = read(OUTPUT).unwrap();
        let [first, second] = &controllers[..] else {
            panic!("{controllers:?}");
        };
        assert_eq!((first.id.as_str(), first.model.as_str()), ("3", "Array Controller X1"));
        assert_eq!((first.read_percent, first.cache_bytes), (Some(25), Some(4 << 30)));
        assert_eq!(first.backup, CacheBackup::NotReady("Failed (Replace Batteries)".to_owned()));
        assert_eq!((first.disk_caches, first.caches_without_backup), (Some(true), Some(false)));
        let [one, two] = &first.drives[..] else {
            panic!("{:?}", first.drives);
        };
        assert_eq!((one.level.as_str(), one.strip_bytes), ("RAID 1+0", Some(128 << 10)));
        assert_eq!(
            (one.writes, one.disks, one.disk_caches),
            (WritePolicy::Back, Some(2), Some(true))
        );
        assert_eq!(one.trouble.as_deref(), Some("its status is Interim Recovery Mode"));
        assert_eq!(one.device.as_deref(), Some("/dev/sdc"));
        assert_eq!((two.id.as_str(), two.writes, &two.trouble), ("2", WritePolicy::Through, &None));
        assert_eq!((second.id.as_str(), second.passes_disks_through), ("4", Some(true)));
        assert_eq!(second.backup, CacheBackup::Absent);
    }

    #[test]
    fn a_ratio_without_numbers_is_no_share() {
        assert_eq!(read_percent("0% Read / 100% Write"), Some(0));
        assert_eq!(read_percent("Not Configured"), None);
    }
}
