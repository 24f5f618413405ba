//! Numbers of a sizing for people: mailboxes are whole, nothing is "none", and rack capacity is in
//! TB. Programs and formulas get every digit.

use sizing::{Fact, Key, TierKey, Value};

use crate::format::{number, three_digits};

/// GB from which on a size is written in TB.
const FROM_TB: f64 = 10_000.0;

/// A value and its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownQuantity {
    /// The value.
    pub value: String,
    /// Its unit; empty for counts and decisions.
    pub unit: &'static str,
}

impl ShownQuantity {
    /// The value of a key.
    pub(super) fn of(fact: &Fact) -> Self {
        match fact.value {
            Value::Number(value) => Self::of_number(fact.key, value),
            Value::Decision(decision) => Self { value: decision.name().to_owned(), unit: "" },
        }
    }

    /// A number of the kind that `key` names.
    pub(super) fn of_number(key: Key, value: f64) -> Self {
        let unit = key.unit();
        if value == 0.0 && !unit.is_empty() {
            return Self { value: "none".to_owned(), unit: "" };
        }
        if unit == "GB" && value >= FROM_TB {
            let terabytes = value / if is_raw(key) { 1_000.0 } else { 1_024.0 };
            return Self { value: three_digits(terabytes), unit: "TB" };
        }
        let value = match whole(key) {
            Some(Rounding::Up) => number((value - 1e-9).ceil(), 0),
            Some(Rounding::Down) => number((value + 1e-9).floor(), 0),
            None => three_digits(value),
        };
        Self { value, unit }
    }

    /// Value and unit in one text.
    pub(super) fn written(&self) -> String {
        format!("{} {}", self.value, self.unit).trim_end().to_owned()
    }
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
        Key::DatabaseMailboxesCapacityLimited | Key::DatabaseMailboxesIoLimited => {
            Some(Rounding::Down)
        }
        _ => None,
    }
}

/// Whether a vendor counts it, in units of 10^9 bytes.
const fn is_raw(key: Key) -> bool {
    matches!(
        key,
        Key::DiskRawGb(_)
            | Key::DiskLogRawGb
            | Key::DiskRestoreRawGb
            | Key::DiskSystemRawGb
            | Key::MetaCacheSsdGb
            | Key::MetaCacheDiskGbPerServer
    )
}

#[cfg(test)]
mod tests {
    use sizing::{Key, ServerKind};

    use super::ShownQuantity;

    #[test]
    fn mailboxes_are_whole_nothing_is_none_and_much_is_terabytes() {
        for (key, value, written) in [
            (Key::DatabaseMailboxes, 53.8, "54"),
            (Key::DatabaseMailboxes, 53.999_999_999_9, "54"),
            (Key::DatabaseMailboxesCapacityLimited, 53.8, "53"),
            (Key::VolumeLogVolumeGb, 0.0, "none"),
            (Key::VolumeAutoreseed, 0.0, "0"),
            (Key::DatabaseSpaceGbAllCopiesPerDag, 305_408.0, "298 TB"),
            (Key::DiskRawGb(ServerKind::First), 24_000.0, "24 TB"),
            (Key::VolumeDbVolumeGb, 1_797.5, "1,798 GB"),
        ] {
            assert_eq!(ShownQuantity::of_number(key, value).written(), written, "{}", key.name());
        }
    }
}
