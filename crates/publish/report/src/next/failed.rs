//! Steps after a failed run: find the cause of errors, or the load that the storage supports.

use record::{IssueKind, RunRecord};
use units::Bytes;
use verdict::{Finding, Kind, LEAST_CACHE, Limit, Ruling, Unit, Verdict};

use super::command::{again, filled_anew, has_plan, inspect, line};
use super::step::{NextStep, StepKind};
use super::time;
use crate::{format, meaning, passes};

pub(super) fn steps(run: &RunRecord, verdict: &Verdict) -> Vec<NextStep> {
    let same = again(run, &[]);
    if fails(verdict, "checksums") || fails(verdict, "input-output-errors") {
        return vec![find_cause(run, has_damage(run, verdict))];
    }
    if meaning::is_held_back_by_copies(verdict) {
        let words = "Name faster folders in `backup_folders`, or none to measure the databases \
                     alone; then";
        return vec![StepKind::FasterCopies.with(words, same)];
    }
    if !passes::is_of_load(run) || failing(verdict).all(|of| of.rule == "longest-request") {
        let words = format!("Find out what delays the requests ({}); then", inspect(run));
        return vec![StepKind::FindDelay.with(words, same)];
    }
    let mut steps = Vec::new();
    if fails(verdict, "log-write-latency-average") {
        let words = "Slow log writes mean that no write cache acknowledges them: check that the \
                     controller's cache is on and its battery good; then";
        steps.push(StepKind::CheckWriteCache.with(words, same));
    }
    steps.extend(larger_cache(run, verdict));
    let found = line(run);
    steps.extend(found.map(|line| StepKind::FindLine.with("Find the load that it carries", line)));
    steps.push(less_load(run, verdict));
    steps
}

/// Proposes a larger cache if pages waited for space in one below [`LEAST_CACHE`], the smallest for
/// which the limit is meant.
pub(super) fn larger_cache(run: &RunRecord, verdict: &Verdict) -> Option<NextStep> {
    let stalls = verdict.findings.iter().find(|of| of.rule == "page-fault-stalls")?;
    let cache = Bytes(run.start.settings.cache_maximum_bytes);
    let Some(Limit::AtMost(limit)) = stalls.limit else {
        return None;
    };
    (stalls.measured? > limit && cache < LEAST_CACHE).then(|| {
        let words = format!(
            "A cache of {cache} may make pages wait on any storage: set `cache_maximum` in the \
             plan to {LEAST_CACHE} or more; then"
        );
        StepKind::LargerCache.with(words, time::repeat(run, verdict))
    })
}

/// Whether pages or rows were damaged, which every later reader meets again.
fn has_damage(run: &RunRecord, verdict: &Verdict) -> bool {
    let is_damage = |kind: IssueKind| match kind {
        IssueKind::Checksum
        | IssueKind::HashMismatch
        | IssueKind::LostFlush
        | IssueKind::Corruption => true,
        IssueKind::InputOutput
        | IssueKind::VolumeFull
        | IssueKind::ConnectionLost
        | IssueKind::Unfinished
        | IssueKind::Refused
        | IssueKind::Other => false,
    };
    fails(verdict, "checksums") || run.issues.iter().any(|issue| is_damage(issue.kind))
}

/// Damaged pages are found again until their databases are filled anew.
fn find_cause(run: &RunRecord, has_damaged_pages: bool) -> NextStep {
    let cause = "Do not put data on this storage before the cause of the errors is found: search \
                 the system log and the controller's log for the times above";
    let same = again(run, &[]);
    let (words, same) = match (has_damaged_pages, has_plan(run)) {
        (true, true) => {
            (format!("{cause}. Fill the databases anew ({}); then", filled_anew(run)), same)
        }
        (true, false) => (format!("{cause}; then"), format!("{same} --reset")),
        (false, _) => (format!("{cause}; then"), same),
    };
    StepKind::FindCause.with(words, same)
}

fn failing(verdict: &Verdict) -> impl Iterator<Item = &Finding> {
    verdict.findings.iter().filter(|finding| finding.outcome == Ruling::Fail)
}

fn fails(verdict: &Verdict, rule: &str) -> bool {
    failing(verdict).any(|finding| finding.rule == rule)
}

/// The same test with less load: a lower target if the load is held, else fewer sessions.
pub(super) fn less_load(run: &RunRecord, verdict: &Verdict) -> NextStep {
    let settings = &run.start.settings;
    match (settings.target_iops, settings.throughput_percent) {
        (Some(target), _) => {
            let lower = lower_target(run, verdict, target);
            let each = settings.iops_per_mailbox.filter(|iops| *iops > 0.0);
            let mailboxes = each.map(|iops| {
                let mailboxes = format::number((f64::from(lower) / iops).floor(), 0);
                format!(", which {mailboxes} mailboxes of {} IOPS need", format::iops_each(iops))
            });
            let words = format!("Hold a lower target{}", mailboxes.unwrap_or_default());
            StepKind::LowerTarget.with(words, held_at(run, verdict, lower)).ranked(lower.into())
        }
        (None, Some(percent)) => {
            let lower = (percent * share(verdict)).floor().max(1.0);
            let shown = format::number(lower, 0);
            let words = format!("Set `throughput_percent` in the plan to {shown}; then");
            StepKind::LowerShare.with(words, again(run, &[])).ranked(lower)
        }
        (None, None) => fewer_sessions(run, verdict),
    }
}

/// Halves the sessions; a single session is held at a rate instead.
fn fewer_sessions(run: &RunRecord, verdict: &Verdict) -> NextStep {
    match run.sessions_per_database() / 2 {
        0 => {
            let lower = lower_target(run, verdict, run.achieved_transactional_iops());
            let held = held_at(run, verdict, lower);
            StepKind::HoldLess.with("Hold less load", held).ranked(lower.into())
        }
        threads => {
            let changed = again(run, &[("--threads", threads.to_string())]);
            StepKind::FewerSessions
                .with("Load it with half of the sessions", changed)
                .ranked(threads.into())
        }
    }
}

/// The command that holds a lower load, for long enough to judge it.
fn held_at(run: &RunRecord, verdict: &Verdict, target_iops: u32) -> String {
    let longer = time::for_load(run, verdict, target_iops.into());
    let mut changes = vec![("--target-iops", target_iops.to_string())];
    changes.extend(longer.map(|duration| ("--duration", duration)));
    again(run, &changes)
}

/// A target below the load that failed, with two digits, lowered in proportion to the worst miss of
/// a limit.
fn lower_target(run: &RunRecord, verdict: &Verdict, target_iops: f64) -> u32 {
    let achieved = run.achieved_transactional_iops();
    let most = if achieved > 0.0 { achieved.min(target_iops) } else { target_iops };
    two_digits(most * share(verdict))
}

/// Headroom below a limit that would otherwise be barely kept.
const RESERVE: f64 = 0.95;

/// The share of the load that keeps the limits, with headroom. Latency rises faster than load, so
/// it also falls faster.
fn share(verdict: &Verdict) -> f64 {
    let missed = verdict.findings.iter().filter(|of| {
        let is_missed = matches!(of.outcome, Ruling::Fail | Ruling::CannotJudge);
        is_missed && of.unit == Unit::Milliseconds && of.kind == Kind::Load
    });
    let shares = missed.filter_map(|finding| match (finding.measured?, finding.limit?) {
        (measured, Limit::AtMost(limit)) => Some(limit / measured * RESERVE),
        _ => None,
    });
    shares.fold(0.9, f64::min).clamp(0.5, 0.9)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate of requests, and at least one"
)]
fn two_digits(iops: f64) -> u32 {
    let step = 10_f64.powf((iops.max(1.0).log10().floor() - 1.0).max(0.0));
    ((iops / step).floor() * step).max(1.0) as u32
}

#[cfg(test)]
mod tests {
    use record::Phase;
    use units::Nanos;
    use verdict::judge;

    use super::{less_load, two_digits};
    use crate::tests::passing;

    #[test]
    fn a_lower_target_is_held_for_long_enough_to_judge_it() {
        let mut run = passing();
        run.start.settings.measure_ns = run.span_ns(Phase::Measure);
        run.start.settings.target_iops = Some(run.achieved_transactional_iops());
        let command = less_load(&run, &judge(&run)).command.unwrap_or_default();
        assert!(command.contains("--target-iops") && !command.contains("--duration"), "{command}");
        run.start.settings.target_iops = Some(2.0);
        run.start.settings.measure_ns = Nanos::from_secs(60).0;
        let command = less_load(&run, &judge(&run)).command.unwrap_or_default();
        assert!(command.contains("--target-iops 1 --duration "), "{command}");
    }

    #[test]
    fn targets_have_two_digits_and_are_never_zero() {
        for (iops, rounded) in [(0.2, 1), (9.9, 9), (337.2, 330), (45_913.0, 45_000)] {
            assert_eq!(two_digits(iops), rounded, "{iops}");
        }
    }
}
