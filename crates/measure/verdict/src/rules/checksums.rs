//! Every page of every database must be intact after the load, in a backup and in its copies.

use record::{Checksum, DatabaseFacts, RunRecord, TestType};
use units::thousands;

use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// One pass over files of the run: its results, and the message for a missing file.
struct PagePass<'a> {
    all: &'a [Checksum],
    lacking: &'static str,
    /// Whether it had to read the file of this database.
    is_wanted: fn(&RunRecord, &DatabaseFacts) -> bool,
}

/// Fails on one damaged page; inconclusive if a database, or its backup copy, was not read
/// completely.
///
/// A page with a correctable bit counts: the medium changed it. Uninitialised and foreign pages
/// do not: a file grows ahead of its use.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    const UNREAD: &str = "was not read to its end";
    let all: Vec<&Checksum> =
        run.checksums.iter().chain(&run.backups).chain(&run.copy_checksums).collect();
    let passes = [
        PagePass {
            all: &run.checksums,
            lacking: UNREAD,
            is_wanted: |run, _| run.start.settings.verify_checksums,
        },
        PagePass {
            all: &run.backups,
            lacking: UNREAD,
            is_wanted: |run, _| run.start.test == TestType::Backup,
        },
        PagePass {
            all: &run.copy_checksums,
            lacking: "has no copy that was read back to its end",
            is_wanted: |_, facts| facts.backup_file.is_some(),
        },
    ];
    let databases = &run.start.databases;
    let is_asked = passes.iter().any(|pass| databases.iter().any(|of| (pass.is_wanted)(run, of)));
    if !is_asked && all.is_empty() {
        return None;
    }
    let damaged: u64 = all.iter().map(|of| damaged_pages(of)).sum();
    let unread: Vec<Evidence> = passes.iter().flat_map(|pass| pass.unread(run)).collect();
    let (outcome, evidence) = if damaged > 0 {
        (Ruling::Fail, all.iter().filter_map(|of| damage(of)).collect())
    } else if unread.is_empty() {
        (Ruling::Pass, Vec::new())
    } else {
        (Ruling::CannotJudge, unread)
    };
    let finding = Finding {
        rule: "checksums",
        title: "Damaged pages",
        kind: Kind::Damage,
        outcome,
        measured: Some(damaged as f64),
        limit: Some(Limit::AtMost(0.0)),
        unit: Unit::Pages,
        evidence,
    };
    // Pages that were not read are neither damaged nor known to be intact.
    Some(if outcome == Ruling::CannotJudge { finding.without_numbers() } else { finding })
}

impl PagePass<'_> {
    /// Databases whose file it should have read but did not.
    fn unread(&self, run: &RunRecord) -> Vec<Evidence> {
        run.start
            .databases
            .iter()
            .filter(|facts| (self.is_wanted)(run, facts))
            .filter(|facts| !self.all.iter().any(|of| of.database == facts.index))
            .map(|facts| Evidence::of_database(facts.index, self.lacking))
            .collect()
    }
}

fn damaged_pages(of: &Checksum) -> u64 {
    of.bad_pages + of.correctable_pages + of.wrong_page_number_pages + of.lost_flush_pages
}

fn damage(of: &Checksum) -> Option<Evidence> {
    (damaged_pages(of) > 0).then(|| {
        let kinds = [
            (of.bad_pages, "bad"),
            (of.correctable_pages, "correctable"),
            (of.wrong_page_number_pages, "with a wrong page number"),
            (of.lost_flush_pages, "with a lost flush"),
        ];
        let mut said = Vec::new();
        for (pages, kind) in kinds.into_iter().filter(|(pages, _)| *pages > 0) {
            said.push(format!("{} {kind}", thousands(pages)));
        }
        said.push(format!("of {} pages seen", thousands(of.seen_pages)));
        Evidence::of_database(of.database, said.join(", "))
    })
}
