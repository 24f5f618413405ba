//! Assigns the runs of one server to the tests of a paper. The kind of a test decides first: the
//! loads of one set last equally long except for nanoseconds, and a load's length does not reveal
//! its purpose.

use record::TestType;

use super::{Server, measured_ns};
use crate::{PaperError, TestedRun};

/// Minimum length at which a load of the performance kind proves reliability if there is no stress
/// test.
const A_LONG_LOAD_NS: u64 = 20 * 3_600 * 1_000_000_000;

fn of_kind<'a>(runs: &[&'a TestedRun], kind: TestType) -> Vec<&'a TestedRun> {
    runs.iter().copied().filter(|run| run.record.start.test == kind).collect()
}

/// Builds the server `name` from `runs`, each of which is one of its tests.
pub(super) fn server<'a>(name: String, runs: &[&'a TestedRun]) -> Result<Server<'a>, PaperError> {
    let mut loads = of_kind(runs, TestType::Performance);
    let mut stress = of_kind(runs, TestType::Stress);
    if are_called_otherwise(&stress, &loads) {
        loads.append(&mut stress);
    }
    let stress = the_one(&stress, &name, "stress test")?;
    let reliability = stress.or_else(|| long_load(&mut loads));
    let (performance, maximum) = by_target(&loads, &name)?;
    Ok(Server {
        reliability,
        performance,
        maximum,
        backup: the_one(&of_kind(runs, TestType::Backup), &name, "test of backup")?,
        recovery: the_one(&of_kind(runs, TestType::Recovery), &name, "test of recovery")?,
        checksum: the_one(&of_kind(runs, TestType::Checksum), &name, "test of checksums")?,
        shares_name: false,
        name,
    })
}

/// Whether these results label a day of load performance and a shorter one stress, as some
/// published ones do.
fn are_called_otherwise(stress: &[&TestedRun], loads: &[&TestedRun]) -> bool {
    loads.iter().any(|run| is_long(run))
        && stress.iter().all(|run| run.record.imported().is_some() && !is_long(run))
}

fn is_long(run: &TestedRun) -> bool {
    measured_ns(run) >= A_LONG_LOAD_NS
}

/// Removes and returns the longest load if it lasted most of a day.
fn long_load<'a>(loads: &mut Vec<&'a TestedRun>) -> Option<&'a TestedRun> {
    loads.sort_by_key(|run| measured_ns(run));
    loads.pop_if(|run| is_long(run))
}

/// The performance and maximum loads. Only a load without a target can show a maximum; of two such
/// loads, the lower one is the intended load of the solution.
fn by_target<'a>(
    loads: &[&'a TestedRun],
    server: &str,
) -> Result<(Option<&'a TestedRun>, Option<&'a TestedRun>), PaperError> {
    let (held, mut free): (Vec<&TestedRun>, Vec<&TestedRun>) =
        loads.iter().copied().partition(|run| is_held(run));
    free.sort_by(|one, two| iops(one).total_cmp(&iops(two)));
    match (held.as_slice(), free.as_slice()) {
        ([], []) => Ok((None, None)),
        ([one], []) | ([], [one]) => Ok((Some(one), None)),
        ([performance], [maximum]) | ([], [performance, maximum]) => {
            Ok((Some(performance), Some(maximum)))
        }
        ([_, _, ..], _) => Err(twice(&held, server, "performance test")),
        _ => Err(twice(loads, server, "performance and its maximum")),
    }
}

/// Whether the load was held at a rate. The target of a published result does not count: it is only
/// a limit to judge the rate by and throttles nothing.
fn is_held(run: &TestedRun) -> bool {
    run.record.imported().is_none() && run.record.target_iops().is_some()
}

fn iops(run: &TestedRun) -> f64 {
    record::ServerLoad::of(&run.record).transfers_per_second.unwrap_or(0.0)
}

fn the_one<'a>(
    runs: &[&'a TestedRun],
    server: &str,
    test: &'static str,
) -> Result<Option<&'a TestedRun>, PaperError> {
    match runs {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        several => Err(twice(several, server, test)),
    }
}

fn twice(runs: &[&TestedRun], server: &str, test: &'static str) -> PaperError {
    let lacks_identity = runs.iter().any(|run| run.record.start.machine.id.is_empty());
    let runs = runs.iter().map(|run| run.name.clone()).collect();
    PaperError::Twice { server: server.to_owned(), test, runs, lacks_identity }
}

#[cfg(test)]
mod tests;
