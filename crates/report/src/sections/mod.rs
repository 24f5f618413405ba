//! The sections of a report, one file each, in the order of a Jetstress report where it has them.

mod charts;
mod configuration;
mod engine;
mod findings;
mod host;
mod input_output;
mod issues;
mod parameters;
mod summary;
mod throughput;
mod verification;

use record::{DatabaseFacts, Phase, PhaseSpan, RunRecord};
use verdict::{Outcome, Verdict};

use crate::document::{Block, Document, Section, Tone};
use crate::format;

/// The whole report.
pub(crate) fn document(run: &RunRecord, verdict: &Verdict) -> Document {
    let parts = [
        Some(findings::section(run, verdict)),
        charts::section(run),
        Some(summary::section(run, verdict)),
        Some(throughput::section(run)),
        Some(parameters::section(run)),
        Some(configuration::section(run)),
        Some(input_output::transactional(run)),
        Some(input_output::maintenance(run)),
        Some(input_output::replication(run)),
        Some(input_output::total(run)),
        Some(host::section(run)),
        Some(engine::section(run)),
        Some(issues::section(run)),
        Some(verification::checksums(run)),
        verification::disk_subsystem(run),
        host::during_checksum(run),
        Some(test_log(run)),
        Some(plan(run)),
    ];
    Document {
        banner: summary::banner(run, verdict),
        sections: parts.into_iter().flatten().collect(),
    }
}

fn test_log(run: &RunRecord) -> Section {
    let lines = run.log.iter().map(|line| {
        let at_ns = run.start.started_epoch_ns.saturating_add(line.at_ns);
        (format::timestamp(at_ns), line.text.clone())
    });
    Section {
        id: "test-log",
        title: "Test Log",
        blocks: vec![Block::Log(lines.collect())],
    }
}

fn plan(run: &RunRecord) -> Section {
    Section {
        id: "plan",
        title: "Plan",
        blocks: vec![Block::Verbatim(run.start.plan_text.clone())],
    }
}

/// The look of an outcome.
const fn tone(outcome: Outcome) -> Tone {
    match outcome {
        Outcome::Pass => Tone::Pass,
        Outcome::Fail => Tone::Fail,
        Outcome::Warn | Outcome::CannotJudge => Tone::Warn,
    }
}

/// The databases of a run, in the order of their index.
fn databases(run: &RunRecord) -> impl Iterator<Item = &DatabaseFacts> {
    run.start.databases.iter()
}

/// The first span of a phase.
fn span_of(run: &RunRecord, phase: Phase) -> Option<PhaseSpan> {
    run.phases.iter().copied().find(|span| span.phase == phase)
}

/// A time of the run on the wall clock.
fn wall_clock(run: &RunRecord, at_ns: u64) -> String {
    format::timestamp(run.start.started_epoch_ns.saturating_add(at_ns))
}
