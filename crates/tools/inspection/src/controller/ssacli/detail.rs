//! The long form: a line for each fact.

use super::super::lines::{OutputLine, evened};
use super::super::words::{backup, cache_health, caching, disk_caches, health, size_bytes, switch};
use super::super::{CacheBackup, Controller, LogicalDrive, PhysicalDisk, WritePolicy};

pub(super) fn of_controller(controller: &mut Controller, line: &OutputLine) -> bool {
    let value = line.value.as_str();
    match line.key.as_str() {
        "serial number" => controller.serial = Some(value.to_owned()),
        "controller status" => controller.status.learn_words(value, health(value)),
        "cache status" => controller.cache.learn_words(value, cache_health(value)),
        "cache status details" | "cache disable reason" | "cache disable code" => {
            controller.cache_details.push(value.to_owned());
        }
        "drive write cache" => controller.disk_caches.learn_words(value, disk_caches(value)),
        "total cache size" => controller.cache_bytes.learn_words(value, size_bytes(value)),
        "no-battery write cache" => {
            controller.caches_without_backup.learn_words(value, switch(value));
        }
        "cache ratio" => controller.read_percent.learn_words(value, read_percent(value)),
        "battery/capacitor status" => controller.backup.learn_words(value, backup(value)),
        "battery/capacitor count" if value == "0" => controller.backup.learn(CacheBackup::Absent),
        "cache board present" => of_board(controller, value),
        "controller mode" => {
            controller.passes_disks_through.learn_words(value, mode(value));
        }
        "hba mode enabled" => controller.passes_disks_through.learn_words(value, switch(value)),
        _ => return false,
    }
    true
}

fn of_board(controller: &mut Controller, value: &str) {
    match switch(value) {
        Some(true) => {}
        Some(false) => controller.backup.learn(CacheBackup::Absent),
        None => controller.backup.learn_words(value, None),
    }
}

fn mode(value: &str) -> Option<bool> {
    let small = evened(value);
    match small.split(' ').next()? {
        "hba" => Some(true),
        "raid" | "mixed" => Some(false),
        _ => None,
    }
}

/// `10% Read / 90% Write`; the two must add up to 100.
fn read_percent(ratio: &str) -> Option<u32> {
    let (reads, writes) = ratio.split_once('/')?;
    let reads: u32 = reads.trim().strip_suffix("% Read")?.trim().parse().ok()?;
    let writes: u32 = writes.trim().strip_suffix("% Write")?.trim().parse().ok()?;
    (reads.checked_add(writes)? == 100).then_some(reads)
}

pub(super) fn of_array(controller: &mut Controller, line: &OutputLine) -> bool {
    let is_state = matches!(line.key.as_str(), "status" | "array status");
    if is_state {
        controller.arrays.learn_words(&line.value, health(&line.value));
    }
    is_state
}

pub(super) fn of_drive(drive: &mut LogicalDrive, line: &OutputLine) -> bool {
    let value = line.value.as_str();
    match line.key.as_str() {
        "fault tolerance" => drive.level.learn_words(value, level(value)),
        "strip size" => drive.strip_bytes.learn_words(value, size_bytes(value)),
        "status" => drive.state.learn_words(value, health(value)),
        "caching" => drive.writes.learn_words(value, caching(value)),
        "ld acceleration method" if value.to_ascii_lowercase().contains("smart path") => {
            drive.is_flash.learn(true);
            drive.writes.learn(WritePolicy::Through);
        }
        "ld acceleration method" => {}
        "disk name" => {
            let name = value.split_whitespace().next().unwrap_or_default();
            drive.device = name.starts_with("/dev/").then(|| name.to_owned());
        }
        key if key.starts_with("mirror group") || key.starts_with("parity group") => {}
        _ => return false,
    }
    true
}

/// `5`, `1+0`, `1 (ADM)`, `RAID 50`.
fn level(value: &str) -> Option<String> {
    let bare = value.trim().trim_start_matches("RAID").trim_start();
    bare.starts_with(|c: char| c.is_ascii_digit()).then(|| format!("RAID {bare}"))
}

pub(super) fn of_disk(disk: &mut PhysicalDisk, line: &OutputLine) -> bool {
    let value = line.value.as_str();
    match line.key.as_str() {
        "status" | "drive status" => disk.state.learn_words(value, health(value)),
        "write cache status" | "drive write cache" => {
            disk.cache.learn_words(value, disk_caches(value));
        }
        _ => return false,
    }
    true
}

/// Facts that the long form states for every controller with a cache, and for every drive.
pub(super) fn expect(controller: &mut Controller) {
    controller.tells_cache = controller.drives.iter().any(|drive| drive.writes.is_told());
    let has_cache = controller.read_percent.is_told() || controller.cache_bytes.is_told();
    // Without drives the cache is not configured.
    if has_cache && controller.tells_cache {
        for (is_told, what) in [
            (controller.cache.is_told(), "Cache Status"),
            (controller.caches_without_backup.is_told(), "No-Battery Write Cache"),
            (controller.disk_caches.is_told(), "Drive Write Cache"),
            (controller.read_percent.is_told(), "Cache Ratio"),
            (controller.status.is_told(), "Controller Status"),
        ] {
            controller.expect(is_told, "the controller", what);
        }
    }
    for drive in controller.drives.clone() {
        let name = format!("drive {}", drive.id);
        let is_long = drive.strip_bytes.is_told() || drive.writes.is_told();
        for (is_told, what) in [
            (drive.level.is_told(), "Fault Tolerance"),
            (drive.strip_bytes.is_told() || !is_long, "Strip Size"),
            (drive.state.is_told(), "Status"),
            (drive.writes.is_told() || !is_long, "Caching"),
        ] {
            controller.expect(is_told, &name, what);
        }
    }
}
