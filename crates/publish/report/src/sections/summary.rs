//! The answer at the top, and the facts of the run: "Test Summary" in a Jetstress report.

use std::borrow::Cow;

use record::{Checksum, Phase, RunRecord, Seal, Series, Start};
use verdict::{Finding, Ruling, Unit, Verdict};

use super::{spans_of, tone, wall_clock};
use crate::document::{Banner, Block, Cell, Fact, Figure, Section, Tone};
use crate::mailboxes::Carried;
use crate::{format, listed, meaning, passes, simulated};

/// Top of the report.
pub(crate) fn banner(run: &RunRecord, verdict: &Verdict) -> Banner {
    let (number, number_unit, number_metric) = main_number(run);
    Banner {
        subject: subject(&run.start),
        started: format::started(&run.start),
        verdict: listed::verdict_name(run, verdict),
        tone: listed::tone_of(run, verdict),
        number,
        number_unit,
        number_metric,
        meaning: meaning::sentences(run, verdict),
        figures: figures(run, verdict),
    }
}

/// Name, machine and description, if present.
pub fn subject(start: &Start) -> String {
    let machine = &start.machine.name;
    let named = match start.name.as_str() {
        "" => machine.clone(),
        name => match &start.simulated {
            Some(simulation) => {
                format!("{name}, simulated on {}", simulated::arrays_of(start, simulation))
            }
            None => format!("{name} on {machine}"),
        },
    };
    if start.description.is_empty() {
        return named;
    }
    format!("{named} - {}", start.description)
}

/// The texts that users gave a run.
pub(crate) fn names(start: &Start) -> Vec<String> {
    let own = [&start.name, &start.description, &start.machine.name].map(String::clone);
    [&own[..], &start.tags].concat()
}

/// The main number of this kind of test, with its unit and its glossary entry.
pub(crate) fn main_number(run: &RunRecord) -> (String, Cow<'static, str>, &'static str) {
    let (number, unit, metric) = measured_number(run);
    match number {
        Some(number) => (format::three_digits(number), unit.into(), metric),
        None => ("no".to_owned(), missing_number(run), metric),
    }
}

/// The words after "no" in place of the main number.
fn missing_number(run: &RunRecord) -> Cow<'static, str> {
    missing_rate(run).map_or(Cow::Borrowed("result"), Cow::Owned)
}

/// Why a load that was measured has no rate.
fn missing_rate(run: &RunRecord) -> Option<String> {
    let span_ns = run.span_ns(Phase::Measure);
    let is_too_short = span_ns > 0 && listed::rate(run).is_none();
    is_too_short.then(|| format!("rate: measured for {}", format::latency(span_ns as f64)))
}

/// The same; without a number if too little was measured.
fn measured_number(run: &RunRecord) -> (Option<f64>, &'static str, &'static str) {
    if let Some(pass) = passes::judged(run) {
        return (Checksum::together(pass).mib_per_second(), "MiB/s", "checksum-rate");
    }
    if let Some(replays) = passes::replays(run) {
        return (passes::seconds_per_log(replays), "s per log file", "replay-time");
    }
    (listed::rate(run), "transactional IOPS", "achieved-transactional-iops")
}

/// The main number with its unit, as a cell of a table of several tests.
pub(crate) fn result(run: &RunRecord) -> String {
    match measured_number(run) {
        (Some(number), unit, _) => format!("{} {unit}", format::three_digits(number)),
        (None, ..) => missing_rate(run)
            .map_or_else(|| "not measured".to_owned(), |missing| format!("no {missing}")),
    }
}

fn figures(run: &RunRecord, verdict: &Verdict) -> Vec<Figure> {
    let thresholds = &run.start.settings.thresholds;
    let reads = LatencyFigure {
        label: "Database reads",
        metric: "database-reads-latency",
        rule: "read-latency-average",
        series: Series::DatabaseRead,
        limit_ns: thresholds.read_average_ns,
    };
    let log_writes = LatencyFigure {
        label: "Log writes",
        metric: "log-writes-latency",
        rule: "log-write-latency-average",
        series: Series::LogWrite,
        limit_ns: thresholds.log_write_average_ns,
    };
    [
        reads.figure(run, verdict),
        log_writes.figure(run, verdict),
        mailboxes(run, verdict),
        damaged_pages(run, verdict),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A mean latency of the measurement, and the rule that judges it.
struct LatencyFigure {
    label: &'static str,
    metric: &'static str,
    rule: &'static str,
    series: Series,
    limit_ns: u64,
}

impl LatencyFigure {
    /// The figure; `None` for tests that judge no load, such as a recovery, whose load only
    /// generates logs.
    fn figure(&self, run: &RunRecord, verdict: &Verdict) -> Option<Figure> {
        if !passes::is_of_load(run) {
            return None;
        }
        let total = run.sum_of(Phase::Measure).series.remove(&self.series)?;
        let summary = total.latency.summary();
        let value = format::latency(summary.mean_ns);
        let slowest = self.slowest(verdict).filter(|slowest| *slowest != value);
        let slowest = slowest.map(|slowest| format!("slowest database {slowest}, "));
        Some(Figure {
            label: self.label,
            metric: self.metric,
            value,
            remark: format!(
                "99 % within {}; {}limit {} on average",
                format::latency(summary.p99_ns as f64),
                slowest.unwrap_or_default(),
                format::latency(self.limit_ns as f64)
            ),
            tone: tone_of(verdict, self.rule),
        })
    }

    /// The mean that was judged: the limit applies to each database separately.
    fn slowest(&self, verdict: &Verdict) -> Option<String> {
        let finding = find(verdict, self.rule).filter(|of| of.unit == Unit::Milliseconds)?;
        Some(meaning::quantity_beside(finding.measured?, finding.limit?, finding.unit))
    }
}

/// The mailboxes, only if the plan states the demand of each; a load that did not pass supports
/// none, and a test without a load says nothing about them.
fn mailboxes(run: &RunRecord, verdict: &Verdict) -> Option<Figure> {
    run.start.settings.iops_per_mailbox?;
    let is_measured = passes::is_of_load(run) && run.span_ns(Phase::Measure) > 0;
    let is_carried = is_measured && verdict.exit_code() == 0;
    let carried = is_carried.then(|| Carried::of(run))?;
    Some(Figure {
        label: "Mailboxes",
        metric: "mailboxes-carried",
        value: format::number(carried.least(), 0),
        remark: carried.remark(),
        tone: Tone::Plain,
    })
}

fn damaged_pages(run: &RunRecord, verdict: &Verdict) -> Option<Figure> {
    let finding = find(verdict, "checksums")?;
    let all = run.checksums.iter().chain(&run.backups).chain(&run.copy_checksums);
    let seen: u64 = all.map(|of| of.seen_pages).sum();
    let (value, remark) = match finding.measured {
        Some(pages) => (format::number(pages, 0), format!("of {} seen", format::whole(seen))),
        None if seen == 0 => ("not checked".to_owned(), String::new()),
        None => ("not all read".to_owned(), format!("{} seen, none damaged", format::whole(seen))),
    };
    Some(Figure {
        label: "Damaged pages",
        metric: "checksums",
        value,
        remark,
        tone: tone(finding.outcome),
    })
}

fn find<'a>(verdict: &'a Verdict, rule: &str) -> Option<&'a Finding> {
    verdict.findings.iter().find(|finding| finding.rule == rule)
}

/// Highlights a number only if it misses its limit.
fn tone_of(verdict: &Verdict, rule: &str) -> Tone {
    match find(verdict, rule).map(|finding| finding.outcome) {
        Some(Ruling::Pass) | None => Tone::Plain,
        Some(outcome) => tone(outcome),
    }
}

/// The facts of the run.
pub(crate) fn section(run: &RunRecord, verdict: &Verdict) -> Section {
    let start = &run.start;
    let result = Fact {
        label: "Overall Test Result",
        metric: None,
        value: Cell::plain(listed::verdict_name(run, verdict)).toned(listed::tone_of(run, verdict)),
    };
    let begin = spans_of(run, Phase::Measure).next().map(|span| wall_clock(run, span.from_ns));
    let end = spans_of(run, Phase::Measure).last().and_then(|span| span.to_ns);
    let machine = &start.machine;
    let hardware = format!(
        "{}, {} processors, {}",
        machine.processor,
        machine.logical_processors,
        format::size(machine.memory_bytes)
    );
    let mut facts = vec![
        result,
        Fact::new("Run Name", or_none(&start.name)),
        Fact::new("Tags", or_none(&start.tags.join(", "))),
        Fact::new("Test Type", start.test.name()),
        Fact::new("Machine Name", &machine.name),
        Fact::new("Machine", hardware),
        Fact::new("Test Description", &start.description),
        Fact::new("Test Start Time", format::started(start)),
        Fact::new("Test End Time", test_end(run)),
        Fact::new("Collection Start Time", or_not_reached(begin)),
        Fact::new("Collection End Time", or_not_reached(end.map(|at_ns| wall_clock(run, at_ns)))),
        Fact::new("Plimsoll Version", &start.build),
        Fact::new("Database Format", &start.database_format),
        Fact::new("Operating System", &machine.operating_system),
        Fact::new("Requests Through", &machine.input_output),
        Fact::new("Seed", format!("{:#018x}", start.seed)),
        Fact::new("Performance Log", BESIDE),
        Fact::metric("Record Seal", "record-intact", seal(run)),
    ];
    facts.extend(run.breaks.iter().map(|one| {
        let (from, to) = (wall_clock(run, one.from_ns), wall_clock(run, one.to_ns));
        Fact::metric("Cut Off And Resumed", "resumed", format!("known until {from}, on from {to}"))
    }));
    Section { id: "test-summary", title: "Test Summary", blocks: vec![Block::Facts(facts)] }
}

/// The journal of a run, in the report of that run.
pub(crate) const BESIDE: &str = "record.jsonl, beside this report";

pub(crate) fn seal(run: &RunRecord) -> String {
    match run.seal {
        Seal::Unsealed => "unsealed: its lines carry no hashes".to_owned(),
        Seal::Whole { end } => end.to_string(),
        Seal::Altered { line } => format!("ALTERED after it was written, from line {line} on"),
    }
}

fn test_end(run: &RunRecord) -> String {
    match &run.finished {
        Some(finished) if finished.interrupted => {
            format!("{} (interrupted)", wall_clock(run, finished.at_ns))
        }
        Some(finished) => wall_clock(run, finished.at_ns),
        None => "unknown: the record ends without an end".to_owned(),
    }
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}

fn or_not_reached(time: Option<String>) -> String {
    time.unwrap_or_else(|| "not reached".to_owned())
}
