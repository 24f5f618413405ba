//! The longest time of any one request, of any kind and in any phase: a database may be held up by
//! a write that is in no average, by one request among thousands, or by the read that opens it.

use record::{LongRequest, Phase, RunRecord, Series, SeriesRow};
use units::three_digits;

use super::{judged_phase, milliseconds};
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Machine-readable rule name.
pub(crate) const RULE: &str = "longest-request";

/// The longest request of one database.
struct Longest {
    database: u32,
    what: What,
    span_ns: (u64, u64),
    time_ns: u64,
    is_answered: bool,
}

/// Which request it was.
enum What {
    /// One of many, in an interval.
    OneOf(Series),
    /// One described in words.
    Told(String),
}

/// Fails if a request of any phase took longer than the limit; inconclusive if there is no data on
/// a database. No finding if the record has no limit.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let limit_ns = run.start.settings.thresholds.longest_request_ns;
    let limit_ns = limit_ns?;
    let mut all: Vec<Longest> =
        run.start.databases.iter().filter_map(|one| longest(run, one.index)).collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.time_ns));
    let failing = all.iter().filter(|one| one.time_ns > limit_ns).count();
    let databases = run.start.databases.iter().map(|one| one.index);
    let untold: Vec<u32> =
        databases.filter(|index| !all.iter().any(|one| one.database == *index)).collect();
    let outcome = match (failing, all.is_empty() || !untold.is_empty()) {
        (0, false) => Ruling::Pass,
        (0, true) => Ruling::CannotJudge,
        _ => Ruling::Fail,
    };
    let longest = all.iter().take(failing.max(1)).map(place);
    let mut evidence = unmeasured(all.is_empty(), &untold);
    if outcome == Ruling::CannotJudge {
        evidence.extend(longest);
    } else {
        evidence = longest.chain(evidence).collect();
    }
    let finding = Finding {
        rule: RULE,
        title: "Longest request of any kind",
        kind: Kind::Load,
        outcome,
        measured: all.first().map(|one| milliseconds(one.time_ns as f64)),
        limit: Some(Limit::AtMost(milliseconds(limit_ns as f64))),
        unit: Unit::Milliseconds,
        evidence,
    };
    Some(if outcome == Ruling::CannotJudge { finding.without_numbers() } else { finding })
}

/// The databases without data.
fn unmeasured(is_all: bool, databases: &[u32]) -> Vec<Evidence> {
    const NOTHING: &str = "nothing was measured";
    if is_all {
        return vec![Evidence::of_run(NOTHING)];
    }
    databases.iter().map(|&index| Evidence::of_database(index, NOTHING)).collect()
}

/// The longest request of a database. A request recorded individually is named; intervals give only
/// its kind, and older records contain nothing else.
fn longest(run: &RunRecord, database: u32) -> Option<Longest> {
    let sampled = of_intervals(run, database);
    let requests = run.long_requests.iter();
    let told = requests.filter(|one| one.database == database);
    let Some(told) = told.max_by_key(|one| one.time_ns) else {
        return sampled;
    };
    // A histogram rounds.
    let rounded_ns = told.time_ns + told.time_ns / 100;
    if sampled.as_ref().is_none_or(|one| one.time_ns <= rounded_ns) {
        return Some(named(told));
    }
    sampled
}

fn named(one: &LongRequest) -> Longest {
    let LongRequest { phase, file, operation, offset_bytes, length_bytes, .. } = one;
    let place = if *length_bytes > 0 {
        format!(" of {length_bytes} bytes at {offset_bytes}")
    } else {
        String::new()
    };
    let what = format!("the {operation}{place} of {file} ({})", phase.name());
    Longest {
        database: one.database,
        what: What::Told(what),
        span_ns: (one.at_ns.saturating_sub(one.time_ns), one.at_ns),
        time_ns: one.time_ns,
        is_answered: one.is_answered,
    }
}

/// The longest requests in the intervals of the judged phase and of the drain: requests made at the
/// end of a measurement are answered there.
fn of_intervals(run: &RunRecord, database: u32) -> Option<Longest> {
    let rows = [judged_phase(run), Phase::Drain].into_iter();
    let rows = rows.flat_map(|phase| run.intervals_of(phase));
    let mut longest: Option<Longest> = None;
    for row in rows.filter(|row| !row.is_left_out) {
        let of_database = row.databases.iter().filter(|of| of.index == database);
        // A transaction is many requests.
        let requests = of_database
            .flat_map(|of| &of.series)
            .filter(|(series, _)| **series != Series::Transaction);
        for (&series, part) in requests {
            let (time_ns, is_answered) = time_of(part);
            if longest.as_ref().is_none_or(|one| time_ns > one.time_ns) {
                longest = Some(Longest {
                    database,
                    what: What::OneOf(series),
                    span_ns: (row.from_ns, row.to_ns),
                    time_ns,
                    is_answered,
                });
            }
        }
    }
    longest
}

/// The longest time, and whether it ended with an answer.
fn time_of(part: &SeriesRow) -> (u64, bool) {
    let (answered, waiting) = (part.latency.maximum_ns, part.unanswered.oldest_ns);
    (answered.max(waiting), answered >= waiting)
}

fn place(one: &Longest) -> Evidence {
    let time_ms = three_digits(milliseconds(one.time_ns as f64));
    let what = match &one.what {
        What::OneOf(series) => format!("one of the {}", series.name().to_lowercase()),
        What::Told(what) => what.clone(),
    };
    let end = if one.is_answered { "" } else { ", and it was not answered yet" };
    Evidence {
        database: Some(one.database),
        span_ns: Some(one.span_ns),
        text: format!("{time_ms} ms of {what}{end}"),
        decides: false,
    }
}
