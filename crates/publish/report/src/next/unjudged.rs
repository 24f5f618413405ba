//! How to reach a verdict after an inconclusive run: remove the cause, or repeat the test if there
//! is none to remove.

use record::{IssueKind, Phase, RunRecord, TestType};
use verdict::{Finding, Unit, Verdict};

use super::arrays;
use super::command::{again, inspect};
use super::failed::{larger_cache, less_load};
use super::full::room;
use super::latest::caches_take_over;
use super::others::{has_busy_others, names_others};
use super::passed::larger_databases;
use super::small::is_small;
use super::step::{FOLDER, NextStep, OF_THIS_RUN, StepKind};
use super::time;
use crate::{format, meaning};

/// One step per decisive finding.
pub(super) fn steps(run: &RunRecord, verdict: &Verdict) -> Vec<NextStep> {
    let mut steps: Vec<NextStep> = Vec::new();
    for finding in meaning::decisive(verdict) {
        let step = step(run, verdict, finding);
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    let cache = larger_cache(run, verdict);
    steps.extend(cache.map(|step| with_less_load(step, &steps)));
    // Larger databases and a longer run both need more of the space that was missing.
    if steps.iter().any(|step| step.kind.is_of_full_volume()) {
        let grows = [StepKind::LargerDatabases, StepKind::MeasureLonger];
        steps.retain(|step| !grows.contains(&step.kind));
    }
    // The larger databases are measured for long enough; the present ones would still not be read.
    if steps.iter().any(|step| step.kind == StepKind::LargerDatabases) {
        steps.retain(|step| step.kind != StepKind::MeasureLonger);
    }
    let ends_others = steps.iter().any(|step| step.kind == StepKind::EndOthers);
    if names_others(verdict) && !ends_others {
        steps = steps.into_iter().map(after_others).collect();
    }
    steps
}

/// The step before that of `steps` which makes less load, if any: the present one would keep the
/// processors busy again.
fn with_less_load(step: NextStep, steps: &[NextStep]) -> NextStep {
    let less = steps.iter().find(|of| of.kind == StepKind::SpareProcessors);
    match less.and_then(|less| less.command.clone()) {
        Some(command) => step.by(command),
        None => step,
    }
}

/// A step that only measures longer or larger would be disturbed as this run was.
fn after_others(step: NextStep) -> NextStep {
    match step.kind {
        StepKind::LargerDatabases | StepKind::MeasureLonger | StepKind::MeasureAgain => {
            step.after_others()
        }
        _ => step,
    }
}

fn step(run: &RunRecord, verdict: &Verdict, finding: &Finding) -> NextStep {
    let same = time::repeat(run, verdict);
    match finding.rule {
        "record-intact" => {
            StepKind::OriginalRecord.with("Report the original journal, or measure again", same)
        }
        "volume-full" => room(run),
        "connection-lost" => StepKind::ReachServer.with(
            "See that the server runs and can be reached. What is on it may have changed: check \
             the databases (plimsoll check FILE) before they are used again; then",
            same,
        ),
        "caches" | "device-reads" => {
            let words = format!(
                "See what is known of the volume ({}), mount it without the cache or take another; \
                 then",
                inspect(run)
            );
            StepKind::WithoutCache.with(words, same)
        }
        "completed" => completion(run),
        "pauses" if has_busy_others(run) => end_others(same),
        "pauses" => StepKind::KeepRunning.with(
            "Keep the machine from being suspended, moved or stopped for the whole run; then",
            same,
        ),
        "sessions" => arrays::more_sessions(run, time::longer(run, verdict)),
        "other-runs" => {
            let words = "Run it alone, after the other runs on its disks; then";
            StepKind::OneAtATime.with(words, same)
        }
        "checksums" if run.start.test != TestType::Backup => read_databases(run),
        "replayed-logs" => fewer_logs(run, finding),
        "generator-limited" | "completion-lag" => spare_processors(run, verdict),
        "processor-steal" => {
            StepKind::OwnProcessors.with("Give this VM dedicated cores; then", same)
        }
        _ => by_numbers(run, verdict, finding),
    }
}

/// The step that follows from the numbers of a finding.
fn by_numbers(run: &RunRecord, verdict: &Verdict, finding: &Finding) -> NextStep {
    let same = again(run, &[]);
    if finding.unit == Unit::Milliseconds {
        // A limit was missed only because the processors were busy.
        return spare_processors(run, verdict);
    }
    let is_of_time = finding.unit == Unit::Requests || finding.rule == "measured-time";
    if lacks_reads(run, finding) && is_small(run) {
        // Much of the database fits into its cache.
        return larger_databases(run, verdict);
    }
    if is_of_time && can_resume(run) {
        return resume(&same);
    }
    let is_measured = is_of_time && run.span_ns(Phase::Measure) > 0;
    if is_measured && is_small(run) && verdict.findings.iter().any(|of| lacks_reads(run, of)) {
        return larger_databases(run, verdict);
    }
    match time::longer(run, verdict).filter(|_| is_of_time) {
        Some(duration) => {
            let longer = again(run, &[("--duration", duration)]);
            let words = "Measure for longer, until enough is seen for a verdict";
            StepKind::MeasureLonger.with(words, longer)
        }
        None => measure_again(same),
    }
}

/// Whether the storage was not read at all, or caches answer more and more of the reads.
fn lacks_reads(run: &RunRecord, finding: &Finding) -> bool {
    let is_of_reads = finding.unit == Unit::Requests && finding.rule.starts_with("read-");
    is_of_reads && (finding.measured.is_none_or(|seen| seen < 1.0) || caches_take_over(run))
}

fn end_others(same: String) -> NextStep {
    StepKind::EndOthers.with("End the other programs on this machine; then", same)
}

/// Frees the processors from other programs, or from this program's own load.
fn spare_processors(run: &RunRecord, verdict: &Verdict) -> NextStep {
    if names_others(verdict) {
        return end_others(time::repeat(run, verdict));
    }
    if !crate::passes::is_of_load(run) {
        let words = "Use a faster machine; then";
        return StepKind::SpareProcessors.with(words, again(run, &[]));
    }
    let less = less_load(run, verdict);
    let words = "Use a faster machine, or make less load";
    StepKind::SpareProcessors.with(words, less.command.unwrap_or_else(|| again(run, &[])))
}

fn completion(run: &RunRecord) -> NextStep {
    let same = again(run, &[]);
    let finished = run.finished.as_ref();
    if finished.is_some_and(|finished| finished.is_for_room) {
        return room(run);
    }
    if finished.is_some_and(|finished| finished.is_overdue) {
        let words = format!("See what delays the volume ({}); then", inspect(run));
        return StepKind::FreeVolume.with(words, same);
    }
    if run.issues.iter().any(|issue| issue.kind == IssueKind::Refused) {
        return StepKind::ReportRefusal.alone(
            "The engine refused what the plan asked for and would refuse it again: report it, with \
             the journal record.jsonl of this run",
        );
    }
    if can_resume(run) { resume(&same) } else { measure_again(same) }
}

/// Once the databases are open, the record has everything that a resumption needs; what a crash
/// hid of a short run leaves nothing to judge.
fn can_resume(run: &RunRecord) -> bool {
    run.is_resumable() && !run.attachments.is_empty() && verdict::is_worth_resuming(run)
}

fn resume(same: &str) -> NextStep {
    let words = format!(
        "Complete it while nothing else has opened its databases{OF_THIS_RUN}, or start it again \
         ({same})"
    );
    StepKind::Resume.with(words, format!("plimsoll run --resume {FOLDER}"))
}

fn measure_again(same: String) -> NextStep {
    StepKind::MeasureAgain.with("Measure again, to the end", same)
}

fn read_databases(run: &RunRecord) -> NextStep {
    let databases = run.start.databases.iter();
    let files = databases.fold(String::new(), |files, facts| files + " " + &facts.file);
    let words = "Read the databases to their end";
    StepKind::ReadDatabases.with(words, format!("plimsoll check{files}"))
}

/// Reduces the logs to as many as the load generated in its time, if it generated any.
fn fewer_logs(run: &RunRecord, finding: &Finding) -> NextStep {
    let logs = finding.measured.unwrap_or(0.0);
    let same = again(run, &[]);
    let is_replayed = run.replays.len() >= run.start.databases.len();
    if logs < 1.0 || !is_replayed {
        return measure_again(same);
    }
    let words = format!("Set `replay_logs` in the plan to {}; then", format::number(logs, 0));
    StepKind::FewerLogs.with(words, same)
}
