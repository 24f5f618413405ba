//! The rate at which a backup or checksum test must read each database, if the plan sets one.

use record::{Checksum, RunRecord, TestType};
use units::Bytes;

use super::copy_rate::{Brake, brake_of};
use super::{mebibytes, rate};
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Fails if a database was read more slowly than the limit; inconclusive if one was not read to its
/// end, or was held back by its copy. No finding in other tests, or without a limit.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let passes = match run.start.test {
        TestType::Backup => &run.backups,
        TestType::Checksum => &run.checksums,
        _ => return None,
    };
    let least = run.start.settings.thresholds.read_rate_bytes_per_second?;
    let limit = Limit::AtLeast(mebibytes(least as f64));
    let rates = passes.iter().filter_map(|pass| Some((pass.database, rate(pass)?)));
    let slowest = rates.min_by(|one, other| one.1.total_cmp(&other.1));
    let is_complete = passes.len() >= run.start.databases.len();
    let brakes: Vec<Brake> = passes.iter().filter_map(|pass| brake_of(run, pass, least)).collect();
    let outcome = match slowest {
        _ if brakes.contains(&Brake::Reads) => Ruling::Fail,
        Some(_) if is_complete && brakes.is_empty() => Ruling::Pass,
        _ => Ruling::CannotJudge,
    };
    let mut evidence = too_slow(run, passes, least);
    evidence.extend(unread(run, passes));
    let finding = Finding {
        rule: "read-rate",
        title: "Slowest database read",
        kind: Kind::Load,
        outcome,
        measured: slowest.map(|(_, rate)| rate),
        limit: Some(limit),
        unit: Unit::MebibytesPerSecond,
        evidence,
    };
    // A rate within the limit does not cover a database that was not read.
    Some(if brakes.is_empty() && !is_complete { finding.without_numbers() } else { finding })
}

fn unread(run: &RunRecord, passes: &[Checksum]) -> Vec<Evidence> {
    let mut unread = Vec::new();
    for facts in &run.start.databases {
        if !passes.iter().any(|pass| pass.database == facts.index) {
            unread.push(Evidence::of_database(facts.index, "was not read to its end"));
        }
    }
    unread
}

/// The databases that were read too slowly, beginning with those not held back by anything else.
fn too_slow(run: &RunRecord, passes: &[Checksum], least: u64) -> Vec<Evidence> {
    let mut slow = Vec::new();
    for pass in passes {
        slow.extend(brake_of(run, pass, least).map(|brake| (brake, pass)));
    }
    slow.sort_by_key(|(brake, _)| *brake != Brake::Reads);
    let mut evidence = Vec::new();
    // Without a read that was slow by itself, the copy decides.
    let is_copy = slow.first().is_some_and(|(brake, _)| *brake != Brake::Reads);
    for (brake, pass) in slow {
        let seconds = pass.elapsed_ns as f64 / 1e9;
        let held_back = match brake {
            Brake::Reads => "",
            Brake::Copy | Brake::CopyAtLeast => ", held back by the copy that was made of it",
        };
        let text = format!("{} in {seconds:.1} s{held_back}", Bytes(pass.bytes));
        let of_database = Evidence::of_database(pass.database, text);
        evidence.push(Evidence { decides: is_copy, ..of_database });
    }
    evidence
}
