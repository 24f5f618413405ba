//! Adapters and batteries in the words of `MegaCli`.

use super::super::lines::OutputLine;
use super::super::words::{self, PRESERVED, alarm, errors, minor_errors, size_bytes, switch};
use super::super::{CacheBackup, Controller};
use super::MegacliParser;

impl MegacliParser {
    pub(super) fn of_adapter(&mut self, line: &OutputLine) -> bool {
        let Some(controller) = self.controllers.last_mut() else {
            return false;
        };
        let value = line.value.as_str();
        match line.key.as_str() {
            "product name" => value.clone_into(&mut controller.model),
            "serial no" => controller.serial = Some(value.to_owned()),
            "memory size" => controller.cache_bytes.learn_words(value, size_bytes(value)),
            "bbu" if value == "Absent" => controller.backup.learn(CacheBackup::Absent),
            "cache when bbu bad" => {
                controller.caches_without_backup.learn_words(value, switch(value));
            }
            key => return of_counts(controller, key, value) || of_no_battery(controller, line),
        }
        true
    }

    pub(super) fn of_backup(&mut self, line: &OutputLine) -> bool {
        let Some(controller) = self.controllers.last_mut() else {
            return false;
        };
        let value = line.value.as_str();
        let name = EXPECTED.into_iter().find(|name| line.key == name.to_ascii_lowercase());
        self.flags.extend(name);
        match line.key.as_str() {
            // Firmware of the first generation leaves it blank.
            "battery state" if value.is_empty() => {}
            "battery state" => controller.backup.learn_words(value, words::backup(value)),
            "battery pack missing" => trouble(controller, value, CacheBackup::Absent),
            "battery replacement required" => {
                trouble(controller, value, not_ready("replacement required"));
            }
            "remaining capacity low" => {
                trouble(controller, value, not_ready("remaining capacity low"));
            }
            "learn cycle active" => {
                trouble(controller, value, not_ready("a learn cycle is active"));
            }
            "pack is about to fail & should be replaced" => {
                trouble(controller, value, not_ready("the pack is about to fail"));
            }
            "issohgood" if switch(value) == Some(false) => {
                controller.backup.learn(not_ready("its state of health is not good"));
            }
            _ => return of_no_battery(controller, line),
        }
        true
    }
}

/// Facts that an output states for every battery.
pub(super) const EXPECTED: [&str; 5] = [
    "Battery State",
    "Battery Pack Missing",
    "Battery Replacement required",
    "Remaining Capacity Low",
    "Learn Cycle Active",
];

fn not_ready(words: &str) -> CacheBackup {
    CacheBackup::NotReady(words.to_owned())
}

fn trouble(controller: &mut Controller, value: &str, state: CacheBackup) {
    match switch(value) {
        Some(true) => controller.backup.learn(state),
        Some(false) => {}
        None => controller.backup.learn_words(value, None),
    }
}

/// The tool's message in place of a battery's state.
fn of_no_battery(controller: &mut Controller, line: &OutputLine) -> bool {
    let small = line.text.to_ascii_lowercase();
    let is_absent = small.contains("required hardware is not present");
    if is_absent {
        controller.backup.learn(CacheBackup::Absent);
    }
    is_absent || small.contains("get bbu status failed")
}

/// Counts of memory errors, preserved caches, and faulty drives and disks.
fn of_counts(controller: &mut Controller, key: &str, value: &str) -> bool {
    match key {
        "memory uncorrectable errors" => {
            let state = errors(value, "uncorrectable memory errors");
            controller.memory.learn_words(value, state);
        }
        "memory correctable errors" => {
            let state = minor_errors(value, "correctable memory errors");
            controller.memory.learn_words(value, state);
        }
        "any offline vd cache preserved" => {
            let state = alarm(value, PRESERVED);
            controller.preserved_cache.learn_words(value, state);
        }
        "degraded" => controller.arrays.learn_words(value, errors(value, "drives degraded")),
        "offline" => controller.arrays.learn_words(value, errors(value, "drives offline")),
        "critical disks" => controller.arrays.learn_words(value, errors(value, "critical disks")),
        "failed disks" => controller.arrays.learn_words(value, errors(value, "failed disks")),
        _ => return false,
    }
    true
}
