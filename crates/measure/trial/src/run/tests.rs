//! Whole runs in virtual time over storage in memory.

mod budget;
mod copies;
mod ends;
mod held;
mod in_passing;
mod lost_log;
mod lost_writes;
mod pacing;
mod promises;
mod recovery;
mod replication;
mod resumed;
mod stalls;
mod tuning;
mod unclean;
mod weights;

use std::rc::Rc;
use std::sync::Arc;

use device::{OpenMode, Request, Volume};
use faults::{Call, Effect, Fault, FaultPlan, FaultyVolume, Matching, Occurrence};
use record::{Edge, Event, FurtherErrors, IssueKind, Phase, RunRecord, Series, codec};
use units::{Nanos, Seed};

use super::{Group, RunSummary, run};
use crate::Sink;
use crate::coordinator::{Coordinator, Stop};
use crate::location::Location;
use crate::manifest::{self, Manifest};
use crate::prepare::{Complete, preflight, prepare};
use crate::testing::{World, collector};

const PLAN: &str = "seed = 7\n\
    [databases]\nfolders = [\"a\", \"b\"]\nsize = \"16MiB\"\n\
    [engine]\ncache_minimum = \"1MiB\"\ncache_maximum = \"2MiB\"\n\
    [workload]\nthreads = 2\n\
    [test]\nduration = \"1500ms\"\nwarm_up_limit = \"2s\"\ninterval = \"500ms\"\n";

/// A world with its databases prepared.
fn prepared(text: &str) -> World {
    fill(World::new(text))
}

fn fill(world: World) -> World {
    let runtime = world.executor.runtime();
    let (plan, locations) = (world.plan.clone(), world.locations.clone());
    let filling = async move {
        let targets = preflight(&plan, &locations, Complete::Stays).await?;
        let coordinator = Arc::new(Coordinator::new(1));
        prepare(&runtime, &plan, targets, &coordinator, &collector().0).await
    };
    world.executor.block_on(filling).expect("the fill");
    world
}

/// All databases of `world` in one group.
fn group_of(world: &World, coordinator: &Arc<Coordinator>, events: Sink<Event>) -> Group {
    let (plan, locations) = (&world.plan, world.locations.clone());
    Group::alone(&world.executor.runtime(), plan, locations, coordinator, events)
}

/// Runs all databases of `world` in one group; the user asks to stop after `stop_after`.
fn run_once(world: &World, stop_after: Option<Nanos>) -> (RunSummary, Vec<Event>) {
    let (events, kept) = collector();
    let coordinator = Arc::new(Coordinator::new(1));
    let runtime = world.executor.runtime();
    let group = group_of(world, &coordinator, events);
    let summary = world.executor.block_on(async move {
        if let Some(span) = stop_after {
            let twin = runtime.clone();
            drop(runtime.spawn(async move {
                twin.sleep(span).await;
                coordinator.stop(Stop::Interrupted);
            }));
        }
        run(group).await
    });
    let events = kept.borrow().clone();
    (summary, events)
}

fn phases(events: &[Event]) -> Vec<(Phase, Edge)> {
    let mark = |event: &Event| match event {
        Event::Phase(mark) => Some((mark.phase, mark.edge)),
        _ => None,
    };
    events.iter().filter_map(mark).collect()
}

fn issues(events: &[Event]) -> Vec<(IssueKind, String)> {
    let issue = |event: &Event| match event {
        Event::Issue(issue) => Some((issue.kind, issue.text.clone())),
        _ => None,
    };
    events.iter().filter_map(issue).collect()
}

/// Errors without an issue; there are some, all on one volume.
fn further(events: &[Event]) -> FurtherErrors {
    let mut run = RunRecord::default();
    events.iter().cloned().for_each(|event| run.push(event));
    assert_eq!(run.further_errors.len(), 1, "{:?}", run.further_errors);
    run.further_errors.remove(0)
}

/// Number of batches measured if each session rests after every batch for `rest_percent` of its
/// time.
fn batches(rest_percent: u32) -> u64 {
    let world = prepared(PLAN);
    let (events, kept) = collector();
    let group = Group { rest_percent, ..group_of(&world, &Arc::new(Coordinator::new(1)), events) };
    world.executor.block_on(run(group));
    let mut batches = 0;
    for event in kept.borrow().iter() {
        match event {
            Event::Interval(interval) if interval.phase == Phase::Measure => {
                let databases = interval.databases.iter();
                batches += databases.map(|of| of.count(Series::Transaction)).sum::<u64>();
            }
            _ => {}
        }
    }
    batches
}

#[test]
fn sessions_that_rest_as_long_as_they_work_run_half_of_the_batches() {
    let share = batches(100) as f64 / batches(0) as f64;
    assert!((0.4..0.65).contains(&share), "{share}");
}

/// Pages on trusted storage are not verified; the run is otherwise identical.
#[test]
fn a_run_on_trusted_storage_is_the_same_run() {
    let told = |is_storage_trusted| {
        let world = prepared(PLAN);
        let (events, kept) = collector();
        let coordinator = Arc::new(Coordinator::new(1));
        let group = Group { is_storage_trusted, ..group_of(&world, &coordinator, events) };
        world.executor.block_on(run(group));
        kept.borrow().clone()
    };
    assert_eq!(told(true), told(false));
}

#[test]
fn a_run_goes_through_its_phases_and_finds_nothing_wrong() {
    let world = prepared(PLAN);
    let (summary, events) = run_once(&world, None);
    assert_eq!((issues(&events), summary), (Vec::new(), RunSummary::default()));
    let both = |phase| [(phase, Edge::Begin), (phase, Edge::End)];
    let order = [Phase::Open, Phase::Warm, Phase::Measure, Phase::Drain, Phase::Check];
    assert_eq!(phases(&events), order.map(both).concat());
    let mut measured = Vec::new();
    let mut checked = 0;
    for event in &events {
        match event {
            Event::Interval(interval) if interval.phase == Phase::Measure => {
                measured.push(interval);
            }
            Event::Checksum(checksum) => {
                checked += 1;
                let bad = checksum.bad_pages + checksum.correctable_pages;
                assert_eq!(bad + checksum.wrong_page_number_pages, 0);
                assert!(checksum.seen_pages >= 512, "{checksum:?}");
                assert_eq!(checksum.seen_pages * 32_768, checksum.bytes);
            }
            _ => {}
        }
    }
    assert_eq!((measured.len(), checked), (3, 2));
    for (index, interval) in measured.iter().enumerate() {
        assert_eq!(interval.to_ns - interval.from_ns, 500_000_000, "sample {index}");
        assert_eq!(interval.databases.len(), 2);
        for database in &interval.databases {
            assert!(database.count(Series::DatabaseRead) > 100);
            assert!(database.count(Series::DatabaseWrite) > 10);
            assert!(database.count(Series::LogWrite) > 5);
            let counters = &database.counters;
            let commits = counters.transactions_lazy + counters.transactions_durable;
            let expected = database.count(Series::Transaction)
                * u64::from(world.plan.workload.commits_per_batch);
            // Two sessions may be inside a batch at either end of the interval.
            assert!(
                commits.abs_diff(expected) <= 2 * u64::from(world.plan.workload.commits_per_batch),
                "{commits} {expected}"
            );
            assert!(counters.inserts > counters.deletes && counters.deletes > counters.replaces);
        }
    }
}

/// The largest payloads that a plan may ask for fit into pages of every size.
#[test]
fn the_engine_takes_whatever_a_plan_may_ask_for() {
    for (page_size, short_pad) in [("4KiB", 512), ("8KiB", 1000), ("16KiB", 1000), ("32KiB", 1000)]
    {
        let workload = format!(
            "[workload]\nshort_pad = \"{short_pad}B\"\nlong_pad = \"{}B\"\n",
            plan::LONGEST_LONG_PAD.0
        );
        let text = PLAN
            .replace("[workload]\n", &workload)
            .replace("[databases]\n", &format!("[databases]\npage_size = \"{page_size}\"\n"));
        let (summary, events) = run_once(&prepared(&text), None);
        assert_eq!((issues(&events), summary), (Vec::new(), RunSummary::default()), "{page_size}");
    }
}

#[test]
fn the_same_seed_gives_the_same_journal() {
    let bytes = || {
        let (_, events) = run_once(&prepared(PLAN), None);
        events.iter().map(codec::encode).collect::<String>()
    };
    assert_eq!(bytes(), bytes());
}

#[test]
fn a_database_can_be_run_again() {
    let world = prepared(PLAN);
    for _ in 0..2 {
        let (summary, events) = run_once(&world, None);
        assert_eq!((issues(&events), summary), (Vec::new(), RunSummary::default()));
    }
}

#[test]
fn a_person_may_stop_a_run_and_keeps_what_was_measured() {
    let world = prepared(PLAN);
    let (summary, events) = run_once(&world, Some(Nanos::from_millis(1_200)));
    assert_eq!((issues(&events), summary), (Vec::new(), RunSummary::default()));
    let marks = phases(&events);
    assert_eq!(marks.last(), Some(&(Phase::Drain, Edge::End)));
    let measured = events.iter().filter(
        |event| matches!(event, Event::Interval(interval) if interval.phase == Phase::Measure),
    );
    assert!((1..=3).contains(&measured.count()));
    let (summary, _) = run_once(&world, None);
    assert_eq!(summary, RunSummary::default(), "the databases were closed");
}

/// A run whose program is killed in the middle of the measurement.
fn killed(world: &World) {
    killed_after(world, Nanos::from_millis(1_200));
}

/// A run whose program is killed after `span`.
fn killed_after(world: &World, span: Nanos) {
    let runtime = world.executor.runtime();
    let group = group_of(world, &Arc::new(Coordinator::new(1)), Rc::new(|_| ()));
    world.executor.block_on(async move {
        drop(runtime.spawn(run(group)));
        runtime.sleep(span).await;
    });
    world.executor.abandon();
    // The system completes pending writes even without the program.
    let runtime = world.executor.runtime();
    let waiting = async move { runtime.sleep(Nanos::from_millis(10)).await };
    world.executor.block_on(waiting);
}

#[test]
fn a_run_that_was_killed_is_recovered_by_the_next_one() {
    let world = prepared(PLAN);
    killed(&world);
    let (summary, events) = run_once(&world, None);
    assert_eq!((issues(&events), summary), (Vec::new(), RunSummary::default()));
    let words = "was not closed properly";
    let said = |event: &&Event| matches!(event, Event::Log(line) if line.text.contains(words));
    assert_eq!(events.iter().filter(said).count(), 2);
}

#[test]
fn a_database_that_was_never_prepared_is_refused() {
    let world = World::new(PLAN);
    let (summary, events) = run_once(&world, None);
    let failure = summary.failure.expect("nothing was prepared");
    assert!(failure.at_open);
    assert_eq!(
        failure.text,
        "a/Plimsoll001.edb: no manifest beside it, so nothing says what it holds; run `plimsoll \
         prepare` with this plan first"
    );
    assert!(!phases(&events).contains(&(Phase::Measure, Edge::Begin)));
}

/// The second database is a copy of the first: every record in it is intact, but none belongs
/// there.
#[test]
fn records_of_another_database_are_noticed() {
    let world = prepared(PLAN);
    let image = world.volumes[0].image();
    let copy = image.files["Plimsoll001.edb"].to_vec();
    let volume = world.volumes[1].clone();
    world.executor.block_on(async move {
        volume.remove("Plimsoll002.edb").await.unwrap();
        let mode = OpenMode::CreateNew { length: copy.len() as u64 };
        let device = volume.open("Plimsoll002.edb", mode).await.unwrap();
        let request = Request::write(
            device::Purpose::Fill,
            0,
            device::Buffer::copy_of(&copy),
            device::Durability::Durable,
        );
        device.submit(request).await.into_buffer().unwrap();
    });
    // Its manifest is adapted, or the run would not even open it.
    let [one, two] = [0, 1].map(|index: usize| world.locations[index].clone());
    world.executor.block_on(async move {
        let signature = manifest::read(&one).await.unwrap().unwrap().signature;
        let second = manifest::read(&two).await.unwrap().unwrap();
        let fitting = Manifest { signature, ..second };
        manifest::write(&two, &fitting).await.unwrap();
    });
    let (summary, events) = run_once(&world, None);
    assert!(summary.issues > 100, "{summary:?}");
    let issues = issues(&events);
    assert_eq!(issues.len(), 20, "the rest are only counted");
    let belongs = "the record belongs to database 1, not 2";
    assert!(
        issues
            .iter()
            .all(|(kind, text)| { *kind == IssueKind::HashMismatch && text.contains(belongs) })
    );
}

/// Wraps the folder of database number `index`, so that it suffers `fault`.
fn suffer(world: &mut World, index: usize, fault: Fault) {
    let location = &world.locations[index];
    let plan = FaultPlan { seed: Seed(1), faults: vec![fault] };
    let inner = Rc::clone(&location.database);
    let faulty = FaultyVolume::new(inner, plan, world.executor.runtime());
    let faulty: Rc<dyn Volume> = Rc::new(faulty);
    world.locations[index] =
        Location { database: Rc::clone(&faulty), log: faulty, ..location.clone() };
}

#[test]
fn a_failing_disk_ends_the_run_and_is_named() {
    let mut world = prepared(PLAN);
    let fault = Fault {
        matching: Matching { call: Some(Call::Write), ..Matching::default() },
        occurrence: Occurrence::From(300),
        effect: Effect::Fail { done: false },
    };
    suffer(&mut world, 1, fault);
    let (summary, events) = run_once(&world, None);
    assert!(summary.failure.is_some_and(
        |failure| !failure.at_open && failure.text.contains("stopped after a failed write")
    ));
    let issue = events.iter().find_map(|event| match event {
        Event::Issue(issue) => Some(issue.clone()),
        _ => None,
    });
    let issue = issue.expect("an issue for the record");
    assert_eq!((issue.kind, issue.database), (IssueKind::InputOutput, Some(1)));
    assert!(issue.offset_bytes.is_some());
    assert!(issue.file.is_some_and(|file| file.starts_with("b/")));
    assert_eq!(issue.volume.as_deref(), Some("b"));
    let marks = phases(&events);
    assert!(!marks.contains(&(Phase::Check, Edge::Begin)), "{marks:?}");
    assert_eq!(marks.last(), Some(&(Phase::Drain, Edge::End)));
}

#[test]
fn a_full_volume_ends_the_run_and_is_no_failed_request() {
    let mut world = prepared(PLAN);
    let fault = Fault {
        matching: Matching { call: Some(Call::Write), ..Matching::default() },
        occurrence: Occurrence::From(300),
        effect: Effect::Full,
    };
    suffer(&mut world, 1, fault);
    let (summary, events) = run_once(&world, None);
    assert!(summary.failure.is_some_and(|failure| !failure.at_open));
    let found = issues(&events);
    assert!(
        (1..=2).contains(&found.len())
            && found.iter().all(|(kind, _)| *kind == IssueKind::VolumeFull),
        "{found:?}"
    );
    let errors = events.iter().filter_map(|event| match event {
        Event::Interval(interval) => Some(&interval.databases),
        _ => None,
    });
    let errors = errors.flatten().flat_map(|database| &database.series);
    assert_eq!(errors.map(|series| series.errors).sum::<u64>(), 0);
}

/// A world whose manifest has been changed by hand.
#[test]
fn a_manifest_of_another_page_size_is_refused() {
    let mut world = prepared(PLAN);
    let location = world.locations[0].clone();
    world.executor.block_on(async move {
        let mut changed = manifest::read(&location).await.unwrap().unwrap();
        changed.page_size_bytes = 8192;
        manifest::write(&location, &changed).await.unwrap();
    });
    world.locations.truncate(1);
    let (summary, _) = run_once(&world, None);
    assert_eq!(
        summary.failure.unwrap().text,
        "a/Plimsoll001.edb: was prepared with page_size 8.0 KiB, the plan says 32.0 KiB; change \
         the plan, prepare another folder, or fill this one anew with `--reset`"
    );
}
