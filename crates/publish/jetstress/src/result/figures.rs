//! The figures of an outline.

mod load;
mod rows;
mod when;

use record::{ImportedResult, PublishedFact, PublishedOutcome, TestType};

use super::outline::Outline;
use super::{PublishedResult, ResultError, number};

/// Reads every figure; missing ones stay missing and are named.
pub(super) fn read(outline: &Outline, file: &str) -> Result<PublishedResult, ResultError> {
    let [instrument_version, engine_version] =
        ["Jetstress Version", "ESE Version"].map(|name| outline.value(name).map(str::to_owned));
    let stated = instrument_version.as_deref().unwrap_or("of an unstated version");
    // Recognises Plimsoll's own results in this form.
    let own = outline.value("Plimsoll Version").map(|version| format!("{version}, by way of XML"));
    let initial = "Initial Database Size (bytes)";
    let performance_log = outline.value("Performance Log").unwrap_or_default();
    let mut result = ImportedResult {
        file: file.to_owned(),
        instrument: own.unwrap_or_else(|| format!("Jetstress {stated}")),
        engine: engine_version.as_ref().map(|version| format!("ESE {version}")),
        release: None,
        outcome: outline.value("Overall Test Result").and_then(outcome),
        started_local_ns: when::started(performance_log).or_else(|| when::started(file)),
        achieved_iops: decimal(outline, "Achieved Transactional I/O per Second")?,
        target_iops: decimal(outline, "Target Transactional I/O per Second")?,
        initial_database_bytes: number::whole(initial, outline.value(initial).unwrap_or_default())?,
        load: load::read(outline)?,
        instances: rows::instances(outline)?,
        host: rows::host(outline)?,
        checksums: rows::checksums(outline)?,
        backups: rows::backups(outline)?,
        replays: rows::replays(outline)?,
        facts: facts(outline),
        test_log: test_log(outline),
        lacks: Vec::new(),
    };
    let is_empty = result.achieved_iops.is_none()
        && result.instances.is_empty()
        && result.checksums.is_empty()
        && result.backups.is_empty()
        && result.replays.is_empty();
    if is_empty {
        return Err(ResultError::NoFigures);
    }
    let test = test_type(&result, performance_log, file);
    result.lacks = lacks(&result, test);
    Ok(PublishedResult {
        test,
        machine: owned(outline, "Machine Name"),
        operating_system: owned(outline, "Operating System"),
        description: owned(outline, "Test Description"),
        instrument_version,
        engine_version,
        result,
    })
}

fn owned(outline: &Outline, name: &str) -> String {
    outline.value(name).unwrap_or_default().to_owned()
}

fn decimal(outline: &Outline, name: &str) -> Result<Option<f64>, ResultError> {
    number::decimal(name, outline.value(name).unwrap_or_default())
}

fn outcome(text: &str) -> Option<PublishedOutcome> {
    match text.to_lowercase() {
        word if word.starts_with("pass") => Some(PublishedOutcome::Pass),
        word if word.starts_with("fail") => Some(PublishedOutcome::Fail),
        _ => None,
    }
}

fn facts(outline: &Outline) -> Vec<PublishedFact> {
    outline
        .pairs()
        .filter(|(section, ..)| !section.eq_ignore_ascii_case("test log"))
        .map(|(section, name, value)| PublishedFact {
            section: section.to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
        })
        .collect()
}

/// The log of the test; some results have its lines as rows of a table.
fn test_log(outline: &Outline) -> Vec<String> {
    let mut lines = Vec::new();
    for section in &outline.sections {
        if section.title.eq_ignore_ascii_case("test log") {
            lines.extend(section.rows.iter().map(|row| row.join(" ")));
            lines.extend(section.lines.iter().cloned());
        }
    }
    lines
}

/// The kind of test, from its results and from the file names that the instrument chose.
fn test_type(result: &ImportedResult, performance_log: &str, file: &str) -> TestType {
    let mut names = [performance_log, file].into_iter().map(when::name);
    let mut facts = result.facts.iter();
    let is_stress = names.any(|name| name.starts_with("stress_"))
        || facts.any(|fact| fact.name == "Test Type" && fact.value == "Stress");
    if !result.backups.is_empty() {
        TestType::Backup
    } else if !result.replays.is_empty() {
        TestType::Recovery
    } else if result.instances.is_empty() && result.achieved_iops.is_none() {
        TestType::Checksum
    } else if is_stress {
        TestType::Stress
    } else {
        TestType::Performance
    }
}

/// Missing figures that a reader would expect.
fn lacks(result: &ImportedResult, test: TestType) -> Vec<String> {
    let is_load = matches!(test, TestType::Performance | TestType::Stress);
    let has_transactional =
        result.instances.iter().any(|of| of.transactional.database_reads.per_second.is_some());
    [
        (result.outcome.is_none(), "an overall result"),
        (result.engine.is_none(), "the version of ESE"),
        (result.started_local_ns.is_none(), "a start time that reads one way only"),
        (is_load && result.achieved_iops.is_none(), "the achieved transactional I/O per second"),
        (is_load && !has_transactional, "a table of transactional I/O"),
        (
            is_load && result.counter("Database Page Fault Stalls/sec").is_none(),
            "page-fault stalls",
        ),
        (is_load && result.checksums.is_empty(), "a checksum pass"),
    ]
    .into_iter()
    .filter(|(is_lacking, _)| *is_lacking)
    .map(|(_, what)| what.to_owned())
    .collect()
}
