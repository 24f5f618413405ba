//! Texts about a published result, used wherever it is shown.

use record::{ImportedResult, PublishedOutcome, RunRecord, TestType};
use verdict::{Ruling, Verdict};

use crate::format;

/// The outcome of an imported run in a word or two.
pub(crate) fn outcome_words(imported: &ImportedResult, verdict: &Verdict) -> String {
    match (verdict.outcome, imported.outcome) {
        (Ruling::Fail, _) => "Imported fail".to_owned(),
        (_, Some(outcome)) => format!("Imported {}", outcome.name().to_lowercase()),
        (_, None) => "Imported".to_owned(),
    }
}

/// Start of a run; for an imported one in the machine's local time, since no file states the time
/// zone.
pub(crate) fn started(run: &RunRecord) -> String {
    match run.imported() {
        None => format::started(&run.start),
        Some(imported) => match imported.started_local_ns {
            Some(at_ns) => format::timestamp(at_ns).replace(" UTC", " (its local time)"),
            None => "not stated".to_owned(),
        },
    }
}

/// Meaning of an imported result's report.
pub(crate) fn sentences(run: &RunRecord, imported: &ImportedResult) -> Vec<String> {
    let said = match imported.outcome {
        Some(PublishedOutcome::Pass) => "which called it Pass",
        Some(PublishedOutcome::Fail) => "which called it Fail",
        None => "and its file does not say whether it passed",
    };
    let release = imported.release.as_ref().map(|of| format!(" ({of})")).unwrap_or_default();
    let mut said = vec![
        format!("IMPORTED from {}, not measured by this program.", imported.file),
        format!("Measured by {}{release}, {said}.", imported.instrument),
        "It has averages alone: what needs intervals, percentiles or single requests is not judged."
            .to_owned(),
    ];
    if !imported.lacks.is_empty() {
        said.push(format!("Missing in the file: {}.", imported.lacks.join(", ")));
    }
    if run.start.test == TestType::Recovery {
        said.push("Tests of recovery are not compared.".to_owned());
    }
    said
}
