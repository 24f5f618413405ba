//! The short form: parts with their facts in brackets, such as `logicaldrive 2 (2.2 TB, RAID 5,
//! Interim Recovery Mode)` and `array B (Failed)`. The long form has rows of disks, too.

use super::super::lines::OutputLine;
use super::super::words::{can_hold, health, size_bytes};
use super::SsacliParser;

/// The array being read.
#[derive(Default)]
pub(super) struct ShortArray {
    /// Names and sizes.
    drives: Vec<(String, Option<u64>)>,
    disks: u32,
    least_bytes: Option<u64>,
    has_odd_row: bool,
    is_flash: Vec<bool>,
}

/// The serial number in the line of a controller: `(sn: PACCR0123)`.
pub(super) fn serial(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("(sn: ")?;
    Some(rest.split(')').next()?.trim().to_owned())
}

/// Whether a line is a row with facts in brackets.
pub(super) fn is_one(line: &OutputLine) -> bool {
    let first = line.text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    matches!(first.as_str(), "array" | "logicaldrive" | "physicaldrive" | "internal" | "spare")
        && line.text.contains('(')
        || first == "internal"
}

impl SsacliParser {
    pub(super) fn of_short(&mut self, line: &OutputLine) -> bool {
        let mut words = line.text.split_whitespace();
        let first = words.next().unwrap_or_default().to_ascii_lowercase();
        let name = words.next().unwrap_or_default().to_owned();
        let facts = facts(&line.text);
        match first.as_str() {
            "array" => self.of_array(&facts),
            "logicaldrive" => self.of_drive(&name, &facts),
            "physicaldrive" => self.of_disk(&name, &facts),
            "internal" => true,
            _ => false,
        }
    }

    /// `(SAS, Unused Space: 0  MB)` is in order; `(Failed)` is not.
    fn of_array(&mut self, facts: &[&str]) -> bool {
        self.end_array();
        let Some(controller) = self.controllers.last_mut() else {
            return false;
        };
        for fact in facts {
            let is_of_disks = fact.starts_with("Unused Space")
                || ["SAS", "SATA", "NVMe", "Solid State"].iter().any(|kind| fact.starts_with(kind));
            if !is_of_disks {
                controller.arrays.learn_words(fact, health(fact));
            }
        }
        true
    }

    fn of_drive(&mut self, id: &str, facts: &[&str]) -> bool {
        let Some(controller) = self.controllers.last_mut() else {
            return false;
        };
        let drive = controller.drive(id);
        match facts {
            [_size, level, state, rest @ ..] => {
                let is_level = level.starts_with("RAID ");
                drive.level.learn_words(level, is_level.then(|| (*level).to_owned()));
                let words = [&[*state], rest].concat().join(", ");
                drive.state.learn_words(&words, health(&words));
            }
            other => drive.state.learn_words(&other.join(", "), None),
        }
        let size = facts.first().and_then(|size| size_bytes(size));
        self.array.drives.push((id.to_owned(), size));
        true
    }

    /// `(port 1I:box 1:bay 1, SAS, 600 GB, OK)`, followed by `spare` if it is one.
    fn of_disk(&mut self, place: &str, facts: &[&str]) -> bool {
        let Some(controller) = self.controllers.last_mut() else {
            return false;
        };
        let is_spare = facts.last().is_some_and(|fact| fact.contains("spare"));
        let bare = if is_spare { &facts[..facts.len() - 1] } else { facts };
        let state = bare.last().copied().unwrap_or_default();
        controller.disk(place).state.learn_words(state, health(state));
        let is_flash = bare.iter().any(|fact| fact.contains("Solid State") || fact.contains("SSD"));
        if let super::SsacliPart::Drive(id) = &self.part {
            // A row of the drive's mirror groups.
            let drive = controller.drive(id);
            let known = drive.disks.only().copied().unwrap_or(0);
            drive.disks = super::super::KnownFact::default();
            drive.disks.learn(known + 1);
            if is_flash {
                drive.is_flash.learn(true);
            }
        } else if !is_spare {
            self.array.disks += 1;
            let size = bare.iter().find_map(|fact| size_bytes(fact));
            self.array.has_odd_row |= size.is_none();
            self.array.least_bytes = [self.array.least_bytes, size].into_iter().flatten().min();
            self.array.is_flash.push(is_flash);
        }
        true
    }

    /// Applies the rows of an array's disks to its drives.
    pub(super) fn end_array(&mut self) {
        let ShortArray { drives, disks, least_bytes, has_odd_row, is_flash } =
            std::mem::take(&mut self.array);
        let Some(controller) = self.controllers.last_mut().filter(|_| disks > 0) else {
            return;
        };
        for (id, size) in drives {
            let drive = controller.drive(&id);
            drive.disks.learn(disks);
            if has_odd_row {
                drive.disks.learn_words("a row of a disk without its size", None);
            }
            if let (Some(level), Some(least), Some(size)) = (drive.level.only(), least_bytes, size)
                && !can_hold(level, disks, least, size)
            {
                drive.disks.learn_words("fewer rows of disks than its size takes", None);
            }
            drive.is_flash.learn(is_flash.iter().all(|flash| *flash));
        }
    }
}

/// The facts in the last brackets of a row.
fn facts(text: &str) -> Vec<&str> {
    match text.split_once('(').and_then(|(_, rest)| rest.trim_end().strip_suffix(')')) {
        Some(inner) => inner.split(", ").map(str::trim).collect(),
        None => Vec::new(),
    }
}
