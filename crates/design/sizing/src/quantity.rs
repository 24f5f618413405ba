//! Numbers of a sizing for people: mailboxes are whole, and zero is "none". Disks and SSDs are in
//! GB and TB of 10^9 and 10^12 bytes, as they are sold; memory, files and volumes in GiB and TiB.
//! Findings and tables share it, so that a quantity reads the same in both. Programs get twelve
//! digits.

use units::{Bytes, decimal, limit_beside, three_digits, three_digits_beside};

use crate::key::{Key, ProcessorKey, TierKey};
use crate::sheet::{Fact, Value};

/// Size in GiB at and above which it is written in TiB.
const FROM_TIB: f64 = 10_000.0;

/// Disk capacity in GB at and above which it is written in TB, as on its label.
const FROM_TB_SOLD: f64 = 1_000.0;

/// A value and its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownQuantity {
    /// The value.
    pub value: String,
    /// Its unit; empty for counts and decisions.
    pub unit: &'static str,
}

impl ShownQuantity {
    /// The value of a key.
    pub fn of(fact: &Fact) -> Self {
        match fact.value {
            Value::Number(value) => Self::of_number(fact.key, value),
            Value::Decision(decision) => Self { value: decision.name().to_owned(), unit: "" },
        }
    }

    /// A number of the kind that `key` names.
    pub fn of_number(key: Key, value: f64) -> Self {
        let unit = key.unit();
        if value == 0.0 && !unit.is_empty() {
            return Self { value: "none".to_owned(), unit: "" };
        }
        if is_share(key) {
            return Self { value: three_digits(value * 100.0), unit: "%" };
        }
        if is_raw(key) {
            return Self::sold(value);
        }
        if unit == "GiB" && value >= FROM_TIB {
            return Self::formatted(value);
        }
        let value = match whole(key) {
            Some(Rounding::Up) => decimal((value - 1e-9).ceil(), 0),
            Some(Rounding::Down) => decimal((value + 1e-9).floor(), 0),
            None => three_digits(value),
        };
        Self { value, unit: if unit == "percent" { "%" } else { unit } }
    }

    /// The capacity of a disk, in GB of 10^9 bytes, exact to the GB.
    fn sold(gigabytes: f64) -> Self {
        if gigabytes < FROM_TB_SOLD {
            return Self { value: three_digits(gigabytes), unit: "GB" };
        }
        let terabytes = decimal(gigabytes / 1_000.0, 3);
        let terabytes = terabytes.trim_end_matches('0').trim_end_matches('.');
        Self { value: terabytes.to_owned(), unit: "TB" }
    }

    /// A size in GiB, or in TiB if it is large.
    fn formatted(gib: f64) -> Self {
        let (value, unit) = if gib < FROM_TIB { (gib, "GiB") } else { (gib / 1_024.0, "TiB") };
        Self { value: three_digits(value), unit }
    }

    /// Value and unit in one text.
    pub fn written(&self) -> String {
        format!("{} {}", self.value, self.unit).trim_end().to_owned()
    }
}

/// A disk's size in decimal units, as on its label.
pub fn as_sold(capacity: Bytes) -> String {
    ShownQuantity::sold(capacity.0 as f64 / 1e9).written()
}

/// The size of a file or volume in binary units.
pub fn as_formatted(size: Bytes) -> String {
    ShownQuantity::formatted(size.as_mib_f64() / 1_024.0).written()
}

/// A number in its first twelve digits, without the error of a quotient: 0.0804 for
/// 0.08039999999999999.
pub fn without_error(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

/// A number and the limit that it misses, each with its unit; with more digits if both would
/// otherwise read the same.
pub(crate) fn beside(value: (Key, f64), limit: (Key, f64)) -> [String; 2] {
    let both = [value, limit].map(|(key, number)| ShownQuantity::of_number(key, number).written());
    if shortest(&both[0]) != shortest(&both[1]) {
        return both;
    }
    let (scale, unit) = if is_share(value.0) { (100.0, "%") } else { (1.0, value.0.unit()) };
    let (value, limit) = (value.1 * scale, limit.1 * scale);
    let numbers = [three_digits_beside(value, limit), limit_beside(value, limit)];
    numbers.map(|number| format!("{number} {unit}").trim_end().to_owned())
}

/// A number with its unit, without trailing zeros in its decimals.
fn shortest(written: &str) -> String {
    let (number, unit) = written.split_once(' ').unwrap_or((written, ""));
    let number = match number.split_once('.') {
        Some(_) => number.trim_end_matches('0').trim_end_matches('.'),
        None => number,
    };
    format!("{number} {unit}")
}

enum Rounding {
    Up,
    Down,
}

/// Rounding of mailboxes: existing ones up, capacity for them down.
const fn whole(key: Key) -> Option<Rounding> {
    match key {
        Key::DatabaseMailboxes
        | Key::ServerActiveMailboxesNormal
        | Key::ServerMailboxesPerDag
        | Key::MailboxesTotal
        | Key::Tier(_, TierKey::Mailboxes) => Some(Rounding::Up),
        Key::DatabaseMailboxesCapacityLimited
        | Key::DatabaseMailboxesIoLimited
        | Key::DatabaseMailboxesTarget => Some(Rounding::Down),
        _ => None,
    }
}

/// Whether the key is a vendor's capacity figure, in units of 10^9 bytes.
const fn is_raw(key: Key) -> bool {
    matches!(
        key,
        Key::DiskRawGb(_)
            | Key::DiskLogRawGb
            | Key::DiskRestoreRawGb
            | Key::DiskSystemRawGb
            | Key::DiskSystemLeastGb
            | Key::MetaCacheSsdGb
            | Key::MetaCacheLeastSsdGb
            | Key::MetaCacheDiskGbPerServer
    )
}

/// Whether it is a part of a whole, which people read in percent.
const fn is_share(key: Key) -> bool {
    matches!(
        key,
        Key::Processor(ProcessorKey::Util, ..)
            | Key::ProcessorUtilWorst
            | Key::ProcessorUtilWorstPlayed
            | Key::MetaCacheSsdShare
    )
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::{ShownQuantity, as_sold, beside};
    use crate::key::{Key, ServerKind};

    #[test]
    fn mailboxes_are_whole_nothing_is_none_and_much_is_tebibytes() {
        for (key, value, written) in [
            (Key::DatabaseMailboxes, 53.8, "54"),
            (Key::DatabaseMailboxes, 53.999_999_999_9, "54"),
            (Key::DatabaseMailboxesCapacityLimited, 53.8, "53"),
            (Key::VolumeLogVolumeGb, 0.0, "none"),
            (Key::VolumeAutoreseed, 0.0, "0"),
            (Key::DatabaseSpaceGbAllCopiesPerDag, 305_408.0, "298 TiB"),
            (Key::DiskRawGb(ServerKind::First), 24_000.0, "24 TB"),
            (Key::MemoryRamGb(ServerKind::First), 128.0, "128 GiB"),
            (Key::DiskFormattedGb(ServerKind::First), 3_725.29, "3,725 GiB"),
            (Key::MetaCacheGbPerCopy, 171.0, "171 GiB"),
            (Key::DiskSystemLeastGb, 1_406.0, "1.406 TB"),
            (Key::ProcessorUtilWorstPlayed, 0.8534, "85.3 %"),
            (Key::VolumeDbVolumeGb, 1_797.5, "1,798 GiB"),
        ] {
            assert_eq!(ShownQuantity::of_number(key, value).written(), written, "{}", key.name());
        }
    }

    #[test]
    fn a_disk_has_one_size_wherever_it_is_named() {
        let written = ShownQuantity::of_number(Key::DiskSystemRawGb, 1_920.0).written();
        assert_eq!(as_sold(Bytes(1_920_000_000_000)), written);
        assert_eq!(written, "1.92 TB");
        assert_eq!(as_sold(Bytes(600_000_000_000)), "600 GB");
    }

    #[test]
    fn a_need_and_its_limit_never_read_the_same() {
        let disk = Key::DiskFormattedGb(ServerKind::First);
        let shown = beside((Key::VolumeDbVolumeGb, 1_863.4), (disk, 1_862.6));
        assert_eq!(shown, ["1,863.4 GiB", "1,863 GiB"]);
        let shown = beside((Key::VolumeDbVolumeGb, 2_000.4), (disk, 1_862.6));
        assert_eq!(shown, ["2,000 GiB", "1,863 GiB"]);
        let share = Key::MetaCacheSsdShare;
        assert_eq!(beside((share, 0.04999), (share, 0.05)), ["4.999 %", "5 %"]);
    }
}
