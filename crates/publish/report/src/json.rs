//! The machine-readable report. Its types are the schema and are separate from the record's on
//! purpose: the record may grow without breaking consumers.

use std::collections::BTreeMap;

use record::{
    Gauges, HostSample, IntervalCounters, Issue, Phase, PhaseTotals, ProcessorShares, RunRecord,
    Seal, Series, Summary, Unanswered,
};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use verdict::{Finding, Limit, Ruling, Verdict};

use crate::contract::written;
use crate::format::as_milliseconds;
use crate::listed::verdict_name;
use crate::mailboxes::Carried;
use crate::sections::findings::asked_for;
use crate::{format, listed, meaning, next, passes};

/// Version of the schema, incremented when a member changes its meaning or is removed.
pub(crate) const SCHEMA: u32 = 2;

#[derive(JsonSchema, Serialize)]
pub(crate) struct JsonReport<'a> {
    schema: u32,
    kind: &'static str,
    /// `null` for one host of a simulated deployment, which is not judged alone.
    verdict: Option<&'static str>,
    headline: String,
    simulated: Option<&'a record::Simulation>,
    exit_code: u8,
    meaning: Vec<String>,
    next_steps: Vec<String>,
    achieved_transactional_iops: f64,
    mailboxes_carried: Option<f64>,
    mailboxes_at_measured_load: Option<f64>,
    mailboxes_with_room: Option<f64>,
    measured_seconds: f64,
    findings: Vec<FindingPart>,
    storage: Vec<crate::storage::StoragePart<'a>>,
    run: RunPart<'a>,
    databases: Vec<DatabasePart<'a>>,
    sum: PhasePart,
    flash_cache: Option<record::FlashCacheInterval>,
    checksums: &'a [record::Checksum],
    backups: &'a [record::Checksum],
    backup_copies: &'a [record::BackupCopy],
    copy_checksums: &'a [record::Checksum],
    replays: &'a [record::Replay],
    seconds_per_log: Option<f64>,
    issues: &'a [Issue],
    further_errors: &'a [record::FurtherErrors],
    intervals: Vec<IntervalPart>,
    log: &'a [record::LogLine],
}

#[derive(JsonSchema, Serialize)]
pub(crate) struct FindingPart {
    rule: &'static str,
    title: &'static str,
    outcome: &'static str,
    measured: Option<f64>,
    limit: Option<f64>,
    limit_kind: Option<&'static str>,
    asked_for: Option<f64>,
    unit: &'static str,
    evidence: Vec<String>,
}

#[derive(JsonSchema, Serialize)]
struct RunPart<'a> {
    build: &'a str,
    database_format: &'a str,
    name: &'a str,
    tags: &'a [String],
    started: Option<String>,
    /// Text, because JavaScript would round such a number.
    started_epoch_ns: String,
    ended: Option<String>,
    ended_ns: Option<u64>,
    interrupted: bool,
    seed: String,
    test: record::TestType,
    description: &'a str,
    machine: &'a record::Machine,
    settings: &'a record::Settings,
    tuned: Option<record::Tuned>,
    breaks: Vec<BreakPart>,
    processors_before: Option<&'a ProcessorShares>,
    plan_text: &'a str,
    seal: &'static str,
    seal_hash: Option<String>,
}

#[derive(JsonSchema, Serialize)]
struct BreakPart {
    from_ns: u64,
    to_ns: u64,
}

#[derive(JsonSchema, Serialize)]
struct DatabasePart<'a> {
    #[serde(flatten)]
    facts: &'a record::DatabaseFacts,
    measure: Option<PhasePart>,
    check: Option<PhasePart>,
    backup: Option<PhasePart>,
    recover: Option<PhasePart>,
}

#[derive(JsonSchema, Serialize)]
struct PhasePart {
    seconds: f64,
    transactional_iops: f64,
    series: BTreeMap<Series, SeriesPart>,
    counters: IntervalCounters,
    gauges: Gauges,
}

#[derive(JsonSchema, Serialize)]
struct SeriesPart {
    count: u64,
    errors: u64,
    per_second: f64,
    average_bytes: f64,
    average_ms: f64,
    p50_ms: f64,
    p90_ms: f64,
    p99_ms: f64,
    p999_ms: f64,
    maximum_ms: f64,
    waiting: u64,
    oldest_waiting_ms: f64,
    stalled_ms: f64,
}

#[derive(JsonSchema, Serialize)]
struct IntervalPart {
    phase: Phase,
    from_ns: u64,
    to_ns: u64,
    transactional_iops: f64,
    series: BTreeMap<Series, SeriesPart>,
    page_fault_stalls: u64,
    is_left_out: bool,
    host: Option<HostSample>,
    processors: Option<ProcessorShares>,
    flash_cache: Option<record::FlashCacheInterval>,
}

/// JSON Schema (draft 2020-12) of the report of a run, generated from the types that are
/// serialised.
pub fn report_schema() -> serde_json::Value {
    schema_of::<JsonReport<'static>>("The report of a Plimsoll run")
}

/// JSON Schema of the serialised form of `T`.
pub(crate) fn schema_of<T: JsonSchema>(title: &str) -> serde_json::Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema.into()
}

/// The JSON of the report of a run that was measured or simulated here.
pub(crate) fn render(run: &RunRecord, verdict: &Verdict) -> String {
    written(&whole(run, verdict))
}

/// The whole report as a value.
pub(crate) fn whole<'a>(run: &'a RunRecord, verdict: &Verdict) -> JsonReport<'a> {
    let is_measured = passes::is_of_load(run) && run.span_ns(Phase::Measure) > 0;
    let carried = is_measured.then(|| Carried::of(run));
    JsonReport {
        schema: SCHEMA,
        kind: "report",
        verdict: (!run.is_host_of_deployment()).then(|| verdict_of(run, verdict)),
        headline: verdict_name(run, verdict),
        simulated: run.simulated(),
        exit_code: verdict.exit_code(),
        meaning: meaning::sentences(run, verdict),
        next_steps: next::steps(run, verdict),
        achieved_transactional_iops: listed::rate(run).unwrap_or(0.0),
        mailboxes_carried: carried.filter(|_| verdict.exit_code() == 0).map(|of| of.least()),
        mailboxes_at_measured_load: carried.map(|of| of.by_io),
        mailboxes_with_room: Carried::of(run).by_space,
        measured_seconds: run.span_ns(Phase::Measure) as f64 / 1e9,
        findings: verdict.findings.iter().map(|of| finding_part(run, of)).collect(),
        storage: crate::storage::parts(&run.start.storage),
        run: run_part(run),
        databases: run.start.databases.iter().map(|of| database_part(run, of)).collect(),
        sum: phase_part(&run.sum_of(Phase::Measure)),
        flash_cache: run.flash_cache_of(Phase::Measure),
        checksums: &run.checksums,
        backups: &run.backups,
        backup_copies: &run.backup_copies,
        copy_checksums: &run.copy_checksums,
        replays: &run.replays,
        seconds_per_log: passes::seconds_per_log(&run.replays),
        issues: &run.issues,
        further_errors: &run.further_errors,
        intervals: run.intervals.iter().map(interval_part).collect(),
        log: &run.log,
    }
}

fn run_part(run: &RunRecord) -> RunPart<'_> {
    let start = &run.start;
    RunPart {
        build: &start.build,
        database_format: &start.database_format,
        name: &start.name,
        tags: &start.tags,
        started: format::iso_time(start.started_epoch_ns),
        started_epoch_ns: start.started_epoch_ns.to_string(),
        ended: run.finished.as_ref().and_then(|finished| {
            format::iso_time(start.started_epoch_ns.saturating_add(finished.at_ns))
        }),
        ended_ns: run.finished.as_ref().map(|finished| finished.at_ns),
        interrupted: run.finished.as_ref().is_none_or(|finished| finished.interrupted),
        seed: format!("{:#018x}", start.seed),
        test: start.test,
        description: &start.description,
        machine: &start.machine,
        settings: &start.settings,
        tuned: run.tuned,
        breaks: run.breaks.iter().map(break_part).collect(),
        processors_before: start.processors_before.as_ref(),
        plan_text: &start.plan_text,
        seal: match run.seal {
            Seal::Unsealed => "unsealed",
            Seal::Whole { .. } => "whole",
            Seal::Altered { .. } => "altered",
        },
        seal_hash: match run.seal {
            Seal::Whole { end } => Some(end.to_string()),
            Seal::Unsealed | Seal::Altered { .. } => None,
        },
    }
}

/// The verdict. A simulated run has different words, so that no script mistakes it for a measured
/// one.
pub fn verdict_of(run: &RunRecord, verdict: &Verdict) -> &'static str {
    match (run.simulated(), verdict.outcome) {
        (None, outcome) => outcome_name(outcome),
        (Some(_), Ruling::Pass | Ruling::Warn) => "simulated_pass",
        (Some(_), Ruling::Fail) => "simulated_fail",
        (Some(_), Ruling::CannotJudge) => "simulated_cannot_judge",
    }
}

/// The word for an outcome in machine-readable answers.
pub const fn outcome_name(outcome: Ruling) -> &'static str {
    match outcome {
        Ruling::Pass => "pass",
        Ruling::Warn => "warning",
        Ruling::Fail => "fail",
        Ruling::CannotJudge => "cannot_judge",
    }
}

const fn break_part(one: &record::Break) -> BreakPart {
    BreakPart { from_ns: one.from_ns, to_ns: one.to_ns }
}

pub(crate) fn finding_part(run: &RunRecord, finding: &Finding) -> FindingPart {
    let evidence = finding.evidence.iter();
    FindingPart {
        rule: finding.rule,
        title: finding.title,
        outcome: outcome_name(finding.outcome),
        measured: finding.measured,
        limit: finding.limit.map(Limit::value),
        limit_kind: finding.limit.map(|limit| match limit {
            Limit::AtMost(_) => "at_most",
            Limit::AtLeast(_) => "at_least",
        }),
        asked_for: asked_for(finding, &run.start.settings.thresholds),
        unit: finding.unit.symbol(),
        evidence: evidence.map(|of| meaning::describe(run, of)).collect(),
    }
}

fn database_part<'a>(run: &RunRecord, facts: &'a record::DatabaseFacts) -> DatabasePart<'a> {
    DatabasePart {
        facts,
        measure: run.totals_of(Phase::Measure, facts.index).map(phase_part),
        check: run.totals_of(Phase::Check, facts.index).map(phase_part),
        backup: run.totals_of(Phase::Backup, facts.index).map(phase_part),
        recover: run.totals_of(Phase::Recover, facts.index).map(phase_part),
    }
}

fn phase_part(totals: &PhaseTotals) -> PhasePart {
    let series = totals.series.iter().map(|(&series, total)| {
        let mut part = series_part(&total.latency.summary(), total.bytes, totals.span_ns);
        part.errors = total.errors;
        part.tell_unanswered(total.unanswered);
        (series, part)
    });
    PhasePart {
        seconds: totals.span_ns as f64 / 1e9,
        transactional_iops: totals.transactional_iops(),
        series: series.collect(),
        counters: totals.counters,
        gauges: totals.gauges,
    }
}

impl SeriesPart {
    fn tell_unanswered(&mut self, unanswered: Unanswered) {
        self.waiting = unanswered.waiting;
        self.oldest_waiting_ms = as_milliseconds(unanswered.oldest_ns);
        self.stalled_ms = as_milliseconds(unanswered.stalled_ns);
    }
}

fn series_part(summary: &Summary, bytes: u64, span_ns: u64) -> SeriesPart {
    SeriesPart {
        count: summary.count,
        errors: 0,
        per_second: per(summary.count as f64 * 1e9, span_ns),
        average_bytes: per(bytes as f64, summary.count),
        average_ms: summary.mean_ns / 1e6,
        p50_ms: as_milliseconds(summary.p50_ns),
        p90_ms: as_milliseconds(summary.p90_ns),
        p99_ms: as_milliseconds(summary.p99_ns),
        p999_ms: as_milliseconds(summary.p999_ns),
        maximum_ms: as_milliseconds(summary.maximum_ns),
        waiting: 0,
        oldest_waiting_ms: 0.0,
        stalled_ms: 0.0,
    }
}

/// 0 if the divisor is 0.
fn per(value: f64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { value / of as f64 }
}

fn interval_part(row: &record::IntervalRow) -> IntervalPart {
    let series = row.series.iter().map(|(&series, part)| {
        let mut of_series = series_part(&part.latency, part.bytes, row.span_ns());
        of_series.errors = part.errors;
        of_series.tell_unanswered(part.unanswered);
        (series, of_series)
    });
    IntervalPart {
        phase: row.phase,
        from_ns: row.from_ns,
        to_ns: row.to_ns,
        transactional_iops: row.per_second(Series::DatabaseRead)
            + row.per_second(Series::DatabaseWrite),
        series: series.collect(),
        page_fault_stalls: row.databases.iter().map(|of| of.counters.page_fault_stalls).sum(),
        is_left_out: row.is_left_out,
        host: row.host,
        processors: row.processors.clone(),
        flash_cache: row.flash_cache.clone(),
    }
}
