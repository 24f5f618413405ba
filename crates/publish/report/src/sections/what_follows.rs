//! Next steps after the run, and its limits. They follow the verdict directly, so that a reader who
//! stops there does not overrate it.

use record::{Phase, RunRecord, Series, TestType};
use units::Nanos;
use verdict::Verdict;

use crate::document::{Block, Fact, Section};
use crate::{format, next, passes};

/// Name of the section for links, and for the page, which shows it above the contents.
pub(crate) const ID: &str = "what-follows";

/// Minimum hours of a performance load and of a stress load, as in Microsoft's storage programme
/// (ESRP): a shorter load does not represent a working day.
const HOURS_OF_PERFORMANCE: u64 = 2;
const HOURS_OF_STRESS: u64 = 24;

pub(super) fn section(run: &RunRecord, verdict: &Verdict) -> Section {
    with_steps(run, next::steps(run, verdict))
}

/// The section of a run in `folder`, quoted for a shell.
pub(super) fn section_in(run: &RunRecord, verdict: &Verdict, folder: &str) -> Section {
    with_steps(run, next::steps_in(run, verdict, folder))
}

/// Steps first, then limits of the run.
fn with_steps(run: &RunRecord, steps: Vec<String>) -> Section {
    let steps = steps.into_iter().map(|step| Fact::new("Next step", step));
    let limits = unproven(run).into_iter().map(|limit| Fact::new("Not tested", limit));
    let blocks = vec![Block::Facts(steps.chain(limits).collect())];
    Section { id: ID, title: "Next Steps and Limits of This Result", blocks }
}

/// Claims that a reader might infer from this run although it does not prove them.
pub(crate) fn unproven(run: &RunRecord) -> Vec<String> {
    let mut said = Vec::new();
    if run.simulated().is_some() {
        said.push("Real storage: the run was simulated on a model of it.".to_owned());
    }
    said.extend(too_short(run));
    said.extend(unwritten(run));
    if next::is_small(run) || next::is_in_write_cache(run) {
        said.push(
            "Larger databases: much of these fits into the caches of disks and arrays.".to_owned(),
        );
    }
    if run.checksums.is_empty() && run.backups.is_empty() {
        said.push("Reading back every page: not all of them were read.".to_owned());
    }
    said.push("Power failure, and load from other hosts on the same array.".to_owned());
    said
}

/// A caveat if the load ended before caches, reserves and neighbours could show the effects of a
/// working day.
fn too_short(run: &RunRecord) -> Option<String> {
    let hours = match run.start.test {
        TestType::Performance => HOURS_OF_PERFORMANCE,
        TestType::Stress => HOURS_OF_STRESS,
        TestType::Backup | TestType::Checksum | TestType::Recovery => return None,
    };
    let measured = Nanos(run.span_ns(Phase::Measure));
    (measured < Nanos::from_secs(hours * 3_600)).then(|| {
        let asked = format::plural(hours, "hour");
        let how = if run.simulated().is_some() { "simulated" } else { "measured" };
        format!("Sustained load: {how} for {}; {asked} are usual.", format::duration(measured.0))
    })
}

/// A caveat if every change of a load stayed in the cache: pages are written only when the cache or
/// the checkpoint needs it.
fn unwritten(run: &RunRecord) -> Option<String> {
    let load = run.sum_of(Phase::Measure);
    let is_load = passes::is_of_load(run) && load.series.contains_key(&Series::DatabaseRead);
    (is_load && !load.series.contains_key(&Series::DatabaseWrite)).then(|| {
        "Writes of database pages: none came due in the time that was measured.".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use record::{RunRecord, Series};

    use super::unproven;
    use crate::tests::{passing, simulated};

    fn is_said(run: &RunRecord) -> bool {
        unproven(run).concat().contains("Writes of database pages")
    }

    #[test]
    fn a_load_without_page_writes_says_so() {
        let mut run = passing();
        assert!(!is_said(&run));
        for totals in run.totals.values_mut() {
            totals.series.remove(&Series::DatabaseWrite);
        }
        assert!(is_said(&run));
        run.start.test = record::TestType::Backup;
        assert!(!is_said(&run));
    }

    #[test]
    fn what_a_run_does_not_prove_depends_on_what_it_was() {
        let mut run = passing();
        assert!(unproven(&run)[0].contains("2 hours are usual"), "{:?}", unproven(&run));
        run.start.test = record::TestType::Backup;
        run.checksums.clear();
        let said = unproven(&run).concat();
        assert!(!said.contains("measured") && said.contains("every page"), "{said}");
        let said = unproven(&simulated());
        assert!(
            said[0].contains("simulated") && !said.concat().contains("was measured"),
            "{said:?}"
        );
    }
}
