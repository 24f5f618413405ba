//! Sections of arcconf's output by their headings.

use super::super::lines::OutputLine;

/// Subject of the lines under a heading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ArcconfSection {
    Controller,
    /// A battery, a ZMM, a backup unit, green backup.
    Backup,
    Cache,
    /// Common setting for the caches of disks.
    DiskPolicy,
    Drive,
    /// Disks of a logical drive.
    Segments,
    Arrays,
    Disks,
    #[default]
    Other,
}

impl ArcconfSection {
    /// The section after a heading: an unknown heading among the disks stays part of them.
    pub(super) fn after(self, before: Self) -> Self {
        match (self, before) {
            (Self::Other, Self::Disks) => Self::Disks,
            (section, _) => section,
        }
    }
}

/// Ends of headings.
const ENDS: [&str; 6] =
    [" information", " properties", " settings", " segment", " configuration", " counters"];

/// The section that a heading line starts.
pub(super) fn of(line: &OutputLine) -> Option<ArcconfSection> {
    let key = line.key.as_str();
    let is_heading = line.value.is_empty() && ENDS.iter().any(|end| key.ends_with(end));
    if !is_heading {
        return None;
    }
    Some(if key == "controller information" || key == "raid properties" {
        ArcconfSection::Controller
    } else if has(key, &["battery", "zmm", "backup unit", "green backup", "supercap"]) {
        ArcconfSection::Backup
    } else if has(key, &["drive write cache policy"]) {
        ArcconfSection::DiskPolicy
    } else if key == "cache properties" || key == "controller cache information" {
        ArcconfSection::Cache
    } else if has(key, &["segment", "array physical device", "array physical drive"]) {
        ArcconfSection::Segments
    } else if key == "array information" {
        ArcconfSection::Arrays
    } else if key == "logical device information" || key == "logical drive information" {
        ArcconfSection::Drive
    } else if key == "physical device information" || key == "physical drive information" {
        ArcconfSection::Disks
    } else {
        ArcconfSection::Other
    })
}

fn has(key: &str, words: &[&str]) -> bool {
    words.iter().any(|word| key.contains(word))
}
