//! The report of a published result: its figures in the order in which the instrument prints them,
//! and a prominent statement that they were not measured here.

mod json;
mod tables;
pub(crate) mod words;

use record::{
    ImportedResult, PublishedInstance, PublishedOutcome, PublishedRequests, RunRecord, TestType,
};
use verdict::Verdict;

use crate::document::{Banner, Block, Document, Fact, Figure, Section, Tone};
use crate::format;
use crate::sections::{findings, summary, tone};

pub use json::imported_schema;
pub(crate) use json::render as json;

use words::{outcome_words, sentences, started};

/// The whole report of an imported result.
pub(crate) fn document(run: &RunRecord, verdict: &Verdict, imported: &ImportedResult) -> Document {
    let mut sections = vec![findings::section(run, verdict), test_summary(run, imported)];
    sections.extend(tables::sections(imported));
    let lines = imported.test_log.join("\n");
    sections.push(Section {
        id: "test-log",
        title: "Test Log",
        blocks: vec![Block::Verbatim(lines)],
    });
    let names = summary::names(&run.start);
    Document { banner: banner(run, verdict, imported), sections, names }
}

fn banner(run: &RunRecord, verdict: &Verdict, imported: &ImportedResult) -> Banner {
    let (number, number_unit, number_metric) = main_number(run, imported);
    Banner {
        subject: summary::subject(&run.start),
        started: started(run),
        verdict: outcome_words(imported, verdict),
        tone: tone(verdict.outcome),
        number,
        number_unit: number_unit.into(),
        number_metric,
        meaning: sentences(run, imported),
        figures: figures(imported),
    }
}

fn main_number(run: &RunRecord, imported: &ImportedResult) -> (String, &'static str, &'static str) {
    let (value, unit, metric) = match run.start.test {
        TestType::Backup => (imported.backup_mib_per_second(), "MiB/s", "checksum-rate"),
        TestType::Recovery => (tables::seconds_per_log(imported), "s per log file", "replay-time"),
        TestType::Performance | TestType::Stress | TestType::Checksum => {
            let iops = imported.transactional_iops();
            (iops, "transactional IOPS", "achieved-transactional-iops")
        }
    };
    (value.map_or_else(|| "no".to_owned(), format::three_digits), unit, metric)
}

fn figures(imported: &ImportedResult) -> Vec<Figure> {
    let reads = imported.all(PublishedInstance::database_reads);
    let reads = latency_figure("Database reads", "database-reads-latency", &reads);
    let log_writes = imported.all(PublishedInstance::log_writes);
    let log_writes = latency_figure("Log writes", "log-writes-latency", &log_writes);
    reads.into_iter().chain(log_writes).collect()
}

fn latency_figure(
    label: &'static str,
    metric: &'static str,
    of: &PublishedRequests,
) -> Option<Figure> {
    let value = format::latency(of.latency_ms? * 1e6);
    let remark = "as published, the plain mean over databases".to_owned();
    Some(Figure { label, metric, value, remark, tone: Tone::Plain })
}

fn test_summary(run: &RunRecord, imported: &ImportedResult) -> Section {
    let start = &run.start;
    let published = imported.outcome.map(PublishedOutcome::name);
    let facts = vec![
        Fact::metric("Published Outcome", "published-outcome", or_not(published)),
        Fact::metric("Imported From", "imported", &imported.file),
        Fact::new("Test Type", start.test.name()),
        Fact::new("Machine Name", or_not(Some(&start.machine.name))),
        Fact::new("Test Description", or_not(Some(&start.description))),
        Fact::new("Test Start Time", started(run)),
        Fact::new("Instrument", &imported.instrument),
        Fact::new("Database Engine", or_not(imported.engine.as_deref())),
        Fact::new("Release of Exchange", or_not(imported.release.as_deref())),
        Fact::new("Operating System", or_not(Some(&start.machine.operating_system))),
        Fact::new("Imported By", &start.build),
        Fact::metric("Record Seal", "record-intact", summary::seal(run)),
    ];
    Section { id: "test-summary", title: "Test Summary", blocks: vec![Block::Facts(facts)] }
}

fn or_not(text: Option<&str>) -> String {
    match text {
        None | Some("") => "not stated".to_owned(),
        Some(text) => text.to_owned(),
    }
}
