//! Text of `MegaCli`: `-LDInfo`, `-LdPdInfo`, `-AdpAllInfo`, `-AdpBbuCmd`, `-PDList`. Nothing is
//! indented; parts start with an adapter, a virtual drive or a disk, and each output ends with an
//! exit code.

mod adapter;
mod drive;

use super::lines::{OutputLine, lines, must_be_shown};
use super::{CacheBackup, Controller, ControllerError, Output, Tool};

/// The controllers of an output; `None` if the text is no such output.
pub(super) fn read(text: &str) -> Option<Result<Output, ControllerError>> {
    text.lines().any(|line| adapter_number(line).is_some()).then(|| {
        let mut parser = MegacliParser::default();
        for line in lines(text, |line| part_of(line).is_some() || is_heading(line)) {
            if !parser.take(&line) && must_be_shown(&line) && !parser.controllers.is_empty() {
                parser.unread.push(line.unread());
            }
        }
        parser.end();
        Ok(Output { controllers: parser.controllers, unread: parser.unread })
    })
}

/// The adapter of a line that names one: `Adapter #0`, `Adapter 0 -- Virtual Drive Information:`,
/// `BBU status for Adapter: 0`.
fn adapter_number(line: &str) -> Option<&str> {
    let line = line.trim();
    let rest = line.strip_prefix("BBU status for ").unwrap_or(line).strip_prefix("Adapter")?;
    let rest = rest.trim_start_matches([' ', ':', '#']);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

/// Part of the output that the lines describe.
#[derive(Clone, Debug, PartialEq, Eq)]
enum MegacliPart {
    Adapter,
    Drive(String),
    /// A disk by its number in a list.
    Disk(String),
    Backup,
}

/// The part that a line begins.
fn part_of(line: &OutputLine) -> Option<MegacliPart> {
    if line.text.starts_with("BBU status for") {
        return Some(MegacliPart::Backup);
    }
    if adapter_number(&line.text).is_some() {
        return Some(MegacliPart::Adapter);
    }
    let number = line.value.split_whitespace().next().map(str::to_owned);
    match line.key.as_str() {
        "virtual drive" | "virtual disk" if line.is_pair => number.map(MegacliPart::Drive),
        "cachecade virtual drive" => number.map(|id| MegacliPart::Drive(format!("CacheCade {id}"))),
        "pd" if line.value.ends_with("Information") => number.map(MegacliPart::Disk),
        _ => None,
    }
}

/// Section headings, which carry no facts.
fn is_heading(line: &OutputLine) -> bool {
    const HEADINGS: [&str; 23] = [
        "versions",
        "mfg. data",
        "image versions in flash",
        "pending images in flash",
        "pci info",
        "hw configuration",
        "settings",
        "capabilities",
        "status",
        "limitations",
        "device present",
        "supported adapter operations",
        "supported vd operations",
        "supported pd operations",
        "error counters",
        "cluster information",
        "default settings",
        "bbu firmware status",
        "bbu capacity info",
        "bbu design info",
        "bbu properties",
        "none",
        "gasgauge status",
    ];
    let text = line.text.trim_end_matches(':').trim().to_ascii_lowercase();
    HEADINGS.contains(&text.as_str())
        || text.starts_with("mix in enclosure")
        || text.starts_with("bbu gasgauge status")
        || text.starts_with("adapter") && text.ends_with("virtual drive information")
}

#[derive(Default)]
struct MegacliParser {
    controllers: Vec<Controller>,
    part: Option<MegacliPart>,
    /// Facts seen so far of the drive or disk being read.
    seen: Vec<&'static str>,
    /// Facts seen so far of the battery being read.
    flags: Vec<&'static str>,
    /// Spans, and disks per span.
    spans: drive::Spans,
    unread: Vec<super::UnreadLine>,
    has_end: bool,
    /// Enclosure and slot of the disk being read.
    place: (Option<String>, Option<String>),
}

impl MegacliParser {
    fn take(&mut self, line: &OutputLine) -> bool {
        if line.key == "exit code" {
            self.end_part();
            (self.part, self.has_end) = (None, true);
            return line.value == "0x00" || line.value == "0x0";
        }
        if let Some(part) = part_of(line) {
            self.begin(part, line);
            return true;
        }
        if self.controllers.is_empty() || is_heading(line) {
            return true;
        }
        match self.part.clone() {
            Some(MegacliPart::Drive(id)) => self.of_drive(&id, line),
            Some(MegacliPart::Disk(_)) => self.of_disk(line),
            Some(MegacliPart::Backup) => self.of_backup(line),
            _ => self.of_adapter(line) || self.begins_disk(line),
        }
    }

    /// Whether a line starts a disk: `-PDList` has no heading for one, only its enclosure.
    fn begins_disk(&mut self, line: &OutputLine) -> bool {
        let begins = line.key == "enclosure device id";
        if begins {
            self.part = Some(MegacliPart::Disk(String::new()));
            self.of_disk(line);
        }
        begins
    }

    fn begin(&mut self, part: MegacliPart, line: &OutputLine) {
        self.end_part();
        self.has_end = false;
        if let Some(number) = adapter_number(&line.text) {
            let at = self.controllers.iter().position(|of| of.id.as_deref() == Some(number));
            // The controller being read is kept last.
            let controller = match at {
                Some(at) => self.controllers.remove(at),
                None => Controller::new(Tool::Megacli, Some(number)),
            };
            self.controllers.push(controller);
        }
        if let (MegacliPart::Drive(id), Some(controller)) = (&part, self.controllers.last_mut()) {
            controller.drive(id);
        }
        self.part = Some(part);
    }

    fn end(&mut self) {
        self.end_part();
        if let Some(last) = self.controllers.last_mut().filter(|_| !self.has_end) {
            last.gaps.push("the output does not end with its Exit Code".to_owned());
        }
    }

    fn end_part(&mut self) {
        self.end_drive();
        self.place = (None, None);
        if let (Some(MegacliPart::Backup), Some(controller)) =
            (&self.part, self.controllers.last_mut())
        {
            for what in adapter::EXPECTED {
                let told = controller.backup.told().contains(&CacheBackup::Absent);
                controller.expect(told || self.flags.contains(&what), "the battery's status", what);
            }
            self.flags.clear();
        }
    }
}

#[cfg(test)]
mod tests;
