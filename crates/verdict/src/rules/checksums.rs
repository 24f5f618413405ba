//! Every page of every database must be whole after the load, and in a backup.

use record::{Checksum, RunRecord, TestType};
use units::thousands;

use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Fails on one damaged page; cannot judge where a database was not read to its end.
///
/// A page with a correctable bit counts: the medium changed it. Uninitialised and foreign pages
/// do not: a file grows ahead of its use.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let wanted = [
        (&run.checksums, run.start.settings.verify_checksums),
        (&run.backups, run.start.test == TestType::Backup),
    ];
    let passes = wanted.into_iter();
    let passes = passes.filter(|(pass, is_wanted)| *is_wanted || !pass.is_empty());
    let passes: Vec<&Vec<Checksum>> = passes.map(|(pass, _)| pass).collect();
    if passes.is_empty() {
        return None;
    }
    let all = || passes.iter().copied().flatten();
    let is_read = |index| {
        let mut passes = passes.iter();
        passes.all(|pass| pass.iter().any(|of| of.database == index))
    };
    let damaged: u64 = all().map(damaged_pages).sum();
    let unread: Vec<Evidence> = run
        .start
        .databases
        .iter()
        .filter(|facts| !is_read(facts.index))
        .map(|facts| Evidence::of_database(facts.index, "was not read to its end"))
        .collect();
    let (outcome, evidence) = if damaged > 0 {
        (Ruling::Fail, all().filter_map(damage).collect())
    } else if unread.is_empty() {
        (Ruling::Pass, Vec::new())
    } else {
        (Ruling::CannotJudge, unread)
    };
    Some(Finding {
        rule: "checksums",
        title: "Damaged pages",
        kind: Kind::Damage,
        outcome,
        measured: all().next().map(|_| damaged as f64),
        limit: Some(Limit::AtMost(0.0)),
        unit: Unit::Pages,
        evidence,
    })
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
        let mut said: Vec<String> = kinds
            .iter()
            .filter(|(pages, _)| *pages > 0)
            .map(|(pages, kind)| format!("{} {kind}", thousands(*pages)))
            .collect();
        said.push(format!("of {} pages seen", thousands(of.seen_pages)));
        Evidence::of_database(of.database, said.join(", "))
    })
}
