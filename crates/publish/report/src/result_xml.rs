//! The result of a load in the XML of Jetstress 2013, for programs that read it. Latencies and
//! sizes are omitted if there were no such requests; Jetstress prints 0.

use std::fmt::Write as _;

use record::{Phase, PhaseTotals, RunRecord, Series, SeriesTotal};
use verdict::Verdict;

use crate::document::{Block, Section};
use crate::html::escape;
use crate::sections::{databases, host, parameters, summary, throughput};
use crate::{format, meaning, passes};

const INSTANCES: &str = "MSExchange Database ==> Instances";

/// A section of counters: its element, and for each counter the requests that it counts.
type CounterSection = (&'static str, &'static [(&'static str, &'static [Series])]);

/// The sections of I/O, in the order of the original.
const IO: [CounterSection; 4] = [
    (
        "disk-subsystem-transactional",
        &[
            ("I/O Database Reads", &[Series::DatabaseRead]),
            ("I/O Database Writes", &[Series::DatabaseWrite]),
            ("I/O Log Reads", &[]),
            ("I/O Log Writes", &[Series::LogWrite]),
        ],
    ),
    (
        "disk-subsystem-of-dbmaintenance",
        &[("Database Maintenance IO Reads", &[Series::MaintenanceRead])],
    ),
    ("disk-subsystem-of-logreplication", &[("I/O Log Reads", &[Series::ReplicationRead])]),
    (
        "disk-subsystem-total",
        &[
            ("I/O Database Reads", &[Series::DatabaseRead, Series::MaintenanceRead]),
            ("I/O Database Writes", &[Series::DatabaseWrite, Series::HeaderWrite]),
            ("I/O Log Reads", &[Series::LogRead, Series::ReplicationRead]),
            ("I/O Log Writes", &[Series::LogWrite, Series::LogFormat]),
        ],
    ),
];

/// The XML of a load's result; `None` for other tests and for imported or simulated runs, which its
/// readers could not distinguish.
pub fn result_xml(run: &RunRecord, verdict: &Verdict) -> Option<String> {
    if run.imported().is_some() || run.simulated().is_some() || !passes::is_of_load(run) {
        return None;
    }
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<output>\n");
    facts(&mut xml, "test-summary", &summary::section(run, verdict));
    let objections = verdict.objections().into_iter();
    let issues = objections.map(|of| (of.outcome.name().to_owned(), meaning::objection(run, of)));
    elements(&mut xml, "test-issues", issues);
    facts(&mut xml, "database-sizing", &throughput::section(run));
    settings(&mut xml, run);
    for (element, kinds) in IO {
        io(&mut xml, run, element, kinds);
    }
    counters_of_machine(&mut xml, run);
    let log = run.log.iter().map(|line| {
        let at_ns = run.start.started_epoch_ns.saturating_add(line.at_ns);
        (format::timestamp(at_ns), line.text.clone())
    });
    elements(&mut xml, "test-log", log);
    xml.push_str("</output>\n");
    Some(units::plain(&xml).into_owned())
}

/// Writes the names and values of a report section; its names are those of Jetstress.
fn facts(xml: &mut String, element: &str, section: &Section) {
    let facts = section.blocks.iter().flat_map(|block| match block {
        Block::Facts(facts) => facts.as_slice(),
        _ => &[],
    });
    let stated = facts.filter(|fact| !is_unset(&fact.value.text));
    elements(xml, element, stated.map(|fact| (fact.label.to_owned(), plain(&fact.value.text))));
}

/// The report's marker for a missing value.
fn is_unset(value: &str) -> bool {
    value == "not set" || value == "not reached" || value.starts_with("none: ")
}

/// Converts a value of the report to Jetstress's notation: True and False, sizes in bytes only, and
/// percentages without a space.
fn plain(value: &str) -> String {
    match (value, value.split_once(" (")) {
        ("yes", _) => "True".to_owned(),
        ("no", _) => "False".to_owned(),
        (_, Some((size, unit))) if is_whole(size) && !unit.starts_with("per") => size.to_owned(),
        _ => value.replace(" %", "%"),
    }
}

fn is_whole(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
}

/// Writes the settings; the cache is the total of all databases, as Jetstress prints it.
fn settings(xml: &mut String, run: &RunRecord) {
    let settings = &run.start.settings;
    let mut section = parameters::section(run);
    for block in &mut section.blocks {
        let Block::Facts(facts) = block else {
            continue;
        };
        for fact in facts {
            let bytes = match fact.label {
                "Minimum Database Cache" => settings.cache_minimum_bytes,
                "Maximum Database Cache" => settings.cache_maximum_bytes,
                _ => continue,
            };
            let bytes = bytes.saturating_mul(run.start.databases.len() as u64);
            fact.value.text = format!("{:.1} MB", bytes as f64 / 1_048_576.0);
        }
    }
    facts(xml, "jetstress-system", &section);
}

fn elements(xml: &mut String, name: &str, pairs: impl Iterator<Item = (String, String)>) {
    let _ = writeln!(xml, "  <{name}>");
    for (name, value) in pairs {
        let (name, value) = (escape(&name), escape(&value));
        let _ = writeln!(xml, "    <element name=\"{name}\" value=\"{value}\" />");
    }
    let _ = writeln!(xml, "  </{name}>");
}

/// Counters of each database.
fn io(xml: &mut String, run: &RunRecord, element: &str, kinds: &[(&str, &[Series])]) {
    let _ = writeln!(xml, "  <{element}>\n    <object name=\"{}\">", escape(INSTANCES));
    for facts in databases(run) {
        let Some(totals) = run.totals_of(Phase::Measure, facts.index) else {
            continue;
        };
        let _ = writeln!(xml, "      <instance name=\"{}\">", escape(&facts.name));
        for (kind, series) in kinds {
            requests(xml, kind, totals, series);
        }
        xml.push_str("      </instance>\n");
    }
    let _ = writeln!(xml, "    </object>\n  </{element}>");
}

fn requests(xml: &mut String, kind: &str, totals: &PhaseTotals, series: &[Series]) {
    let mut total = SeriesTotal::default();
    for part in series.iter().filter_map(|series| totals.series.get(series)) {
        total.merge(part);
    }
    let count = total.latency.count();
    if count > 0 {
        counter(
            xml,
            &format!("{kind} Average Latency"),
            &[&format::milliseconds(total.latency.mean_ns())],
        );
        counter(xml, &format!("{kind} Average Bytes"), &[&format::number(total.mean_bytes(), 3)]);
    }
    counter(xml, &format!("{kind}/sec"), &[&format::number(totals.rate(count), 3)]);
}

/// The mean of a counter and, if known, its smallest and largest sample.
fn counter(xml: &mut String, name: &str, values: &[&str]) {
    let _ = write!(xml, "        <counter name=\"{}\"", escape(name));
    for (statistic, value) in ["average", "minimum", "maximum"].iter().zip(values) {
        if *value != "-" {
            let _ = write!(xml, " {statistic}=\"{}\"", value.replace(',', ""));
        }
    }
    xml.push_str(" />\n");
}

fn counters_of_machine(xml: &mut String, run: &RunRecord) {
    xml.push_str("  <host-system>\n    <object name=\"Host\">\n      <instance name=\"_Total\">\n");
    for block in host::section(run).blocks {
        let Block::Table(table) = block else {
            continue;
        };
        for row in table.rows {
            let cells: Vec<&str> = row.cells.iter().map(|cell| cell.text.as_str()).collect();
            if let [name, values @ ..] = cells.as_slice() {
                counter(xml, name, values);
            }
        }
    }
    xml.push_str("      </instance>\n    </object>\n  </host-system>\n");
}
