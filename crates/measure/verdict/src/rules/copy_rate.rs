//! Whether the copies of a backup held back reads of their source: a slow copy volume must not be
//! mistaken for a slow database volume.

use std::path::Path;

use record::{BackupCopy, Checksum, Phase, RunRecord, Series, TestType};
use units::Bytes;

use super::{mebibytes, rate};
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// The reason why a database was read slowly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Brake {
    /// The reads themselves, which would have been too slow even without a copy.
    Reads,
    /// The copy: the reads would have been fast enough, even one at a time.
    Copy,
    /// The copy, and perhaps the reads too.
    CopyAtLeast,
}

/// One database read by a backup that copies it.
#[expect(clippy::struct_field_names, reason = "units stand last in names")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CopiedRead {
    /// How long the pass took.
    pub elapsed_ns: f64,
    /// How much of that time its reads waited for the copy.
    pub waited_ns: f64,
    /// Sum of the durations of its reads; `None` if unknown.
    pub reads_ns: Option<f64>,
}

impl CopiedRead {
    /// The reason why it took more than `allowed_ns`.
    pub(super) fn brake(self, allowed_ns: f64) -> Brake {
        if self.elapsed_ns - self.waited_ns > allowed_ns {
            return Brake::Reads;
        }
        // Several reads were in flight at once, so the reads alone take no longer than their sum.
        let is_fast = self.reads_ns.is_some_and(|reads_ns| reads_ns <= allowed_ns);
        if is_fast { Brake::Copy } else { Brake::CopyAtLeast }
    }
}

/// The reason why `pass` stayed below `least` bytes per second; `None` if it was fast enough.
pub(super) fn brake_of(run: &RunRecord, pass: &Checksum, least: u64) -> Option<Brake> {
    let allowed_ns = pass.bytes as f64 * 1e9 / least as f64;
    let elapsed_ns = pass.elapsed_ns as f64;
    // Uses the displayed numbers, which round differently from the times.
    let is_slow = rate(pass).is_some_and(|rate| rate < mebibytes(least as f64));
    let Some(copy) = copy_of(run, pass).filter(|_| is_slow) else {
        return is_slow.then_some(Brake::Reads);
    };
    let (waited_ns, reads_ns) = (copy.reads_waited_ns as f64, reads_ns(run, pass));
    Some(CopiedRead { elapsed_ns, waited_ns, reads_ns }.brake(allowed_ns))
}

fn copy_of<'a>(run: &'a RunRecord, pass: &Checksum) -> Option<&'a BackupCopy> {
    run.backup_copies.iter().find(|copy| copy.database == pass.database)
}

/// Sum of the read latencies of a pass.
fn reads_ns(run: &RunRecord, pass: &Checksum) -> Option<f64> {
    let totals = run.totals_of(Phase::Backup, pass.database)?;
    let reads = totals.series.get(&Series::BackupRead).filter(|reads| reads.bytes > 0)?;
    let each_byte = reads.latency.mean_ns() * reads.latency.count() as f64 / reads.bytes as f64;
    Some(each_byte * pass.bytes as f64)
}

/// Fails if a copy kept a database from being read at the plan's rate; inconclusive if a planned
/// copy is missing. No finding in other tests, without that limit, or if nothing was copied.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let least = run.start.settings.thresholds.read_rate_bytes_per_second?;
    if run.start.test != TestType::Backup || run.backup_copies.is_empty() {
        return None;
    }
    let copied = run.backups.iter().filter(|pass| copy_of(run, pass).is_some());
    // A database slowed down by its own reads says nothing about the copy.
    let beside_copies = copied.filter(|pass| brake_of(run, pass, least) != Some(Brake::Reads));
    let slowest = beside_copies.clone().filter_map(rate).min_by(f64::total_cmp);
    let mut evidence = Vec::new();
    for pass in beside_copies {
        let brake = brake_of(run, pass, least);
        evidence.extend(brake.and_then(|brake| told(run, pass, brake)));
    }
    let missing = missing(run);
    let outcome = match (evidence.is_empty(), missing.is_empty()) {
        (false, _) => Ruling::Fail,
        (true, true) => Ruling::Pass,
        (true, false) => Ruling::CannotJudge,
    };
    evidence.extend(missing);
    let finding = Finding {
        rule: "copy-rate",
        title: "Slowest database read into a backup copy",
        kind: Kind::Load,
        outcome,
        measured: slowest,
        limit: Some(Limit::AtLeast(mebibytes(least as f64))),
        unit: Unit::MebibytesPerSecond,
        evidence,
    };
    let has_numbers = outcome != Ruling::CannotJudge && slowest.is_some();
    Some(if has_numbers { finding } else { finding.without_numbers() })
}

/// The databases that should have been copied but were not.
fn missing(run: &RunRecord) -> Vec<Evidence> {
    let mut missing = Vec::new();
    for facts in run.start.databases.iter().filter(|facts| facts.backup_file.is_some()) {
        if !run.backup_copies.iter().any(|copy| copy.database == facts.index) {
            missing.push(Evidence::of_database(facts.index, "was not copied to its end"));
        }
    }
    missing
}

/// Names the volume to blame, and the state of the other.
fn told(run: &RunRecord, pass: &Checksum, brake: Brake) -> Option<Evidence> {
    let copy = copy_of(run, pass)?;
    let mut databases = run.start.databases.iter();
    let facts = databases.find(|facts| facts.index == pass.database);
    let file = facts.and_then(|facts| facts.backup_file.as_deref()).unwrap_or_default();
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let of_reads = match (brake, reads_ns(run, pass)) {
        (Brake::Copy, Some(ns)) => {
            let alone = mebibytes(pass.bytes as f64) * 1e9 / ns;
            format!("the database itself gives {alone:.0} MiB/s or more")
        }
        _ => "what the database itself gives a backup without `backup_folders` tells".to_owned(),
    };
    let text = format!(
        "{} in {:.1} s, of which its reads waited {:.1} s for the copy in {}: that folder's volume \
         is the limit; {of_reads}",
        Bytes(pass.bytes),
        pass.elapsed_ns as f64 / 1e9,
        copy.reads_waited_ns as f64 / 1e9,
        folder.display(),
    );
    Some(Evidence::of_database(pass.database, text))
}

#[cfg(test)]
mod tests {
    use super::{Brake, CopiedRead};

    /// The brake of a ten-second pass that should take six seconds, with this much waiting and
    /// reading.
    fn brake(waited: f64, reads: Option<f64>) -> Brake {
        let reads_ns = reads.map(|seconds| seconds * 1e9);
        CopiedRead { elapsed_ns: 10e9, waited_ns: waited * 1e9, reads_ns }.brake(6e9)
    }

    #[test]
    fn a_copy_is_blamed_for_what_reads_waited_and_for_no_more() {
        assert_eq!(brake(0.0, Some(19.0)), Brake::Reads);
        assert_eq!(brake(3.9, Some(1.0)), Brake::Reads, "6.1 s are left without the copy");
        assert_eq!(brake(4.0, Some(6.1)), Brake::CopyAtLeast);
        assert_eq!(brake(4.0, Some(6.0)), Brake::Copy);
        assert_eq!(brake(9.9, None), Brake::CopyAtLeast);
    }
}
