//! Whether the required number of logs was replayed: a replay with little or nothing to do does not
//! predict a full one.

use record::{Replay, RunRecord, TestType};
use units::plural;

use super::kind_of_a_cut_run;
use crate::{Evidence, Finding, Limit, Ruling, Unit};

/// Inconclusive if a database replayed fewer logs than required. No finding in other tests.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    if run.start.test != TestType::Recovery {
        return None;
    }
    let wanted = u64::from(run.start.settings.replay_logs).max(1);
    let limit = Limit::AtLeast(wanted as f64);
    let logs: Vec<(u32, u64)> =
        run.start.databases.iter().map(|of| (of.index, replayed(run, of.index))).collect();
    let fewest = logs.iter().map(|(_, logs)| *logs).min()?;
    let evidence: Vec<Evidence> = logs
        .iter()
        .filter(|(_, logs)| *logs < wanted)
        .map(|&(index, logs)| missing(run, index, logs))
        .collect();
    Some(Finding {
        rule: "replayed-logs",
        title: "Log files replayed by the database with fewest",
        kind: kind_of_a_cut_run(run),
        outcome: if evidence.is_empty() { Ruling::Pass } else { Ruling::CannotJudge },
        measured: Some(fewest as f64),
        limit: Some(limit),
        unit: Unit::Count,
        evidence,
    })
}

fn replayed(run: &RunRecord, index: u32) -> u64 {
    let replay = replay_of(run, index).filter(|replay| replay.ns_per_log().is_some());
    replay.map_or(0, |replay| replay.logs)
}

fn replay_of(run: &RunRecord, index: u32) -> Option<&Replay> {
    run.replays.iter().find(|replay| replay.database == index)
}

/// Describes the replay of a database that replayed too few logs.
fn missing(run: &RunRecord, index: u32, logs: u64) -> Evidence {
    let text = match replay_of(run, index) {
        None => "its replay did not come to an end".to_owned(),
        Some(replay) if replay.ns_per_log().is_none() => {
            "its replay found nothing to do".to_owned()
        }
        Some(_) => format!("the load generated {} in its time", plural(logs, "log")),
    };
    Evidence::of_database(index, text)
}
