//! Prepares databases in virtual time: kept, started over and refused ones.

use std::rc::Rc;
use std::sync::Arc;

use device::{OpenMode, Volume};
use units::Bytes;

use super::{Action, Complete, FillTarget, PrepareError, Progress, preflight, prepare};
use crate::coordinator::{Coordinator, Stop};
use crate::manifest::{self, ManifestState};
use crate::testing::{World, collector};

const PAGE: usize = 32 << 10;
const PLAN: &str = "seed = 7\n[databases]\nfolders = [\"a\", \"b\"]\nsize = \"16MiB\"\n";

/// Checks the targets of `world`.
fn look(world: &World) -> Result<Vec<FillTarget>, PrepareError> {
    let (plan, locations) = (world.plan.clone(), world.locations.clone());
    let looking = async move { preflight(&plan, &locations, Complete::Stays).await };
    world.executor.block_on(looking)
}

/// Prepares all databases of `world` in one group; asks to stop after `stop_after` writes.
fn fill(world: &World, stop_after: Option<usize>) -> (Result<(), PrepareError>, Vec<Progress>) {
    let (sink, kept) = collector();
    let coordinator = Arc::new(Coordinator::new(1));
    let (twin, seen) = (Arc::clone(&coordinator), Rc::clone(&kept));
    let progress: crate::Sink<Progress> = Rc::new(move |step| {
        sink(step);
        if Some(seen.borrow().len()) == stop_after {
            twin.stop(Stop::Interrupted);
        }
    });
    let runtime = world.executor.runtime();
    let (plan, locations) = (world.plan.clone(), world.locations.clone());
    let outcome = world.executor.block_on(async move {
        let targets = preflight(&plan, &locations, Complete::Stays).await?;
        prepare(&runtime, &plan, targets, &coordinator, &progress).await
    });
    let steps = kept.borrow().clone();
    (outcome, steps)
}

fn actions(world: &World) -> Vec<Action> {
    let targets = look(world).expect("nothing to refuse");
    targets.iter().map(|target| target.action).collect()
}

/// Databases of another size are refused, unless they may go; then only the difference counts.
#[test]
fn a_reset_replaces_complete_databases_of_another_plan() {
    let mut world = World::new(PLAN);
    fill(&world, None).0.unwrap();
    world.plan.size = Bytes(24 << 20);
    assert!(matches!(look(&world), Err(PrepareError::Manifest(_))));
    let (plan, locations) = (world.plan.clone(), world.locations.clone());
    let looking = async move { preflight(&plan, &locations, Complete::Reset).await };
    let targets = world.executor.block_on(looking).expect("targets");
    assert!(targets.iter().all(|target| target.action == Action::Reset));
}

#[test]
fn a_fill_ends_with_a_manifest_and_is_kept_the_next_time() {
    let world = World::new(PLAN);
    assert_eq!(actions(&world), [Action::Create; 2]);
    let (outcome, steps) = fill(&world, None);
    outcome.unwrap();
    let mut complete: Vec<_> = steps.iter().filter(|step| step.is_complete).collect();
    complete.sort_by_key(|step| step.database);
    assert_eq!(complete.len(), 2);
    assert!(complete.iter().all(|step| step.rows > 1000), "{complete:?}");

    let location = world.locations[1].clone();
    let reading = async move { manifest::read(&location).await };
    let manifest = world.executor.block_on(reading).unwrap().unwrap();
    assert_eq!((manifest.state, manifest.seed), (ManifestState::Complete, 7));
    assert_eq!((manifest.database, manifest.rows), (1, complete[1].rows));
    assert_eq!(manifest.signature.len(), 56);
    let image = world.volumes[1].image();
    assert_eq!(image.files["Plimsoll002.edb"].length(), manifest.file_bytes);

    assert_eq!(actions(&world), [Action::Keep; 2]);
    let (again, steps) = fill(&world, None);
    again.unwrap();
    assert_eq!(steps.len(), 2, "nothing is written again");
}

#[test]
fn the_same_seed_fills_the_same_bytes() {
    let (one, two) = (World::new(PLAN), World::new(PLAN));
    fill(&one, None).0.unwrap();
    fill(&two, None).0.unwrap();
    let bytes = |world: &World| world.volumes[0].image().files["Plimsoll001.edb"].to_vec();
    assert!(bytes(&one) == bytes(&two));
    let other = World::new(&PLAN.replace("seed = 7", "seed = 8"));
    fill(&other, None).0.unwrap();
    assert!(bytes(&one) != bytes(&other));
}

#[test]
fn nothing_is_left_of_an_older_database_of_the_same_seed() {
    let (one, two) = (World::new(PLAN), World::new(PLAN));
    let older = World::new(&PLAN.replace("16MiB", "32MiB"));
    fill(&older, None).0.unwrap();
    let deleted = older.volumes[0].image().files["Plimsoll001.edb"].clone();
    for volume in &two.volumes {
        volume.leave_behind(deleted.clone());
    }
    for (world, written_whole) in [(&one, false), (&two, true)] {
        let (outcome, steps) = fill(world, None);
        outcome.unwrap();
        let complete: Vec<_> = steps.iter().filter(|step| step.is_complete).collect();
        assert_eq!(
            complete.iter().filter(|step| step.written_whole).count(),
            if written_whole { 2 } else { 0 }
        );
    }
    for (index, file) in ["Plimsoll001.edb", "Plimsoll002.edb"].into_iter().enumerate() {
        let bytes = |world: &World| world.volumes[index].image().files[file].to_vec();
        // Skips the two header pages: their signature includes the time of the fill.
        let (zeros, remains) = (bytes(&one), bytes(&two));
        assert!(zeros[2 * PAGE..] == remains[2 * PAGE..], "{file} holds what another left there");
    }
}

#[test]
fn a_fill_that_is_broken_off_leaves_no_database() {
    let world = World::new(PLAN);
    let (outcome, _) = fill(&world, Some(3));
    assert!(matches!(outcome, Err(PrepareError::Interrupted { .. })), "{outcome:?}");
    for (volume, file) in world.volumes.iter().zip(["Plimsoll001.edb", "Plimsoll002.edb"]) {
        let bytes = volume.image().files[file].to_vec();
        let header = ese::header::DatabaseHeader::decode(&bytes[..PAGE]);
        assert_eq!(header.state, ese::header::DatabaseState::JustCreated);
    }
}

#[test]
fn an_interrupted_fill_is_started_over() {
    let world = World::new(PLAN);
    let (outcome, _) = fill(&world, Some(3));
    assert!(matches!(outcome, Err(PrepareError::Interrupted { .. })), "{outcome:?}");
    assert_eq!(actions(&world), [Action::Restart; 2]);
    fill(&world, None).0.unwrap();
    assert_eq!(actions(&world), [Action::Keep; 2]);
}

#[test]
fn a_fill_cut_off_without_warning_is_started_over() {
    let world = World::new(PLAN);
    let runtime = world.executor.runtime();
    let (plan, locations) = (world.plan.clone(), world.locations.clone());
    world.executor.block_on(async move {
        let targets = preflight(&plan, &locations, Complete::Stays).await.unwrap();
        let coordinator = Arc::new(Coordinator::new(1));
        let (progress, steps) = collector::<Progress>();
        let inner = runtime.clone();
        let filling = async move { prepare(&inner, &plan, targets, &coordinator, &progress).await };
        drop(runtime.spawn(filling));
        while steps.borrow().len() < 4 {
            runtime.sleep(units::Nanos::from_micros(100)).await;
        }
        assert!(!steps.borrow().iter().any(|step| step.is_complete));
    });
    world.executor.abandon();
    assert_eq!(actions(&world), [Action::Restart; 2]);
    fill(&world, None).0.unwrap();
    assert_eq!(actions(&world), [Action::Keep; 2]);
}

#[test]
fn a_fill_that_goes_on_elsewhere_is_left_alone() {
    let world = World::new(PLAN);
    let (outcome, _) = fill(&world, Some(3));
    assert!(outcome.is_err());
    let volume = world.volumes[1].clone();
    let holding = async move { volume.open("Plimsoll002.edb", OpenMode::ReadWrite).await };
    let held = world.executor.block_on(holding).unwrap();
    let Err(error) = look(&world) else {
        panic!("another process fills this database");
    };
    assert!(error.to_string().contains("in use by another plimsoll process"), "{error}");
    drop(held);
    assert_eq!(actions(&world), [Action::Restart; 2]);
}

#[test]
fn files_of_others_are_never_touched() {
    for (file, folder) in [("Plimsoll002.edb", "b"), ("E01.plg", "b"), ("E0000000A.plg", "a")] {
        let world = World::new(PLAN);
        let volume = world.volumes[usize::from(folder == "b")].clone();
        let foreign = async move {
            let created = volume.open(file, OpenMode::CreateNew { length: 4096 });
            drop(created.await.unwrap());
        };
        world.executor.block_on(foreign);
        let Err(error) = look(&world) else {
            panic!("{file} is in use");
        };
        assert_eq!(
            error.to_string(),
            format!(
                "{folder}: {file} is already there and no manifest says that plimsoll made it; \
                 choose an empty folder, or remove the file yourself"
            )
        );
        assert_eq!(world.volumes[0].image().files.len() + world.volumes[1].image().files.len(), 1);
    }
}

#[test]
fn a_database_of_another_seed_is_not_overwritten() {
    let world = World::new(PLAN);
    fill(&world, None).0.unwrap();
    let mut other = World::new(&PLAN.replace("seed = 7", "seed = 8"));
    other.locations.clone_from(&world.locations);
    other.executor = world.executor;
    let Err(error) = look(&other) else {
        panic!("the databases are of another seed");
    };
    assert!(error.to_string().contains("prepared with seed"), "{error}");
}

#[test]
fn space_is_counted_before_anything_is_written() {
    // Two databases of 600 GiB on 1 TiB of shared storage: each fits, both do not.
    let text = "[databases]\nfolders = [\"a\"]\ncount = 2\nsize = \"600GiB\"\n";
    let world = World::new(text);
    let Err(error) = look(&world) else {
        panic!("there is not enough space");
    };
    assert_eq!(
        error.to_string(),
        "a: 1.17 TiB are needed and 1.00 TiB are free; free some space, or lower `size` \
         or `count` in the plan (for `quick`: --size)"
    );
    assert!(world.volumes.iter().all(|volume| volume.image().files.is_empty()));
    assert_eq!(actions(&World::new(&text.replace("600", "400"))), [Action::Create; 2]);
}
