//! Protection of the cache: a battery, a vault of capacitors and flash, an energy pack. Overviews
//! have a row with its state; `/cx/bbu show all` and `/cx/cv show all` have properties.

use serde_json::Value;

use super::super::CacheBackup;
use super::super::known::KnownFact;
use super::super::lines::evened;
use super::super::words::{self, switch};
use super::{Members, word};

/// Whether a member holds the state, under the names of all releases.
fn is_of_energy(name: &str) -> bool {
    let name = evened(name).replace('_', " ");
    ["cachevault info", "bbu info", "energy pack info", "bbu firmware status", "firmware status"]
        .contains(&name.as_str())
}

/// The state in its own words; else the hardware's report of its presence.
pub(super) fn read(backup: &mut KnownFact<CacheBackup>, data: &Members) {
    let parts = data.iter().filter(|(name, _)| is_of_energy(name));
    for row in parts.flat_map(|(_, part)| rows(part)) {
        for name in ["State", "Status"] {
            if let Some(words) = word(row, name) {
                backup.learn_words(&words, words::backup(&words));
            }
        }
        if let (Some(name), Some(value)) = (word(row, "Property"), word(row, "Value")) {
            property(backup, &name, &value);
        }
    }
    let hardware = data.get("HwCfg");
    let present = ["BBU", "Energy Pack"].map(|name| hardware.and_then(|part| word(part, name)));
    if !backup.is_told() && present.into_iter().flatten().any(|words| words == "Absent") {
        backup.learn(CacheBackup::Absent);
    }
}

fn rows(part: &Value) -> Vec<&Value> {
    match part {
        Value::Array(rows) => rows.iter().collect(),
        other => vec![other],
    }
}

fn property(backup: &mut KnownFact<CacheBackup>, name: &str, value: &str) {
    let name = evened(name);
    if matches!(name.as_str(), "state" | "battery state" | "status") {
        backup.learn_words(value, words::backup(value));
    }
    let troubles = [
        ("battery pack missing", CacheBackup::Absent),
        ("replacement required", CacheBackup::NotReady("replacement required".to_owned())),
        ("battery replacement required", CacheBackup::NotReady("replacement required".to_owned())),
        ("learn cycle active", CacheBackup::NotReady("a learn cycle is active".to_owned())),
        ("remaining capacity low", CacheBackup::NotReady("remaining capacity low".to_owned())),
        ("no space to cache offload", CacheBackup::NotReady("no space to offload".to_owned())),
    ];
    for (trouble, state) in troubles {
        if name == trouble && switch(value) == Some(true) {
            backup.learn(state);
        }
    }
}
