//! The directory as a value and as bytes: the existing files, their lengths, and their positions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::UNIT;

/// Room for one copy, in bytes: about 80,000 files of one extent. Only the used part is written.
pub(super) const DIRECTORY_BYTES: u64 = LONGEST_BYTES as u64;
pub(super) const LONGEST_BYTES: usize = 4 << 20;

/// Start of the data, in bytes: after the first unit and two copies of the directory.
pub(super) const DATA_BEGIN: u64 = UNIT + 2 * DIRECTORY_BYTES;

const LONGEST_NAME: usize = 255;

/// Neighbouring units of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UnitRange {
    /// The first unit, counted from the start of the data.
    pub first: u32,
    /// Number of units.
    pub count: u32,
}

/// One file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PlacedFile {
    /// Bytes.
    pub length: u64,
    /// Its units, in file order.
    pub extents: Vec<UnitRange>,
}

/// All files by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Directory {
    /// Counts the directories written to this volume; the higher of two copies is the newer.
    pub sequence: u64,
    /// Files by name, folders being parts of names.
    pub files: BTreeMap<String, PlacedFile>,
}

/// Whether this is a valid file name.
pub(super) fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len()) && !name.contains('\0')
}

/// Units needed for `bytes` bytes.
pub(super) fn units_of(bytes: u64) -> u64 {
    bytes.div_ceil(UNIT)
}

impl UnitRange {
    /// The unit after the last one.
    pub(super) const fn end(self) -> u32 {
        self.first + self.count
    }
}

impl PlacedFile {
    /// Units in all.
    pub(super) fn units(&self) -> u64 {
        self.extents.iter().map(|extent| u64::from(extent.count)).sum()
    }

    /// Keeps the first `units` units.
    pub(super) fn cut(&mut self, units: u64) {
        let mut left = units;
        self.extents.retain_mut(|extent| {
            let kept = left.min(extent.count.into());
            left -= kept;
            extent.count = u32::try_from(kept).expect("invariant: at most what it was");
            kept > 0
        });
    }

    /// Appends units, which may continue the last extent.
    pub(super) fn append(&mut self, more: Vec<UnitRange>) {
        for extent in more {
            match self.extents.last_mut() {
                Some(last) if last.end() == extent.first => last.count += extent.count,
                _ => self.extents.push(extent),
            }
        }
    }

    /// Locations of the bytes `range` of the file: byte of the device, and part of the range.
    pub(super) fn pieces(&self, range: Range<u64>) -> Vec<(u64, Range<u64>)> {
        let (mut pieces, mut begin) = (Vec::new(), 0);
        for extent in &self.extents {
            let end = begin + u64::from(extent.count) * UNIT;
            let (from, to) = (range.start.max(begin), range.end.min(end));
            if from < to {
                let place = DATA_BEGIN + u64::from(extent.first) * UNIT + (from - begin);
                pieces.push((place, from - range.start..to - range.start));
            }
            begin = end;
        }
        pieces
    }
}

impl Directory {
    /// Whether every file has room for its length, and no unit belongs to two.
    pub(super) fn makes_sense(&self, units: u32) -> bool {
        let mut extents = BTreeSet::new();
        for entry in self.files.values() {
            let fits = entry.units() >= units_of(entry.length);
            let distinct = entry.extents.iter().all(|extent| extents.insert(*extent));
            if !fits || !distinct {
                return false;
            }
        }
        let mut end = 0_u64;
        extents.iter().all(|extent| {
            let is_behind = u64::from(extent.first) >= end && extent.count > 0;
            end = u64::from(extent.first) + u64::from(extent.count);
            is_behind && end <= u64::from(units)
        })
    }
}

#[cfg(test)]
mod tests;
