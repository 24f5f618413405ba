//! The cache of a controller: its protection, its write policy, and its share for reads.

use record::StorageFinding;

use super::super::known::doubted;
use super::super::{CacheBackup, Controller, Health, LogicalDrive, Tool, WritePolicy};
use crate::draft::{FindingDraft, mended_by};

/// Maximum share of the cache for reads.
const MOST_READ_PERCENT: u32 = 25;

pub(super) fn backup(controller: &Controller) -> StorageFinding {
    let draft =
        FindingDraft::new(("cache-backup", "Battery or capacitor of the cache"), controller.name());
    controller.backup.judge(|backup| match backup {
        Some(CacheBackup::Ready) => {
            draft.clone().pass("in order", "the cache keeps its writes without power")
        }
        Some(CacheBackup::NotReady(words)) => mended_by(
            draft
                .clone()
                .fail(words, "writes in the cache are lost with power, or the cache is bypassed"),
            "let it charge, or replace it, and look again",
        ),
        Some(CacheBackup::Absent) => mended_by(
            draft
                .clone()
                .fail("none", "a write cache that power empties must be off, and is no help then"),
            "add the battery or capacitor module of this controller",
        ),
        None => mended_by(
            draft.clone().unknown("not told", "this output does not describe it"),
            controller.show_backup(),
        ),
    })
}

/// Judges whether the cache stays on without a battery, only if an output reports it.
pub(super) fn without_backup(controller: &Controller) -> Option<StorageFinding> {
    let name = ("cache-without-backup", "Write cache while nothing keeps it");
    let draft = FindingDraft::new(name, controller.name());
    let remedy = match controller.tool {
        Tool::Ssacli | Tool::Megacli => controller.set_only_with_backup("all"),
        Tool::Arcconf => {
            format!("arcconf setcache {} nobatterywritecache disable", controller.number())
        }
        _ => format!("{} /c{}/vall set wrcache=wb", controller.tool, controller.number()),
    };
    let found = controller.caches_without_backup.judge(|on| match on {
        Some(true) => {
            let reason = "acknowledged mail is lost when power fails while the battery is flat";
            mended_by(draft.clone().fail("on", reason), remedy.clone())
        }
        Some(false) => draft.clone().pass("off", "without its battery the cache writes through"),
        None => draft.clone().unknown("not told", "this output does not say"),
    });
    controller.caches_without_backup.is_told().then_some(found)
}

pub(super) fn read_share(controller: &Controller) -> Option<StorageFinding> {
    let draft =
        FindingDraft::new(("cache-ratio", "Share of the cache for reads"), controller.name());
    let reason = "a mail store finds its reads in its own memory; the cache is for writes";
    let found = controller.read_percent.judge(|percent| {
        let Some(&percent) = percent else {
            return draft.clone().unknown("not told", "this output does not say");
        };
        let seen =
            format!("{percent} % for reads, {} % for writes", 100_u32.saturating_sub(percent));
        match percent {
            0 => draft.clone().pass(seen, reason),
            1..=MOST_READ_PERCENT => {
                mended_by(draft.clone().warn(seen, reason), controller.set_ratio())
            }
            _ => mended_by(draft.clone().fail(seen, reason), controller.set_ratio()),
        }
    });
    controller.read_percent.is_told().then_some(found)
}

/// Facts that determine how writes are acknowledged; `None` if unknown.
#[derive(Clone, Copy)]
struct WriteCase<'a> {
    now: Option<&'a WritePolicy>,
    set: Option<&'a WritePolicy>,
    backup: Option<&'a CacheBackup>,
    is_flash: bool,
}

pub(super) fn writes(
    controller: &Controller,
    drive: &LogicalDrive,
    subject: &str,
) -> StorageFinding {
    let rule = WriteRule { controller, drive, subject };
    let is_flash = drive.is_flash.only() == Some(&true);
    let cases = drive.writes.cases().into_iter().flat_map(|now| {
        drive.writes_set.cases().into_iter().flat_map(move |set| {
            let backups = controller.backup.cases().into_iter();
            backups.map(move |backup| WriteCase { now, set, backup, is_flash })
        })
    });
    let doubt = drive.writes.doubt().or_else(|| controller.backup.doubt());
    let found = cases.map(|case| rule.of(case)).max_by_key(|finding| finding.outcome);
    doubted(found.unwrap_or_else(|| rule.untold()), doubt)
}

struct WriteRule<'a> {
    controller: &'a Controller,
    drive: &'a LogicalDrive,
    subject: &'a str,
}

impl WriteRule<'_> {
    fn draft(&self) -> FindingDraft {
        let name = ("controller-write-cache", "Write cache of the controller");
        FindingDraft::new(name, self.subject)
    }

    fn of(&self, case: WriteCase<'_>) -> StorageFinding {
        match case.now {
            Some(WritePolicy::Through) => self.through(case),
            Some(WritePolicy::BackAlways) => self.always(case.backup),
            Some(policy) => self.back(*policy, case.backup),
            None => self.untold(),
        }
    }

    fn untold(&self) -> StorageFinding {
        self.draft().unknown("not told", "the output has no policy for it")
    }

    fn through(&self, WriteCase { set, backup, is_flash, .. }: WriteCase<'_>) -> StorageFinding {
        let draft = self.draft();
        let is_set_back = set.is_some_and(|set| *set != WritePolicy::Through);
        if is_set_back {
            let reason = "write back is set, and the controller writes through: it does so while \
                          its battery or capacitor is not in order";
            let found = draft.fail("fallen back to write through", reason);
            return mended_by(found, self.controller.show_backup());
        }
        if !is_flash {
            let reason = "log writes wait for a disk: one made 50 IOPS so, and 300 with the cache";
            let remedy = self.controller.set_write_back(&self.drive.id);
            return mended_by(draft.fail("write through", reason), remedy);
        }
        let is_a_setting = matches!(self.controller.tool, Tool::Ssacli | Tool::Arcconf);
        if set.is_some() || is_a_setting || backup == Some(&CacheBackup::Ready) {
            return draft
                .pass("write through", "flash behind a controller is as fast without its cache");
        }
        let reason = "right for flash if it is set so; whether the controller has fallen back to \
                      it, this output does not say";
        mended_by(draft.unknown("write through", reason), self.controller.show_backup())
    }

    fn always(&self, backup: Option<&CacheBackup>) -> StorageFinding {
        let seen = "write back, even without battery";
        let found = match backup {
            Some(CacheBackup::Ready) => {
                self.draft().warn(seen, "the battery is in order; it may fail")
            }
            _ => self.draft().fail(seen, "power takes acknowledged mail with it"),
        };
        mended_by(found, self.controller.set_only_with_backup(&self.drive.id))
    }

    fn back(&self, policy: WritePolicy, backup: Option<&CacheBackup>) -> StorageFinding {
        let draft = self.draft();
        let mut states = self.controller.cache.told().iter();
        if let Some(words) = states.find_map(Health::bad_words) {
            let seen = format!("write back is set, and the cache is {words}");
            return draft.fail(seen, "writes go through to the disks while the cache is off");
        }
        match backup {
            Some(CacheBackup::NotReady(_) | CacheBackup::Absent) => draft.fail(
                "write back is set, and nothing keeps the cache",
                "the controller writes through until its battery or capacitor is in order",
            ),
            None => draft.unknown(
                "write back",
                "whether something keeps the cache without power is not told: add that output",
            ),
            Some(CacheBackup::Ready) if policy == WritePolicy::BackPerhapsAlways => draft.unknown(
                "write back",
                "whether it is so without battery, too, is not told: the output has no setting",
            ),
            Some(CacheBackup::Ready) => self.protected(),
        }
    }

    fn protected(&self) -> StorageFinding {
        let draft = self.draft();
        let Controller { cache, tells_cache, .. } = self.controller;
        match cache.doubt() {
            Some(why) => draft.unknown(why, "the state of the cache is not known"),
            None if *tells_cache && !cache.is_told() => draft.unknown(
                "write back",
                "the output should tell the state of the cache, and does not",
            ),
            None => draft.pass("write back, protected", "log writes are answered by the cache"),
        }
    }
}

pub(super) fn reads_ahead(
    controller: &Controller,
    drive: &LogicalDrive,
    subject: &str,
) -> Option<StorageFinding> {
    let draft =
        FindingDraft::new(("controller-read-cache", "Read cache of the controller"), subject);
    let found = drive.reads_ahead.judge(|on| match on {
        Some(true) => {
            let reason = "reads of a mail store are random: reading ahead takes cache from writes";
            let remedy = controller.set_no_read_ahead(&drive.id);
            mended_by(draft.clone().warn("on, or reading ahead", reason), remedy)
        }
        Some(false) => draft.clone().pass("off", "all of the cache is for writes"),
        None => draft.clone().unknown("not told", "this output does not say"),
    });
    drive.reads_ahead.is_told().then_some(found)
}
