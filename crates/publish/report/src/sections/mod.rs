//! The sections of a report, one file each, in the order of a Jetstress report for those that it
//! has.

mod charts;
mod configuration;
mod copies;
mod engine;
pub(crate) mod findings;
mod flash_cache;
pub(crate) mod host;
mod input_output;
mod issues;
pub(crate) mod parameters;
mod pass_requests;
mod recovery;
mod recovery_io;
pub(crate) mod summary;
pub(crate) mod throughput;
mod verification;
pub(crate) mod what_follows;

pub(crate) use charts::weighted_mean_ms;
use record::{DatabaseFacts, Phase, PhaseSpan, RunRecord, TestType};
use verdict::{Ruling, Verdict};

use crate::document::{Block, Document, Section, Tone};
use crate::{format, passes, simulated, storage};

/// Whether rules were applied: they are not to one host of a deployment that is judged as a whole.
fn has_findings(run: &RunRecord, verdict: &Verdict) -> bool {
    !run.is_host_of_deployment() || !verdict.findings.is_empty()
}

/// Names `folder`, that of the run, in the steps of its report. Results of other instruments have
/// no such section.
pub(crate) fn name_folder(
    document: &mut Document,
    (run, verdict): (&RunRecord, &Verdict),
    folder: &str,
) {
    for section in document.sections.iter_mut().filter(|of| of.id == what_follows::ID) {
        *section = what_follows::section_in(run, verdict, folder);
    }
}

/// The whole report of a run that was measured or simulated here.
pub(crate) fn document(run: &RunRecord, verdict: &Verdict) -> Document {
    let of_load =
        |section: fn(&RunRecord) -> Section| passes::judged(run).is_none().then(|| section(run));
    let checksums = (run.start.test != TestType::Backup).then(|| verification::checksums(run));
    let [copy_writes, copy_reads] = pass_requests::copy_requests(run);
    let parts = [
        Some(what_follows::section(run, verdict)),
        has_findings(run, verdict).then(|| findings::section(run, verdict)),
        simulated::section(run),
        charts::section(run),
        Some(summary::section(run, verdict)),
        recovery::statistics(run),
        recovery_io::section(run),
        of_load(throughput::section),
        of_load(parameters::section),
        Some(configuration::section(run)),
        storage::section(&run.start.storage),
        of_load(input_output::transactional),
        of_load(input_output::maintenance),
        of_load(input_output::replication),
        of_load(input_output::total),
        flash_cache::section(run),
        of_load(host::section),
        of_load(engine::section),
        Some(issues::section(run, verdict)),
        checksums,
        pass_requests::checksum_reads(run),
        verification::backup(run),
        pass_requests::backup_reads(run),
        copies::section(run),
        copy_writes,
        copy_reads,
        host::during_checksum(run),
        Some(test_log(run)),
        Some(plan(run)),
    ];
    Document {
        banner: summary::banner(run, verdict),
        sections: parts.into_iter().flatten().collect(),
        names: summary::names(&run.start),
    }
}

fn test_log(run: &RunRecord) -> Section {
    let lines = run.log.iter().map(|line| (wall_clock(run, line.at_ns), line.text.clone()));
    Section { id: "test-log", title: "Test Log", blocks: vec![Block::Log(lines.collect())] }
}

fn plan(run: &RunRecord) -> Section {
    Section {
        id: "plan",
        title: "Plan",
        blocks: vec![Block::Verbatim(run.start.plan_text.clone())],
    }
}

/// The look of an outcome.
pub const fn tone(outcome: Ruling) -> Tone {
    match outcome {
        Ruling::Pass => Tone::Pass,
        Ruling::Fail => Tone::Fail,
        Ruling::Warn | Ruling::CannotJudge => Tone::Warn,
    }
}

/// The databases of a run, in the order of their index.
pub(crate) fn databases(run: &RunRecord) -> impl Iterator<Item = &DatabaseFacts> {
    run.start.databases.iter()
}

/// The spans of a phase, in order: a run that was resumed has several.
fn spans_of(run: &RunRecord, phase: Phase) -> impl Iterator<Item = PhaseSpan> {
    run.phases.iter().copied().filter(move |span| span.phase == phase)
}

/// Converts a time of the run to wall clock time; that of a simulated run stays virtual.
fn wall_clock(run: &RunRecord, at_ns: u64) -> String {
    if run.simulated().is_some() {
        return format!("{} of virtual time", format::offset(at_ns));
    }
    format::timestamp(run.start.started_epoch_ns.saturating_add(at_ns))
}
