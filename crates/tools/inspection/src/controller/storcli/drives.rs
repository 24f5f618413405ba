//! Virtual drives, their groups and their disks.

use serde_json::Value;

use super::super::known::KnownFact;
use super::super::words::{self, disk_caches, health, size_bytes};
use super::super::{Controller, DiskCaches, LogicalDrive, WritePolicy, policies};
use super::rows::AnswerRows;
use super::{Members, word, words_of};

/// Adds every drive and disk, wherever the answer has them.
pub(super) fn read(controller: &mut Controller, data: &Members) {
    let rows = AnswerRows::of(data);
    for row in &rows.drives {
        drive(controller, row, &rows);
    }
    for (id, properties) in &rows.properties {
        let (mut drive, gaps) = of_properties(id, properties);
        rows.disk_count(id).into_iter().for_each(|count| drive.disks.learn(count));
        controller.drive(id).learn(drive);
        controller.gaps.extend(gaps);
    }
    for row in &rows.disks {
        disk(controller, row);
    }
    for (name, attributes) in &rows.attributes {
        if let Some(words) = word(attributes, "Write Cache").filter(|words| words != "N/A") {
            controller.disk(name).cache.learn_words(&words, disk_caches(&words));
        }
    }
    for (name, found) in ["Virtual Drives", "Physical Drives"].into_iter().zip(rows.counts()) {
        let listed = data.get(name).and_then(words_of).and_then(|of| of.parse().ok());
        if let Some(listed) = listed.filter(|&listed: &usize| listed != found) {
            controller.gaps.push(format!("it counts {listed} {name} and describes {found}"));
        }
    }
}

fn drive(controller: &mut Controller, row: &Value, rows: &AnswerRows<'_>) {
    let Some((group, id)) = word(row, "DG/VD").and_then(|of| {
        let (group, id) = of.split_once('/')?;
        Some((group.to_owned(), id.to_owned()))
    }) else {
        return;
    };
    let mut told = LogicalDrive { id: id.clone(), ..LogicalDrive::default() };
    let gaps = of_row(&mut told, row);
    let size = word(row, "Size").and_then(|words| size_bytes(&words));
    of_group(&mut told, &group, size, rows);
    controller.gaps.extend(gaps);
    let rows_of_disks = rows.members(&group).len();
    if let Some(wanted) = rows.disk_count(&id).filter(|_| rows_of_disks > 0) {
        let is_whole = rows_of_disks == wanted as usize;
        controller.expect(is_whole, &format!("drive {id}"), "row for each of its disks");
    }
    controller.drive(&id).learn(told);
}

/// Applies the row of a drive; returns a message for each value that the row lacks.
fn of_row(told: &mut LogicalDrive, row: &Value) -> Vec<String> {
    let mut gaps = Vec::new();
    let (level, state) = (word(row, "TYPE"), word(row, "State"));
    let now = word(row, "Cache").or_else(|| word(row, "CurrentCache"));
    let caches = (now, word(row, "DefaultCache"));
    for (is_told, what) in
        [(level.is_some(), "TYPE"), (state.is_some(), "State"), (caches.0.is_some(), "Cache")]
    {
        if !is_told {
            gaps.push(format!("the row of drive {} has no {what}", told.id));
        }
    }
    if let Some(level) = level {
        told.level.learn_words(&level, level_of(&level));
    }
    if let Some(state) = state {
        told.state.learn_words(&state, health(&state));
    }
    if let Some(now) = caches.0.filter(|code| code != "-") {
        let (writes, reads_ahead) = policies::code(&now);
        told.writes.learn_words(&now, writes);
        told.reads_ahead.learn_words(&now, reads_ahead);
    }
    if let Some(set) = caches.1 {
        told.writes_set.learn_words(&set, policies::code(&set).0);
    }
    gaps
}

/// A level such as `RAID6`, or `Cac1`.
fn level_of(words: &str) -> Option<String> {
    let is_one = words.to_ascii_uppercase().starts_with("RAID") && words.len() > 4;
    is_one.then(|| words.to_owned())
}

/// Applies the disks of the drive's group and the group's own row.
fn of_group(told: &mut LogicalDrive, group: &str, size: Option<u64>, rows: &AnswerRows<'_>) {
    let members = rows.members(group);
    let count = u32::try_from(members.len()).ok().filter(|&count| count > 0);
    let wanted = rows.disk_count(&told.id);
    // The disks of a group determine the number per drive, unless the drive has its own figure.
    if let Some(count) = wanted.or(count) {
        told.disks.learn(count);
    }
    let kinds: Vec<String> =
        members.iter().map(|row| word(row, "Med").unwrap_or_default()).collect();
    if !kinds.is_empty() {
        let words = kinds.join(", ");
        told.is_flash.learn_words(&words, flash(&kinds));
    }
    let least = members.iter().filter_map(|row| size_bytes(&word(row, "Size")?)).min();
    if let (Some(least), Some(size)) = (least, size)
        && !can_hold(told, count, least, size)
    {
        told.disks.learn_words("fewer rows of disks than its size takes", None);
    }
    if let Some(words) = rows.group_caches(group)
        && !rows.properties.iter().any(|(id, of)| *id == told.id && word(of, DISK_CACHE).is_some())
    {
        told.disk_caches.learn_words(&words, disk_caches(&words));
    }
}

fn can_hold(told: &LogicalDrive, count: Option<u32>, least: u64, size: u64) -> bool {
    let (Some(count), Some(level)) = (count, told.level.only()) else {
        return true;
    };
    words::can_hold(level, count, least, size)
}

const DISK_CACHE: &str = "Disk Cache Policy";

fn flash(kinds: &[String]) -> Option<bool> {
    let is_known = kinds.iter().all(|kind| matches!(kind.as_str(), "SSD" | "HDD"));
    is_known.then(|| kinds.iter().all(|kind| kind == "SSD"))
}

/// Facts in the properties of a drive, and the gaps.
fn of_properties(id: &str, properties: &Value) -> (LogicalDrive, Vec<String>) {
    let mut told = LogicalDrive { id: id.to_owned(), ..LogicalDrive::default() };
    let mut gaps = Vec::new();
    match word(properties, "Strip Size") {
        Some(words) => told.strip_bytes.learn_words(&words, size_bytes(&words)),
        None => gaps.push(format!("the properties of drive {id} have no Strip Size")),
    }
    let caches: &mut KnownFact<DiskCaches> = &mut told.disk_caches;
    match word(properties, DISK_CACHE).or_else(|| word(properties, "Drive Write Cache Policy")) {
        Some(words) => caches.learn_words(&words, disk_caches(&words)),
        None => gaps.push(format!("the properties of drive {id} have no {DISK_CACHE}")),
    }
    if let Some(words) = word(properties, "Write Cache(initial setting)") {
        told.writes_set.learn_words(&words, initial(&words));
    }
    if let Some(words) = word(properties, "Active Operations").filter(|words| words != "None") {
        told.state.learn_words(&words, health(&words));
    }
    told.device = word(properties, "OS Drive Name").filter(|name| name.starts_with('/'));
    (told, gaps)
}

fn initial(words: &str) -> Option<WritePolicy> {
    match words.to_ascii_lowercase().as_str() {
        "writeback" => Some(WritePolicy::Back),
        "writethrough" => Some(WritePolicy::Through),
        "alwayswriteback" | "awb" => Some(WritePolicy::BackAlways),
        _ => None,
    }
}

fn disk(controller: &mut Controller, row: &Value) {
    let Some(place) = word(row, "EID:Slt") else {
        return;
    };
    let disk = controller.disk(&place);
    for name in ["State", "Status"] {
        if let Some(words) = word(row, name) {
            disk.state.learn_words(&words, health(&words));
        }
    }
}
