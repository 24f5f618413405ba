//! Soft recovery tests: logs generated, databases left, everything replayed; and the outcome if
//! that is interrupted or the storage loses data.

use device::Purpose;
use faults::{Call, Effect, Fault, Matching, Occurrence};
use record::{Edge, Event, Interval, IssueKind, Phase, Replay, Series};
use units::Nanos;

use super::{PLAN, RunSummary, issues, phases, prepared, run_once, suffer};
use crate::testing::World;

const LOGS: u64 = 4;

fn plan(more: &str) -> String {
    let test = format!("[test]\ntype = \"recovery\"\nreplay_logs = {LOGS}\n{more}");
    PLAN.replace("[test]\n", &test)
}

fn replays(events: &[Event]) -> Vec<Replay> {
    let replay = |event: &Event| match event {
        Event::Replay(replay) => Some(*replay),
        _ => None,
    };
    events.iter().filter_map(replay).collect()
}

/// Number of requests of a kind sampled in a phase, and their bytes.
fn sampled(events: &[Event], phase: Phase, series: Series) -> (u64, u64) {
    let of_phase = |event: &&Event| match event {
        Event::Interval(Interval { phase: of, .. }) => *of == phase,
        _ => false,
    };
    let mut sum = (0, 0);
    for event in events.iter().filter(of_phase) {
        let Event::Interval(interval) = event else { continue };
        for database in &interval.databases {
            let all = database.series.iter().filter(|of| of.series == series);
            for of in all {
                sum = (sum.0 + of.latency.count(), sum.1 + of.bytes);
            }
        }
    }
    sum
}

/// Checks that the databases of `world` exist, clean or not, and contain enough for a load.
fn can_be_loaded(world: &mut World) {
    world.plan = plan::Plan::parse("test", PLAN).unwrap();
    let (summary, events) = run_once(world, None);
    assert_eq!((issues(&events), summary), (Vec::new(), RunSummary::default()));
}

#[test]
fn logs_are_generated_and_replayed_by_all_databases_at_the_same_time() {
    // A checkpoint of this depth would release most logs.
    let shallow = "[engine]\ncheckpoint_depth = \"1MiB\"\n";
    let world = prepared(&plan("").replace("[engine]\n", shallow));
    let (summary, events) = run_once(&world, None);
    assert_eq!((issues(&events), summary), (Vec::new(), RunSummary::default()));
    let both = |phase| [(phase, Edge::Begin), (phase, Edge::End)];
    let order = [Phase::Open, Phase::Measure, Phase::Drain, Phase::Recover, Phase::Check];
    assert_eq!(phases(&events), order.map(both).concat());
    let bound = "until each has filled 4 log files; what it logs after these is replayed too";
    let said = |event: &Event| matches!(event, Event::Log(of) if of.text.ends_with(bound));
    assert!(events.iter().any(said));
    let replays = replays(&events);
    assert_eq!(replays.len(), 2);
    for replay in &replays {
        // The log in use when the load ended is also replayed; ending may begin another.
        assert!((LOGS + 1..=LOGS + 2).contains(&replay.logs), "{replay:?}");
        assert!(replay.pages_up_to_date > 500, "the cache is small: {replay:?}");
        assert!(replay.elapsed_ns > 0 && replay.generated_ns > replay.elapsed_ns);
    }
    let starts: Vec<u64> = replays.iter().map(|of| of.at_ns - of.elapsed_ns).collect();
    assert_eq!(starts[0], starts[1], "at the same time");
    // Redo counters against storage requests; opening the databases reads some more.
    let read: u64 = replays.iter().map(|of| of.pages_read).sum();
    let (reads, bytes) = sampled(&events, Phase::Recover, Series::DatabaseRead);
    assert!((read..read + read / 10).contains(&reads), "{reads} {read}");
    assert_eq!(bytes, reads * 32_768);
    let logs: u64 = replays.iter().map(|of| of.logs).sum();
    let (_, log_bytes) = sampled(&events, Phase::Recover, Series::LogRead);
    assert!(log_bytes >= logs << 20, "{log_bytes} of {logs} logs");
    assert_eq!(sampled(&events, Phase::Recover, Series::MaintenanceRead), (0, 0));
    assert_eq!(sampled(&events, Phase::Recover, Series::Transaction), (0, 0));
}

#[test]
fn a_copy_from_before_the_logs_has_every_change_to_make_and_takes_the_place_of_the_database() {
    let mut world = prepared(&plan("passive_copy = \"1MiB\"\n"));
    for _ in 0..2 {
        let (summary, events) = run_once(&world, None);
        assert_eq!((issues(&events), summary), (Vec::new(), RunSummary::default()));
        for replay in replays(&events) {
            assert_eq!(replay.pages_up_to_date, 0, "{replay:?}");
            assert!(replay.pages_written > 500 && replay.pages_changed > 2_000, "{replay:?}");
        }
        let (writes, _) = sampled(&events, Phase::Recover, Series::DatabaseWrite);
        assert!(writes > 500, "{writes}");
    }
    assert!(!has_copy(&world));
    can_be_loaded(&mut world);
}

fn has_copy(world: &World) -> bool {
    let images = world.volumes.iter().map(device::MemoryVolume::image);
    images.flat_map(|image| image.files.into_keys()).any(|name| name.ends_with(".passive"))
}

#[test]
fn a_person_may_stop_it_while_logs_are_generated() {
    let mut world = prepared(&plan("passive_copy = \"5MiB\"\n"));
    let (summary, events) = run_once(&world, Some(Nanos::from_millis(700)));
    assert_eq!((issues(&events), summary), (Vec::new(), RunSummary::default()));
    assert_eq!(phases(&events).last(), Some(&(Phase::Drain, Edge::End)));
    assert!(replays(&events).is_empty() && !has_copy(&world));
    let log = |event: &Event| matches!(event, Event::Log(of) if of.text.contains("recovered"));
    world.plan = plan::Plan::parse("test", PLAN).unwrap();
    let (summary, events) = run_once(&world, None);
    assert_eq!(summary, RunSummary::default());
    assert!(!events.iter().any(log), "they were closed");
}

/// Start and end of the replay in an undisturbed test.
fn span_of_replay(text: &str) -> (Nanos, Nanos) {
    let (_, events) = run_once(&prepared(text), None);
    let at = |edge| {
        events.iter().find_map(|event| match event {
            Event::Phase(mark) if (mark.phase, mark.edge) == (Phase::Recover, edge) => {
                Some(Nanos(mark.at_ns))
            }
            _ => None,
        })
    };
    (at(Edge::Begin).unwrap(), at(Edge::End).unwrap())
}

#[test]
fn a_person_may_stop_it_while_logs_are_replayed_and_the_databases_can_be_recovered() {
    for text in [plan(""), plan("passive_copy = \"1MiB\"\n")] {
        let (from, to) = span_of_replay(&text);
        let middle = Nanos(from.0.midpoint(to.0));
        let mut world = prepared(&text);
        let (summary, events) = run_once(&world, Some(middle));
        assert_eq!((issues(&events), summary), (Vec::new(), RunSummary::default()));
        assert!(replays(&events).len() < 2 && !has_copy(&world));
        assert!(!phases(&events).contains(&(Phase::Check, Edge::Begin)));
        world.executor.abandon();
        let runtime = world.executor.runtime();
        let waiting = async move { runtime.sleep(Nanos::from_millis(10)).await };
        world.executor.block_on(waiting);
        can_be_loaded(&mut world);
    }
}

/// Runs with a fault of the second database's storage that begins with the replay.
fn in_replay(text: &str, effect: Effect) -> (RunSummary, Vec<Event>) {
    let (_, healthy) = run_once(&prepared(text), None);
    let of_phase = |phase| sampled_of_second(&healthy, phase);
    let before = of_phase(Phase::Measure) + of_phase(Phase::Drain);
    let mut world = prepared(text);
    let purpose = Some(Purpose::LogRead);
    let matching = Matching { call: Some(Call::Read), purpose, ..Matching::default() };
    let occurrence = Occurrence::From(before + 8);
    suffer(&mut world, 1, Fault { matching, occurrence, effect });
    run_once(&world, None)
}

/// Log reads of the second database.
fn sampled_of_second(events: &[Event], phase: Phase) -> u64 {
    let mut count = 0;
    for event in events {
        if let Event::Interval(interval) = event
            && interval.phase == phase
        {
            count += interval.databases[1].count(Series::LogRead);
        }
    }
    count
}

#[test]
fn a_log_that_is_never_read_ends_the_test_with_a_verdict() {
    let month = Effect::Stall(Nanos::from_secs(30 * 86_400));
    let (summary, events) = in_replay(&plan("give_up = \"3s\"\n"), month);
    assert!(summary.gave_up && summary.failure.is_some(), "{summary:?}");
    let found = issues(&events);
    assert_eq!(found[0].0, IssueKind::InputOutput, "{found:?}");
    assert!(found[0].1.contains("no answer to the read of"), "{found:?}");
    assert!(replays(&events).len() < 2);
    assert!(phases(&events).contains(&(Phase::Recover, Edge::End)));
}

#[test]
fn a_log_that_cannot_be_read_or_is_not_what_was_written_fails_the_test() {
    let failing = Effect::Fail { done: false };
    for (effect, kind) in
        [(failing, IssueKind::InputOutput), (Effect::FlipBits(9), IssueKind::Corruption)]
    {
        let (summary, events) = in_replay(&plan(""), effect);
        let failure = summary.failure.expect("it is not open");
        assert!(!failure.at_open, "the storage is to blame: {}", failure.text);
        let found = issues(&events);
        assert!(found.iter().any(|(of, _)| *of == kind), "{found:?}");
        assert_eq!(replays(&events).len(), 1, "the other database has replayed its log");
    }
}

#[test]
fn a_copy_that_is_in_the_way_is_neither_overwritten_nor_removed() {
    let world = prepared(&plan("passive_copy = \"5MiB\"\n"));
    let volume: std::rc::Rc<dyn device::Volume> = std::rc::Rc::new(world.volumes[1].clone());
    world.executor.block_on(async move {
        let mode = device::OpenMode::CreateNew { length: 4096 };
        drop(volume.open("Plimsoll002.edb.passive", mode).await.unwrap());
    });
    let (summary, _) = run_once(&world, None);
    let failure = summary.failure.expect("it is refused");
    assert!(failure.at_open && failure.text.contains("remove it"), "{}", failure.text);
    let names = world.volumes.iter().flat_map(|of| of.image().files.into_keys());
    let copies: Vec<String> = names.filter(|name| name.ends_with(".passive")).collect();
    assert_eq!(copies, ["Plimsoll002.edb.passive"]);
}
