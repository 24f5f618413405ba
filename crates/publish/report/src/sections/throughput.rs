//! "Database Sizing and Throughput" of a Jetstress report.

use record::{Phase, RunRecord};

use super::databases;
use crate::document::{Block, Fact, Section};
use crate::format;

/// The achieved load, the target, and the sizes.
pub(crate) fn section(run: &RunRecord) -> Section {
    let settings = &run.start.settings;
    let initial: u64 = databases(run).map(|facts| facts.initial_bytes).sum();
    let measured = run.sum_of(Phase::Measure).gauges.file_bytes;
    let mut facts = vec![Fact::metric(
        "Achieved Transactional I/O per Second",
        "achieved-transactional-iops",
        format::number(run.achieved_transactional_iops(), 3),
    )];
    let target = run.target_iops().map(|target| format::number(target, 3));
    facts.push(Fact::metric(
        "Target Transactional I/O per Second",
        "target-iops",
        target.unwrap_or_else(|| "none: as many as possible".to_owned()),
    ));
    let percentages = [
        ("Capacity Percentage", "capacity-percentage", settings.capacity_percent),
        ("Throughput Percentage", "throughput-percentage", settings.throughput_percent),
    ];
    for (label, metric, percent) in percentages {
        let value = percent.map(|percent| format!("{percent:.0} %"));
        facts.push(Fact::metric(label, metric, value.unwrap_or_else(|| "not set".to_owned())));
    }
    facts.push(Fact::metric(
        "Initial Database Size (bytes)",
        "initial-size",
        format::exact_size(initial),
    ));
    facts.push(Fact::metric(
        "Final Database Size (bytes)",
        "final-size",
        format::exact_size(if measured == 0 { initial } else { measured }),
    ));
    facts.push(Fact::metric(
        "Database Files (Count)",
        "database-files",
        run.start.databases.len().to_string(),
    ));
    Section {
        id: "database-sizing-and-throughput",
        title: "Database Sizing and Throughput",
        blocks: vec![Block::Facts(facts)],
    }
}
