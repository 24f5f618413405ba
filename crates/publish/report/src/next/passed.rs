//! Open questions after a passed run.

use plan::write_shown_size;
use record::{Phase, RunRecord, TestType};
use units::Bytes;
use verdict::{MailboxRoom, Verdict};

use super::command::{again, as_test, command, has_plan};
use super::others::names_others;
use super::small::{GROWTH, is_small, large_enough, larger_volumes};
use super::step::{NextStep, StepKind};
use super::time;
use crate::mailboxes::Carried;
use crate::{format, passes};

const HOUR_NS: u64 = 3_600 * 1_000_000_000;

pub(super) fn steps(run: &RunRecord, verdict: &Verdict) -> Vec<NextStep> {
    let mut steps = Vec::new();
    steps.extend(more_room(run, verdict));
    steps.extend(verdict.lacks_load().then(|| fewer_mailboxes(run, verdict)));
    steps.push(further(run, verdict));
    if names_others(verdict) {
        steps = steps.into_iter().map(NextStep::after_others).collect();
    }
    steps
}

/// Proposes the plan with the number of mailboxes that the load supports.
fn fewer_mailboxes(run: &RunRecord, verdict: &Verdict) -> NextStep {
    let carried = Carried::of(run);
    let by_io = carried.by_io;
    let again = again_for(run, verdict, by_io * carried.iops_each);
    let carried = format::number(by_io, 0);
    let words = format!(
        "The load was that of {carried} mailboxes: plan for that number (`count` in [mailboxes]), \
         or for faster storage; then"
    );
    StepKind::FewerMailboxes.with(words, again).ranked(by_io)
}

/// The command that repeats the test for long enough to judge the load of fewer mailboxes.
fn again_for(run: &RunRecord, verdict: &Verdict, iops: f64) -> String {
    // A rate on the command line is held whatever the number of mailboxes.
    let is_held = run.start.options.iter().any(|(option, _)| option == "--target-iops");
    let longer = time::for_load(run, verdict, iops).filter(|_| !is_held);
    again(run, longer.map(|duration| ("--duration", duration)).as_slice())
}

/// Proposes room for the mailboxes of the plan if there is too little.
pub(super) fn more_room(run: &RunRecord, verdict: &Verdict) -> Option<NextStep> {
    let room = MailboxRoom::of(run).filter(|_| verdict.lacks_room());
    room.map(|room| find_room(run, verdict, room))
}

/// Proposes a plan that fits, or volumes that fit the plan.
fn find_room(run: &RunRecord, verdict: &Verdict, room: MailboxRoom) -> NextStep {
    let usable = MailboxRoom { room_bytes: room.room_bytes / 100 * (100 - GROWTH), ..room };
    let iops = usable.fitting() as f64 * Carried::of(run).iops_each;
    let wanted_bytes = room.wanted.saturating_mul(room.each_bytes);
    let volumes = format!(
        "Take volumes of {} or more in all",
        Bytes(wanted_bytes.saturating_mul(100) / (100 - GROWTH))
    );
    if !time::can_judge(run, iops) {
        // The few mailboxes that fit make too little load for a verdict.
        let words = format!("{volumes}, {GROWTH} % of it for logs and growth; then");
        return StepKind::FindRoom.with(words, time::repeat(run, verdict)).ranked(0.0);
    }
    let fitting = format::whole(usable.fitting());
    let words = format!(
        "{volumes}, or plan for at most {fitting} mailboxes (`count` in [mailboxes]), either with \
         {GROWTH} % of the space for logs and growth; then"
    );
    StepKind::FindRoom.with(words, again_for(run, verdict, iops)).ranked(usable.fitting() as f64)
}

fn further(run: &RunRecord, verdict: &Verdict) -> NextStep {
    if !passes::is_of_load(run) {
        let words = "Measure the load of a working day";
        return StepKind::LoadTest.with(words, as_test(run, "performance"));
    }
    if is_small(run) {
        return larger_databases(run, verdict);
    }
    let step = for_longer(run);
    let is_longest = matches!(step.kind, StepKind::OwnPlan | StepKind::RecoveryTest);
    match time::until_steady(run, verdict).filter(|_| is_longest) {
        Some(duration) => {
            let words = "Measure for longer, until the load is steady";
            StepKind::MeasureLonger.with(words, again(run, &[("--duration", duration)]))
        }
        None => step,
    }
}

/// The usual length of a test, or the next test once it has been reached.
fn for_longer(run: &RunRecord) -> NextStep {
    if !has_plan(run) || !has_lasted(run, 2) {
        return for_two_hours(run);
    }
    if run.start.test == TestType::Stress && has_lasted(run, 24) {
        let words = "Measure how fast logs are replayed after a failure";
        return StepKind::RecoveryTest.with(words, as_test(run, "recovery"));
    }
    let changes = [("--test", "stress".to_owned()), ("--duration", "24h".to_owned())];
    StepKind::DayOfStress.with("Run it for a day", again(run, &changes))
}

/// Proposes larger databases, measured for longer if this run was too short for its verdict.
pub(super) fn larger_databases(run: &RunRecord, verdict: &Verdict) -> NextStep {
    let enough = large_enough(run);
    let volumes = larger_volumes(run)
        .map_or_else(String::new, |all| format!("Take volumes of {all} or more in all, and set "));
    let set = if volumes.is_empty() { "Set " } else { &volumes };
    let small = format!(
        "These databases are small: much of them fits into the caches of disks and arrays. \
         {set}`size`"
    );
    let longer = time::longer_if_larger(run, verdict).map(|duration| ("--duration", duration));
    let and_longer = longer.as_ref().map_or("", |_| ", and measure for longer");
    let rank = f64::from(u8::from(longer.is_none()));
    let mut changes: Vec<(&str, String)> = longer.into_iter().collect();
    if !has_plan(run) {
        let words = format!("{small} to what you will run, {enough} or more{and_longer}");
        changes.insert(0, ("--size", write_shown_size(enough)));
        let larger = format!("{} --reset", again(run, &changes));
        return StepKind::LargerDatabases.with(words, larger).ranked(rank);
    }
    let words = format!(
        "{small} in the plan to what you will run, {enough} or more, in new \
         folders{and_longer}: {}, then",
        command(run).replacen("run", "prepare", 1)
    );
    StepKind::LargerDatabases.with(words, again(run, &changes)).ranked(rank)
}

fn for_two_hours(run: &RunRecord) -> NextStep {
    if has_lasted(run, 2) {
        let words = "Write a plan of the load that you expect: plimsoll plan > plan.toml, plimsoll \
                     prepare plan.toml, then";
        return StepKind::OwnPlan.with(words, "plimsoll run plan.toml".to_owned());
    }
    let longer = again(run, &[("--duration", "2h".to_owned())]);
    StepKind::TwoHours.with("Run it for two hours", longer)
}

/// Whether the measurement lasted `hours`; intervals may total slightly less than planned.
fn has_lasted(run: &RunRecord, hours: u64) -> bool {
    run.span_ns(Phase::Measure) >= hours * HOUR_NS / 100 * 99
}
