//! Length of a measurement needed for a verdict, estimated from a shorter one.

use plan::write_duration;
use record::{Phase, RunRecord, Series};
use units::Nanos;
use verdict::{Finding, Ruling, Unit, Verdict};

use super::command::again;
use super::latest::latest_share;
use crate::passes;

/// Reserve added to the time estimated from the rate so far, in percent: rates vary.
const RESERVE_PERCENT: u64 = 25;

/// Factor by which to extend the measurement if no request was seen at all.
const OF_NONE: f64 = 10.0;

/// Requests below which a count says too little of a rate: one more or less would change the
/// estimated time by a tenth or more.
const FEW: f64 = 10.0;

/// Reads and log writes per transactional I/O, if a run counted too few to say: somewhat fewer than
/// the 0.58 to 0.64 and 0.053 to 0.145 in some hundred records of 2 to 20,000 IOPS.
const ASSUMED_READS: f64 = 0.5;
const ASSUMED_LOG_WRITES: f64 = 0.05;

const SECOND_NS: u64 = 1_000_000_000;

/// Times the measured span, to see whether a load that changed throughout becomes steady.
const UNTIL_STEADY: u64 = 4;

/// Length of a measurement that is enough for a verdict; `None` if the planned one is.
pub(super) fn longer(run: &RunRecord, verdict: &Verdict) -> Option<String> {
    time_for_verdict(run, verdict).map(write_duration)
}

/// Length of a measurement in which enough is seen for a verdict; `None` if the planned one is
/// enough.
pub fn time_for_verdict(run: &RunRecord, verdict: &Verdict) -> Option<Nanos> {
    longer_for(run, verdict, |_| true)
}

/// The same for databases that caches no longer hold: reads missing so far say nothing about them.
pub(super) fn longer_if_larger(run: &RunRecord, verdict: &Verdict) -> Option<String> {
    until_steady(run, verdict).or_else(|| {
        longer_for(run, verdict, |of| !of.rule.starts_with("read-")).map(write_duration)
    })
}

/// Length of a measurement that lets a load settle; `None` if no trend was found.
pub(super) fn until_steady(run: &RunRecord, verdict: &Verdict) -> Option<String> {
    time_to_settle(run, verdict).map(write_duration)
}

fn time_to_settle(run: &RunRecord, verdict: &Verdict) -> Option<Nanos> {
    let mut findings = verdict.findings.iter();
    findings.find(|of| of.rule == "steady-state" && of.outcome == Ruling::Warn)?;
    let longer_ns = run.span_ns(Phase::Measure).saturating_mul(UNTIL_STEADY);
    Some(Nanos(readable(longer_ns)))
}

fn longer_for(
    run: &RunRecord,
    verdict: &Verdict,
    counts: impl Fn(&Finding) -> bool,
) -> Option<Nanos> {
    let settings = &run.start.settings;
    let least_ns = settings.thresholds.minimum_measure_ns;
    let unjudged = verdict.findings.iter().filter(|of| of.outcome == Ruling::CannotJudge);
    let unjudged = unjudged.filter(|of| counts(of));
    let for_requests = unjudged.filter_map(|finding| needed_ns(run, finding)).max();
    let needed_ns = for_requests.map_or(least_ns, |needed_ns| needed_ns.max(least_ns));
    (needed_ns > settings.measure_ns).then(|| Nanos(readable(needed_ns)))
}

/// The command that repeats the test, for long enough if it is a load that was too short: any other
/// remedy alone would leave that doubt.
pub(super) fn repeat(run: &RunRecord, verdict: &Verdict) -> String {
    let longer = longer(run, verdict).filter(|_| passes::is_of_load(run));
    again(run, longer.map(|duration| ("--duration", duration)).as_slice())
}

/// The time needed for the requests that a finding lacks, at the latest rate if it fell; `None` if
/// it is not about requests, or nothing was measured.
fn needed_ns(run: &RunRecord, finding: &Finding) -> Option<u64> {
    let (seen, limit) = (finding.measured?, finding.limit?);
    let span_ns = run.span_ns(Phase::Measure);
    if finding.unit != Unit::Requests || span_ns == 0 {
        return None;
    }
    if let Some(planned_ns) = planned_ns(run, finding).filter(|&of| seen < FEW && of > span_ns) {
        return Some(planned_ns);
    }
    let times = if seen < 1.0 { OF_NONE } else { limit.value() / seen };
    let latest = series_of(finding).map_or(1.0, |series| latest_share(run, series));
    let times = times / latest.max(1.0 / OF_NONE);
    Some(with_reserve(Nanos(span_ns).as_secs_f64() * times))
}

/// The time for the requests of a finding at the rate that the plan holds; `None` without one.
fn planned_ns(run: &RunRecord, finding: &Finding) -> Option<u64> {
    let rate = rate_at(run, run.start.settings.target_iops?, series_of(finding)?);
    Some(with_reserve(finding.limit?.value() / rate))
}

/// Length of a measurement that is enough to judge another load of the same databases, and for it
/// to settle if this one did not; `None` if the planned one is.
pub(super) fn for_load(run: &RunRecord, verdict: &Verdict, iops: f64) -> Option<String> {
    let needed_ns = needed_for_load_ns(run, iops);
    let is_longer = needed_ns > run.start.settings.measure_ns;
    let longer = is_longer.then(|| Nanos(readable(needed_ns)));
    longer.max(time_to_settle(run, verdict)).map(write_duration)
}

/// Whether the time of the plan, or the usual two hours, is enough to judge a load.
pub(super) fn can_judge(run: &RunRecord, iops: f64) -> bool {
    needed_for_load_ns(run, iops) <= run.start.settings.measure_ns.max(2 * 3_600 * SECOND_NS)
}

fn needed_for_load_ns(run: &RunRecord, iops: f64) -> u64 {
    let needed_ns = [Series::DatabaseRead, Series::LogWrite]
        .map(|series| with_reserve(least(run, series) / rate_at(run, iops, series)));
    needed_ns.into_iter().fold(run.start.settings.thresholds.minimum_measure_ns, u64::max)
}

/// Requests of a database that a verdict needs.
fn least(run: &RunRecord, series: Series) -> f64 {
    let thresholds = &run.start.settings.thresholds;
    let least = match series {
        Series::LogWrite => thresholds.minimum_log_writes,
        _ => thresholds.minimum_reads,
    };
    least as f64
}

/// The requests that a finding counts.
fn series_of(finding: &Finding) -> Option<Series> {
    match finding.rule {
        rule if rule.starts_with("read-") => Some(Series::DatabaseRead),
        rule if rule.starts_with("log-write-") => Some(Series::LogWrite),
        _ => None,
    }
}

/// Requests of the database with the fewest.
pub(super) fn fewest(run: &RunRecord, series: Series) -> u64 {
    let databases = run.start.databases.iter();
    let counts = databases.map(|facts| {
        run.totals_of(Phase::Measure, facts.index).map_or(0, |totals| totals.count(series))
    });
    counts.min().unwrap_or(0)
}

/// Requests per second of the database with the fewest, under a load of all databases.
fn rate_at(run: &RunRecord, iops: f64, series: Series) -> f64 {
    let databases = run.start.databases.len().max(1) as f64;
    let assumed = match series {
        Series::LogWrite => ASSUMED_LOG_WRITES,
        _ => ASSUMED_READS,
    };
    let fewest = fewest(run, series) as f64;
    let achieved = run.achieved_transactional_iops();
    let seconds = Nanos(run.span_ns(Phase::Measure)).as_secs_f64();
    let made = achieved * seconds / databases;
    // The shares hardly depend on the load: see above.
    let share = if fewest < FEW || made <= 0.0 { assumed } else { fewest / made };
    (iops / databases * share).max(f64::MIN_POSITIVE)
}

/// A time in seconds with its reserve, in nanoseconds.
fn with_reserve(seconds: f64) -> u64 {
    let reserve = 1.0 + RESERVE_PERCENT as f64 / 100.0;
    std::time::Duration::try_from_secs_f64(seconds * reserve)
        .map_or(u64::MAX, |needed| u64::try_from(needed.as_nanos()).unwrap_or(u64::MAX))
}

/// Rounds up to steps that a person would choose.
fn readable(needed_ns: u64) -> u64 {
    let step_s = match needed_ns / SECOND_NS {
        ..60 => 5,
        60..600 => 30,
        600..7_200 => 300,
        _ => 3_600,
    };
    let step_ns = step_s * SECOND_NS;
    needed_ns.div_ceil(step_ns).saturating_mul(step_ns)
}

#[cfg(test)]
mod tests {
    use super::{SECOND_NS, can_judge, for_load, readable};
    use crate::tests::passing;

    /// A few mailboxes make so few log writes that hours are not enough.
    #[test]
    fn a_small_load_takes_longer_and_the_smallest_cannot_be_judged() {
        let mut run = passing();
        run.start.settings.measure_ns = 600 * SECOND_NS;
        let verdict = verdict::judge(&run);
        assert_eq!(for_load(&run, &verdict, run.achieved_transactional_iops()), None);
        let databases = run.start.databases.len() as f64;
        assert!(for_load(&run, &verdict, databases / 2.0).is_some());
        assert!(can_judge(&run, databases / 2.0) && !can_judge(&run, databases / 200.0));
    }

    #[test]
    fn times_are_rounded_up() {
        for (needed_s, rounded_s) in [(0, 0), (31, 35), (91, 120), (601, 900), (7_201, 10_800)] {
            assert_eq!(readable(needed_s * SECOND_NS), rounded_s * SECOND_NS, "{needed_s}");
        }
        assert_eq!(readable(30 * SECOND_NS), 30 * SECOND_NS);
    }
}
