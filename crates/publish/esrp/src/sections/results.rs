//! Results of the tests: reliability, and the three tables of results.

use record::{Phase, PublishedRequests, ServerBackup, ServerLoad, ServerReplay};
use report::format;

use super::conclusion;
use crate::TestedRun;
use crate::paper::{Chapter, Content, PaperTable, Wanted, Words};
use crate::roles::{Server, measured_ns};
use crate::vendor::Vendor;

/// Shorter work is stated to a tenth of a second, as in the report of its test.
const A_MINUTE_NS: u64 = 60_000_000_000;

/// Load duration by which papers prove reliability.
pub(super) const A_DAY_NS: u64 = 24 * 3_600 * 1_000_000_000;
/// Length of a load test.
pub(super) const TWO_HOURS_NS: u64 = 2 * 3_600 * 1_000_000_000;

fn content(servers: &[Server<'_>], vendor: &Vendor) -> Vec<Content> {
    let mut content =
        vec![super::said("The appendices hold the report of each test."), tests(servers)];
    content.extend(at_the_same_time(servers).into_iter().map(super::said));
    content.push(Content::Heading("Reliability".to_owned()));
    content.extend(servers.iter().map(|server| Content::Paragraph(reliability(server))));
    content.push(Content::Heading("Storage Performance Results".to_owned()));
    content.push(performance(servers));
    let facts = servers.iter().flat_map(|server| conclusion::facts(server, vendor));
    content.extend(facts.map(|fact| super::said(sentence(&fact))));
    content.push(Content::Heading("Database Read-Only Performance".to_owned()));
    content.push(backup(servers));
    content.push(Content::Heading("Log Recovery and Replay".to_owned()));
    content.push(replay(servers));
    content
}

/// A fact as a sentence; a server name at its beginning keeps its case.
fn sentence(fact: &str) -> String {
    fact.strip_prefix("the ").map_or_else(|| format!("{fact}."), |rest| format!("The {rest}."))
}

pub(super) fn chapter(servers: &[Server<'_>], vendor: &Vendor) -> Chapter {
    super::chapter("results", "Test Result Summary", content(servers, vendor))
}

/// Every test and its result, failures included.
fn tests(servers: &[Server<'_>]) -> Content {
    let mut rows = Vec::new();
    for server in servers {
        for (test, run) in server.tests() {
            let started = report::started_ns(&run.record).map(format::timestamp);
            let row = [
                server.name.clone(),
                test.name().to_owned(),
                started.unwrap_or_else(|| "not stated".to_owned()),
                length(run),
                report::verdict_name(&run.record, &run.verdict),
            ];
            rows.push(row.map(Words::Said).to_vec());
        }
    }
    Content::Table(PaperTable {
        caption: "The tests".to_owned(),
        head: vec!["Server", "Test", "Started", "Measured", "Outcome"],
        rows,
    })
}

/// Sentences on which tests ran on one volume at the same time.
fn at_the_same_time(servers: &[Server<'_>]) -> Vec<String> {
    let (mut names, mut records) = (Vec::new(), Vec::new());
    for server in servers {
        for (test, run) in server.tests() {
            names.push(format!("the {} of {}", test.name().to_lowercase(), server.name));
            records.push(&run.record);
        }
    }
    verdict::overlaps(&records)
        .iter()
        .map(|overlap| format!("NOTE: {}.", overlap.words(|at| names[at].clone())))
        .collect()
}

fn length(run: &TestedRun) -> String {
    let work = [Phase::Backup, Phase::Recover, Phase::Check];
    let mut lasted = work.into_iter().map(|phase| run.record.span_ns(phase)).filter(|&ns| ns > 0);
    match (measured_ns(run), lasted.next()) {
        (0, None) => "not stated".to_owned(),
        (0, Some(ns)) => time_of_work(ns),
        (ns, _) => format::duration(ns),
    }
}

fn time_of_work(ns: u64) -> String {
    if ns < A_MINUTE_NS {
        return format!("{} s", format::number(ns as f64 / 1e9, 1));
    }
    format::duration(ns)
}

/// The result of a day of load, or why a shorter one was measured.
fn reliability(server: &Server<'_>) -> Words {
    let Some(run) = server.reliability else {
        return Words::Missing {
            what: "the proof of reliability",
            wanted: Wanted::Test("stress test, 24 hours"),
        };
    };
    let record = &run.record;
    let lasted = match measured_ns(run) {
        0 => "for a time that its record does not state".to_owned(),
        ns if ns < A_DAY_NS => {
            format!("for {}, LESS than the 24 hours that papers ask for", format::duration(ns))
        }
        ns => format!("for {}", format::duration(ns)),
    };
    let errors = record.issues.iter().filter(|issue| issue.severity == record::Severity::Error);
    let errors = errors.count() as u64 + record.further_error_count();
    let events = match (record.imported(), errors) {
        (Some(_), _) => "its result lists no events of the storage".to_owned(),
        (None, 0) => "no error of the storage was recorded".to_owned(),
        (None, 1) => "one error of the storage was recorded".to_owned(),
        (None, count) => format!("{count} errors of the storage were recorded"),
    };
    Words::said(format!(
        "{}: the load was measured {lasted}; {events}. {} The outcome is {}.",
        server.name,
        checksums(run),
        report::verdict_name(record, &run.verdict)
    ))
}

fn checksums(run: &TestedRun) -> String {
    let (mut seen, mut wrong) = (0, 0);
    for of in run.record.imported().map_or(&[][..], |imported| &imported.checksums) {
        seen += of.seen_pages.unwrap_or(0);
        wrong += of.bad_pages.unwrap_or(0) + of.wrong_page_number_pages.unwrap_or(0);
    }
    for of in &run.record.checksums {
        seen += of.seen_pages;
        wrong += of.bad_pages + of.wrong_page_number_pages + of.lost_flush_pages;
    }
    match seen {
        0 => "Its checksums were not verified.".to_owned(),
        seen => format!(
            "Afterwards {} pages were read, and {} were damaged, lost or another page.",
            format::whole(seen),
            format::whole(wrong)
        ),
    }
}

/// The seven figures of a load, in the order of the papers.
fn load_cells(load: &ServerLoad, wanted: Wanted) -> Vec<Words> {
    vec![
        measured(load.transfers_per_second, wanted),
        measured(load.reads.per_second, wanted),
        measured(load.writes.per_second, wanted),
        latency(&load.reads, wanted),
        latency(&load.writes, wanted),
        measured(load.log_writes.per_second, wanted),
        latency(&load.log_writes, wanted),
    ]
}

/// A latency, which requests that were never made do not have: no test would fill the gap.
fn latency(requests: &PublishedRequests, wanted: Wanted) -> Words {
    match requests {
        PublishedRequests { per_second: Some(0.0), latency_ms: None, .. } => {
            Words::said("none made")
        }
        PublishedRequests { latency_ms, .. } => measured(*latency_ms, wanted),
    }
}

const LOAD_HEAD: [&str; 8] = [
    "Server",
    "Database disk transfers/s",
    "Database disk reads/s",
    "Database disk writes/s",
    "Average read latency (ms)",
    "Average write latency (ms)",
    "Log disk writes/s",
    "Average log write latency (ms)",
];

fn performance(servers: &[Server<'_>]) -> Content {
    let wanted = Wanted::Test("performance test, 2 hours");
    let mut rows = Vec::new();
    let mut loads = Vec::new();
    for server in servers {
        let load = server.performance.map(|run| ServerLoad::of(&run.record)).unwrap_or_default();
        rows.push(named(&server.name, load_cells(&load, wanted)));
        loads.push(load);
    }
    if servers.len() > 1 {
        rows.push(named("All servers", load_cells(&ServerLoad::together(&loads), wanted)));
    }
    Content::Table(PaperTable {
        caption: "Table 6: Storage performance of each server. Rates are sums over databases, \
                  latencies their plain means"
            .to_owned(),
        head: LOAD_HEAD.to_vec(),
        rows,
    })
}

/// A figure of a run, or a gap that a test would fill.
fn measured(figure: Option<f64>, wanted: Wanted) -> Words {
    let text = figure.map(|figure| format::number(figure, 2));
    Words::or_missing(text, "not in the record", wanted)
}

fn named(name: &str, cells: Vec<Words>) -> Vec<Words> {
    [vec![Words::said(name)], cells].concat()
}

fn backup(servers: &[Server<'_>]) -> Content {
    Content::Table(PaperTable {
        caption:
            "Table 7: Backup of all databases at once. Of each database: the mean of their rates, \
             each over its own time. Of all: their bytes over the time until the last was read"
                .to_owned(),
        head: vec!["Server", "MiB read/s of each database", "MiB read/s of all"],
        rows: servers.iter().map(backup_row).collect(),
    })
}

fn backup_row(server: &Server<'_>) -> Vec<Words> {
    let backup = server.backup.and_then(|run| ServerBackup::of(&run.record));
    let figures = [backup.map(|of| of.mib_per_second_each), backup.map(|of| of.mib_per_second)];
    let wanted = Wanted::Test("test of backup");
    // A figure has the form of the report that states it: a published one has two decimals.
    let is_published = server.backup.is_some_and(|run| run.record.imported().is_some());
    let rounded = |rate: f64| {
        if is_published { format::number(rate, 2) } else { units::three_digits(rate) }
    };
    let rates = figures.map(|figure| figure.map(rounded));
    let rates = rates.map(|rate| Words::or_missing(rate, "not in the record", wanted));
    named(&server.name, rates.to_vec())
}

fn replay(servers: &[Server<'_>]) -> Content {
    Content::Table(PaperTable {
        caption: "Table 8: Replay of logs: the files of all databases together, and the time for \
                  one as the mean over databases"
            .to_owned(),
        head: vec!["Server", "Log files of 1 MiB, all databases", "Average time for one (s)"],
        rows: servers.iter().map(replay_row).collect(),
    })
}

fn replay_row(server: &Server<'_>) -> Vec<Words> {
    let wanted = Wanted::Test("test of recovery");
    let replay = server.recovery.and_then(|run| ServerReplay::of(&run.record));
    let logs = replay.map(|of| format::whole(of.logs));
    let logs = Words::or_missing(logs, "not in the record", wanted);
    named(&server.name, vec![logs, measured(replay.map(|of| of.seconds_per_log), wanted)])
}

#[cfg(test)]
mod tests {
    use super::time_of_work;

    #[test]
    fn short_work_is_stated_as_in_its_report() {
        assert_eq!(time_of_work(14_680_000_000), "14.7 s");
        assert_eq!(time_of_work(75_400_000_000), "1 min 15 s");
    }
}
