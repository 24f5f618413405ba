//! The words that documents use for choices.

use super::model::{BackupFrequency, BackupMethod, Mode, Raid, SiteModel, StorageChoice, Witness};
use crate::keys::Choice;

impl Choice for Mode {
    const ALL: &'static [Self] = &[Self::Compatible, Self::Corrected];
    const WORDS: &'static [&'static str] = &["compatible", "corrected"];
}

impl Choice for SiteModel {
    const ALL: &'static [Self] =
        &[Self::ActivePassive, Self::ActiveActive, Self::ActiveActiveGroups];
    const WORDS: &'static [&'static str] =
        &["active/passive", "active/active", "active/active, groups of their own"];
}

impl Choice for Witness {
    const ALL: &'static [Self] = &[Self::First, Self::Second, Self::Third];
    const WORDS: &'static [&'static str] = &["first site", "second site", "third site"];
}

impl Choice for StorageChoice {
    const ALL: &'static [Self] = &[Self::Calculated, Self::Raid, Self::Jbod];
    const WORDS: &'static [&'static str] = &["calculated", "raid", "jbod"];
}

impl Choice for Raid {
    const ALL: &'static [Self] = &[Self::Raid10, Self::Raid5, Self::Raid6];
    const WORDS: &'static [&'static str] = &["RAID-1/0", "RAID-5", "RAID-6"];
}

impl Choice for BackupMethod {
    const ALL: &'static [Self] = &[Self::Native, Self::HardwareVss, Self::SoftwareVss];
    const WORDS: &'static [&'static str] = &["copies", "hardware snapshots", "software snapshots"];
}

impl Choice for BackupFrequency {
    const ALL: &'static [Self] = &[
        Self::DailyFull,
        Self::WeeklyFullDailyIncremental,
        Self::WeeklyFullDailyDifferential,
        Self::TwiceMonthlyFullDailyIncremental,
    ];
    const WORDS: &'static [&'static str] = &[
        "daily full",
        "weekly full, daily incremental",
        "weekly full, daily differential",
        "twice-monthly full, daily incremental",
    ];
}

/// Read/write ratios offered by the official calculator, and the read share it uses for each (2:1
/// counts as 0.66 there). Source: S-W76.
#[derive(Clone, Copy)]
pub(super) struct ReadShare(pub f64);

impl Choice for ReadShare {
    const ALL: &'static [Self] = &[Self(0.4), Self(0.5), Self(0.6), Self(0.66), Self(0.75)];
    const WORDS: &'static [&'static str] = &["2:3", "1:1", "3:2", "2:1", "3:1"];
}

impl BackupFrequency {}

impl SiteModel {}

impl Raid {
    /// The word that documents use.
    pub fn word(self) -> &'static str {
        word(self, |other| *other == self)
    }
}

fn word<T: Choice>(_: T, same: impl Fn(&T) -> bool) -> &'static str {
    let index = T::ALL.iter().position(same);
    index.map_or("", |index| T::WORDS[index])
}
