//! Verdict on a published result. Its averages are compared with the limits again; rules that need
//! intervals cannot be applied, so it never passes: it fails, or it cannot be judged.

use record::{
    ImportedResult, PublishedInstance, PublishedOutcome, PublishedRequests, RunRecord, TestType,
};

use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit, Verdict, rules};

const STALLS: &str = "Database Page Fault Stalls/sec";

/// Judges a result that was not measured here.
pub(crate) fn judge(run: &RunRecord, imported: &ImportedResult) -> Verdict {
    let mut findings: Vec<Finding> = rules::intact(run).into_iter().collect();
    let is_intact = findings.iter().all(|finding| finding.outcome == Ruling::Pass);
    findings.extend([measured_elsewhere(imported), published(imported)]);
    if matches!(run.start.test, TestType::Performance | TestType::Stress) {
        findings.extend(of_load(run, imported));
    }
    findings.extend(checksums(imported));
    let has_failed = findings.iter().any(|finding| finding.outcome == Ruling::Fail);
    let outcome = if is_intact && has_failed { Ruling::Fail } else { Ruling::CannotJudge };
    if !is_intact {
        crate::withdraw_failures(&mut findings);
    }
    Verdict { outcome, findings }
}

fn finding(rule: &'static str, title: &'static str, outcome: Ruling) -> Finding {
    Finding {
        rule,
        title,
        kind: Kind::Load,
        outcome,
        measured: None,
        limit: None,
        unit: Unit::None,
        evidence: Vec::new(),
    }
}

/// The finding that keeps an imported result from passing.
fn measured_elsewhere(imported: &ImportedResult) -> Finding {
    let evidence = Evidence::of_run(format!(
        "{} measured it, and its file {} states averages alone: no intervals, no percentiles, no \
         longest request",
        imported.instrument, imported.file
    ));
    let finding = finding("imported", "Imported, not measured here", Ruling::CannotJudge);
    Finding { kind: Kind::Validity, evidence: vec![evidence], ..finding }
}

/// The instrument's own verdict.
fn published(imported: &ImportedResult) -> Finding {
    let (outcome, said) = match imported.outcome {
        Some(PublishedOutcome::Pass) => (Ruling::Pass, "the file says Pass"),
        Some(PublishedOutcome::Fail) => (Ruling::Fail, "the file says Fail"),
        None => (Ruling::CannotJudge, "the file does not say"),
    };
    let finding = finding("published-outcome", "Published outcome", outcome);
    Finding { evidence: vec![Evidence::of_run(said)], ..finding }
}

/// The rules of a load for which an average suffices.
fn of_load(run: &RunRecord, imported: &ImportedResult) -> [Finding; 3] {
    let limits = &run.start.settings.thresholds;
    [
        held(
            (
                "read-latency-average",
                "Database read latency, mean of the worst database",
                Unit::Milliseconds,
            ),
            limits.read_average_ns as f64 / 1e6,
            latencies(imported, PublishedInstance::database_reads),
        ),
        held(
            (
                "log-write-latency-average",
                "Log write latency, mean of the worst database",
                Unit::Milliseconds,
            ),
            limits.log_write_average_ns as f64 / 1e6,
            latencies(imported, PublishedInstance::log_writes),
        ),
        held(
            ("page-fault-stalls", "Page-fault stalls, average", Unit::PerSecond),
            limits.page_fault_stalls_per_second,
            vec![(String::new(), imported.counter(STALLS))],
        ),
    ]
}

/// Mean latencies of one kind of request, by database.
fn latencies(
    imported: &ImportedResult,
    of: fn(&PublishedInstance) -> PublishedRequests,
) -> Vec<(String, Option<f64>)> {
    imported.instances.iter().map(|row| (row.name.clone(), of(row).latency_ms)).collect()
}

/// Checks the largest of `values` against a limit; if one is missing, the others can fail but not
/// pass.
fn held(
    (rule, title, unit): (&'static str, &'static str, Unit),
    limit: f64,
    values: Vec<(String, Option<f64>)>,
) -> Finding {
    let silence = match values.len() {
        1 => "the file does not state it",
        _ => "the file does not state it of every database",
    };
    let is_whole = !values.is_empty() && values.iter().all(|(_, value)| value.is_some());
    let stated = values.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let worst = stated.max_by(|(_, one), (_, other)| one.total_cmp(other));
    let limit = Limit::AtMost(limit);
    let is_over = worst.as_ref().is_some_and(|(_, value)| !limit.admits(*value));
    let mut evidence = Vec::new();
    if !is_whole && !is_over {
        evidence.push(Evidence::of_run(silence));
    }
    if let Some((name, _)) = worst.as_ref().filter(|(name, _)| !name.is_empty()) {
        evidence.push(Evidence::of_run(format!("{name}, as published")));
    }
    if !is_whole && is_over {
        evidence.push(Evidence::of_run(silence));
    }
    let outcome = match (is_over, is_whole) {
        (true, _) => Ruling::Fail,
        (false, true) => Ruling::Pass,
        (false, false) => Ruling::CannotJudge,
    };
    let measured = worst.map(|(_, value)| value);
    let limit = Some(limit);
    // The worst stated value says nothing about missing ones.
    let measured = measured.filter(|_| outcome != Ruling::CannotJudge);
    Finding { measured, limit, unit, evidence, ..finding(rule, title, outcome) }
}

/// Damaged pages, if the result includes a checksum pass.
fn checksums(imported: &ImportedResult) -> Option<Finding> {
    if imported.checksums.is_empty() {
        return None;
    }
    let damaged = imported.checksums.iter().map(|of| {
        let counts = [of.bad_pages, of.correctable_pages, of.wrong_page_number_pages];
        let total = counts.into_iter().sum::<Option<u64>>();
        (of.database.clone(), total.map(|pages| pages as f64))
    });
    let found = held(("checksums", "Damaged pages", Unit::Pages), 0.0, damaged.collect());
    Some(Finding { kind: Kind::Damage, ..found })
}

#[cfg(test)]
mod tests;
