//! The maximum time to replay a log file, if the plan sets one.

use record::{Replay, RunRecord, TestType};
use units::plural;

use super::milliseconds;
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Fails if a database took longer per log file than the limit; inconclusive if one was not
/// replayed. No finding in other tests, or without a limit.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let limit_ns = run.start.settings.thresholds.replay_ns_per_log;
    let limit_ns = limit_ns.filter(|_| run.start.test == TestType::Recovery)?;
    let limit = Limit::AtMost(milliseconds(limit_ns as f64));
    let mut times: Vec<(&Replay, f64)> = run
        .replays
        .iter()
        .filter_map(|replay| Some((replay, milliseconds(replay.ns_per_log()?))))
        .collect();
    times.sort_by(|one, two| two.1.total_cmp(&one.1));
    let slowest = times.first().map(|(_, time)| *time);
    let outcome = match slowest {
        Some(time) if !limit.admits(time) => Ruling::Fail,
        Some(_) if times.len() >= run.start.databases.len() => Ruling::Pass,
        _ => Ruling::CannotJudge,
    };
    let too_slow = times.iter().filter(|(_, time)| !limit.admits(*time));
    let mut evidence = unreplayed(run, &times);
    evidence.splice(0..0, too_slow.map(|(replay, _)| place(replay)));
    let finding = Finding {
        rule: "replay-time",
        title: "Slowest replay of a log file, average",
        kind: Kind::Load,
        outcome,
        measured: slowest,
        limit: Some(limit),
        unit: Unit::Milliseconds,
        evidence,
    };
    Some(if outcome == Ruling::CannotJudge { finding.without_numbers() } else { finding })
}

/// The databases without a time.
fn unreplayed(run: &RunRecord, times: &[(&Replay, f64)]) -> Vec<Evidence> {
    let mut unreplayed = Vec::new();
    for facts in &run.start.databases {
        if !times.iter().any(|(replay, _)| replay.database == facts.index) {
            let text = "no log of it was replayed to the end";
            unreplayed.push(Evidence::of_database(facts.index, text));
        }
    }
    unreplayed
}

fn place(replay: &Replay) -> Evidence {
    let seconds = replay.elapsed_ns as f64 / 1e9;
    let text = format!("{} in {seconds:.1} s", plural(replay.logs, "log file"));
    Evidence {
        span_ns: Some((replay.at_ns.saturating_sub(replay.elapsed_ns), replay.at_ns)),
        ..Evidence::of_database(replay.database, text)
    }
}
