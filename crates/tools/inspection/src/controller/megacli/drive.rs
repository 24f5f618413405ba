//! Virtual drives and disks in the words of `MegaCli`.

use super::super::lines::OutputLine;
use super::super::policies::phrase;
use super::super::words::{alarm, disk_caches, errors, health, minor_errors, size_bytes};
use super::super::{Health, LogicalDrive};
use super::{MegacliParser, MegacliPart};

/// Numbers from which the disk count is computed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spans {
    depth: Option<u32>,
    disks: Option<u32>,
    level: Option<(u32, u32)>,
}

/// Facts that an output states for every virtual drive.
const EXPECTED: [&str; 7] = [
    "RAID Level",
    "Span Depth",
    "State",
    "Strip Size",
    "Default Cache Policy",
    "Current Cache Policy",
    "Disk Cache Policy",
];

impl MegacliParser {
    pub(super) fn of_drive(&mut self, id: &str, line: &OutputLine) -> bool {
        let Some(controller) = self.controllers.last_mut() else {
            return false;
        };
        let drive = controller.drive(id);
        let value = line.value.as_str();
        match line.key.as_str() {
            "raid level" => {
                self.seen.push("RAID Level");
                match levels(value) {
                    Some(level) => self.spans.level = Some(level),
                    None => drive.level.learn_words(value, None),
                }
            }
            "number of drives" | "number of drives per span" => {
                self.spans.disks = value.parse().ok();
            }
            "span depth" => {
                self.seen.push("Span Depth");
                self.spans.depth = value.parse().ok();
            }
            _ => match of_policy(drive, line) {
                Some(what) => self.seen.push(what),
                None => return of_progress(drive, line),
            },
        }
        true
    }

    /// Completes a drive once all of its lines are read.
    pub(super) fn end_drive(&mut self) {
        let seen = std::mem::take(&mut self.seen);
        let Spans { depth, disks, level } = std::mem::take(&mut self.spans);
        let (Some(MegacliPart::Drive(id)), Some(controller)) =
            (self.part.clone(), self.controllers.last_mut())
        else {
            return;
        };
        let drive = controller.drive(&id);
        let spans = depth.unwrap_or(1).max(1);
        if let Some((primary, secondary)) = level {
            let is_striped = primary > 0 && (secondary > 0 || spans > 1);
            drive.level.learn(format!("RAID{primary}{}", if is_striped { "0" } else { "" }));
        }
        if let Some(disks) = disks {
            drive.disks.learn(disks.saturating_mul(spans));
        }
        for what in EXPECTED {
            controller.expect(seen.contains(&what), &format!("drive {id}"), what);
        }
    }

    pub(super) fn of_disk(&mut self, line: &OutputLine) -> bool {
        let Some(controller) = self.controllers.last_mut() else {
            return false;
        };
        let value = line.value.as_str();
        match line.key.as_str() {
            "enclosure device id" => self.place = (Some(value.to_owned()), None),
            "slot number" => self.place.1 = Some(value.to_owned()),
            key => {
                let (enclosure, slot) = self.place.clone();
                let words = [enclosure.unwrap_or_default(), slot.unwrap_or_default()];
                return of_disk_line(controller.disk(&words.join(":")), key, value);
            }
        }
        true
    }
}

fn of_policy(drive: &mut LogicalDrive, line: &OutputLine) -> Option<&'static str> {
    let value = line.value.as_str();
    Some(match line.key.as_str() {
        "state" => {
            drive.state.learn_words(value, health(value));
            "State"
        }
        "strip size" | "stripe size" => {
            drive.strip_bytes.learn_words(value, size_bytes(value));
            "Strip Size"
        }
        "default cache policy" => {
            drive.writes_set.learn_words(value, phrase(value).0);
            "Default Cache Policy"
        }
        "current cache policy" => {
            let (writes, reads_ahead) = phrase(value);
            drive.writes.learn_words(value, writes);
            drive.reads_ahead.learn_words(value, reads_ahead);
            "Current Cache Policy"
        }
        "bad blocks exist" => {
            drive.state.learn_words(value, alarm(value, "it has bad blocks"));
            "Bad Blocks"
        }
        "disk cache policy" => {
            drive.disk_caches.learn_words(value, disk_caches(value));
            "Disk Cache Policy"
        }
        _ => return None,
    })
}

/// Work in progress: `Rebuild : Completed 12%, Taken 4 min.`
fn of_progress(drive: &mut LogicalDrive, line: &OutputLine) -> bool {
    let is_work =
        ["check consistency", "background initialization", "reconstruction", "initialization"]
            .contains(&line.key.as_str());
    if is_work && line.value.to_ascii_lowercase().contains("completed") {
        drive.state.learn(Health::Limited(line.text.clone()));
    }
    is_work || line.key == "ongoing progresses"
}

/// `Primary-5, Secondary-3, RAID Level Qualifier-3`.
fn levels(words: &str) -> Option<(u32, u32)> {
    Some((number_after(words, "Primary-")?, number_after(words, "Secondary-")?))
}

fn number_after(words: &str, name: &str) -> Option<u32> {
    let part = words.split(',').map(str::trim).find_map(|part| part.strip_prefix(name))?;
    part.parse().ok()
}

fn of_disk_line(disk: &mut super::super::PhysicalDisk, key: &str, value: &str) -> bool {
    match key {
        "firmware state" => disk.state.learn_words(value, health(value)),
        "media error count" => {
            disk.state.learn_words(value, minor_errors(value, "media errors"));
        }
        "predictive failure count" => {
            disk.state.learn_words(value, errors(value, "predicted failures"));
        }
        "drive has flagged a s.m.a.r.t alert" => {
            disk.state.learn_words(value, alarm(value, "it has flagged a S.M.A.R.T. alert"));
        }
        "drive's write cache" | "disk write cache" => {
            disk.cache.learn_words(value, disk_caches(value));
        }
        _ => return false,
    }
    true
}
