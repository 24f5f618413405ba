//! Why the numbers of a comparison may mislead, as sentences.

use record::{RunRecord, Seal};

use super::{NamedRun, OtherCircumstance, imported, sizes};
use crate::overlap::{devices, overlaps};
use crate::{Finding, Ruling, rules};

/// The doubts about all runs together, then those about each.
pub(super) fn of(runs: &[NamedRun], differences: &[OtherCircumstance]) -> Vec<String> {
    let work: Vec<&str> =
        differences.iter().filter(|of| of.is_work).map(|difference| difference.name).collect();
    let mut doubts = Vec::new();
    if !work.is_empty() {
        doubts.push(format!(
            "Not the same work: the runs differ in {}. Their numbers do not compare storage.",
            work.join(", ")
        ));
    }
    doubts.extend(runs.iter().filter_map(imported::doubt));
    let has_several = runs.iter().any(|run| arrays(run).is_some_and(|count| count > 1));
    doubts.extend(runs.iter().filter_map(|run| of_simulated(run, has_several)));
    doubts.extend(one_device(runs));
    doubts.extend(runs[1..].iter().filter_map(|run| sizes::doubt(&runs[0], run)));
    let records: Vec<&RunRecord> = runs.iter().map(|run| &run.record).collect();
    doubts.extend(
        overlaps(&records).iter().map(|of| format!("{}.", of.words(|at| runs[at].name.clone()))),
    );
    doubts.extend(runs.iter().flat_map(of_run));
    doubts
}

/// The number of arrays that a run was simulated on; `None` for a measured one.
fn arrays(run: &NamedRun) -> Option<usize> {
    run.record.simulated().map(|_| run.record.start.array_count())
}

/// Warns that a run was not measured at all. If any run has several arrays, each names its number:
/// more spindles are not a better model.
fn of_simulated(run: &NamedRun, has_several: bool) -> Option<String> {
    let simulation = run.record.simulated()?;
    let on = match arrays(run)? {
        _ if !has_several => "the model".to_owned(),
        1 => "1 array of the model".to_owned(),
        count => format!("{count} arrays of the model"),
    };
    Some(format!(
        "{}: SIMULATED on {on} \"{}\"; expect latencies within +-{:.0} %.",
        run.name, simulation.array, simulation.uncertainty_percent
    ))
}

/// Warns that runs of different folders were all on the devices of the first. Runs of the same
/// databases, such as before and after a change, are meant to be.
fn one_device(runs: &[NamedRun]) -> Option<String> {
    let first = &runs[0];
    let used = devices(&first.record, &first.record)?.join(", ");
    let mut names: Vec<&str> = runs[1..]
        .iter()
        .filter(|run| files(run) != files(first) && devices(&first.record, &run.record).is_some())
        .map(|run| &*run.name)
        .collect();
    let last = names.pop()?;
    names.insert(0, &first.name);
    let all = if names.len() > 1 { "all" } else { "both" };
    Some(format!(
        "{} and {last} are {all} on {used}, in different folders: what differs is not the disk.",
        names.join(", ")
    ))
}

fn files(run: &NamedRun) -> Vec<&str> {
    run.record.start.databases.iter().map(|database| &*database.file).collect()
}

/// Whether a rule objects to other activity on the machine.
fn is_of_machine(rule: &str) -> bool {
    rule == rules::OTHER_PROGRAMS || rules::GENERATOR.contains(&rule)
}

/// Why one run's numbers may mislead.
fn of_run(run: &NamedRun) -> Vec<String> {
    let name = &run.name;
    if let Seal::Altered { line } = run.record.seal {
        return vec![format!(
            "{name}: its journal was ALTERED after it was written, from line {line} on; nothing in \
             it proves anything."
        )];
    }
    if run.record.imported().is_some() {
        return Vec::new();
    }
    let objections = run.verdict.objections();
    // All of these say the same about a machine kept busy by others.
    let busy = objections.iter().filter(|finding| is_of_machine(finding.rule)).take(1);
    // A third run beside this one, and what a break hides, are in no number of the comparison.
    let apart = objections.iter().filter(|of| APART.contains(&of.rule));
    let mut doubts: Vec<String> = busy
        .chain(apart)
        .map(|finding| format!("{name}: {}: {}.", finding.title, first_evidence(finding)))
        .collect();
    let drifts = objections.iter().filter(|of| of.rule == rules::STEADY_STATE);
    doubts.extend(drifts.map(|finding| drift(name, finding)));
    doubts.extend(unjudged(run).map(|title| format!("{name}: could not be judged ({title}).")));
    doubts
}

/// Rules whose objections are doubts of their own.
const APART: [&str; 2] = [rules::OTHER_RUNS, "resumed"];

/// What decided that a run could not be judged, as in its report; a failed run was judged, even if
/// parts of it were not.
fn unjudged(run: &NamedRun) -> impl Iterator<Item = &'static str> {
    let is_unjudged = run.verdict.outcome == Ruling::CannotJudge;
    let decisive = run.verdict.decisive().into_iter().filter(move |_| is_unjudged);
    let decisive = decisive.filter(|of| !is_of_machine(of.rule) && !APART.contains(&of.rule));
    decisive.map(|finding| finding.title)
}

/// A run whose means describe none of its states.
fn drift(name: &str, finding: &Finding) -> String {
    let percent = finding.measured.unwrap_or_default();
    format!("{name}: not steady, {percent:.1} % from start to end: {}.", first_evidence(finding))
}

fn first_evidence(finding: &Finding) -> &str {
    finding.evidence.first().map_or("see its report", |evidence| &evidence.text)
}
