//! Fails power at every request of a fill. Afterwards `prepare` either fills again from the start,
//! or finds a database that really is complete.

use std::rc::Rc;
use std::sync::Arc;

use crate::world::World;
use device::{Runtime, Volume, VolumeImage};
use faults::{CrashOptions, CrashVolume};
use plan::Plan;
use trial::prepare::{Action, Complete, PrepareError, preflight, prepare};
use trial::{Coordinator, Location};
use units::Seed;

/// As small as possible, so that power can fail at every request.
const PLAN: &str = "seed = 7\n[databases]\nfolders = [\"memory\"]\nsize = \"16MiB\"\n";

/// For each request, how often the remains of a power failure are drawn.
const DRAWS: u64 = 3;

fn location(plan: &Plan, volume: &Rc<dyn Volume>) -> Location {
    Location {
        plan: plan.databases[0].clone(),
        database: Rc::clone(volume),
        log: Rc::clone(volume),
        storage: "memory".to_owned(),
        log_storage: "memory".to_owned(),
        copies: None,
    }
}

/// Runs `prepare` on the volume; returns the action that it chose.
async fn fill(runtime: Runtime, volume: Rc<dyn Volume>) -> Result<Action, PrepareError> {
    let plan = Plan::parse("test", PLAN).unwrap();
    let targets = preflight(&plan, &[location(&plan, &volume)], Complete::Stays).await?;
    let action = targets[0].action;
    let coordinator = Arc::new(Coordinator::new(1));
    let silent = Rc::new(|_| ()) as _;
    prepare(&runtime, &plan, targets, &coordinator, &silent).await?;
    Ok(action)
}

/// Runs a fill on the files `before` until power fails at a request, or to the end; returns the
/// volume, and the action if the fill ended.
fn fill_until(before: &VolumeImage, at_request: Option<u64>) -> (CrashVolume, Option<Action>) {
    let world = World::of(before);
    let options = CrashOptions { at_request, ..CrashOptions::default() };
    let volume = CrashVolume::new(world.volume(), before, options);
    let filling = fill(world.runtime(), Rc::new(volume.clone()));
    let outcome = volume.run(world.executor(), filling);
    (volume, outcome.map(Result::unwrap))
}

/// The database file without its two headers, which contain the time of the fill.
fn content(image: &VolumeImage) -> Vec<u8> {
    image.files["Plimsoll001.edb"].to_vec().split_off(2 * 32_768)
}

/// Runs `prepare` on the files that `survived`: a database that counts as complete must hold all of
/// `expected`, and otherwise a fill must produce it.
fn take_up(survived: &VolumeImage, expected: &[u8], what: &str) -> Action {
    let world = World::of(survived);
    let found = world.run(fill(world.runtime(), world.volume()));
    let action = found.unwrap_or_else(|error| panic!("{what}: {error}"));
    if action == Action::Keep {
        assert!(content(survived) == expected, "{what}: half a database is complete");
    }
    assert!(content(&world.image()) == expected, "{what}: filled anew");
    let again = world.run(fill(world.runtime(), world.volume()));
    assert_eq!(again.unwrap(), Action::Keep, "{what}");
    action
}

/// Fails power at every request of a fill that starts from `before`.
fn crash_everywhere(before: &VolumeImage, expected: &[u8]) -> Vec<(Action, VolumeImage)> {
    let (whole, _) = fill_until(before, None);
    let mut seen = Vec::new();
    for request in 1..=whole.requests() {
        let (crashed, outcome) = fill_until(before, Some(request));
        assert_eq!(outcome, None, "power failed at request {request}");
        for draw in 0..DRAWS {
            let survived = crashed.survivors(Seed(request).derive(draw));
            let what = format!("request {request}, draw {draw}");
            seen.push((take_up(&survived, expected, &what), survived));
        }
    }
    seen
}

#[test]
fn a_fill_cut_off_anywhere_is_never_taken_for_a_whole_one() {
    let nothing = VolumeImage::default();
    let (whole, action) = fill_until(&nothing, None);
    assert_eq!(action, Some(Action::Create));
    let expected = content(&whole.survivors(Seed(0)));
    let first = crash_everywhere(&nothing, &expected);
    let count = |wanted| first.iter().filter(|(action, _)| *action == wanted).count();
    assert!(count(Action::Create) > 0, "before the manifest");
    assert!(count(Action::Restart) > 20, "amid the fill");
    assert!(count(Action::Keep) > 0, "behind the last manifest");
    // The second attempt is interrupted too, while it removes the remains of the first.
    let restarts = first.into_iter().filter(|(action, _)| *action == Action::Restart);
    let (_, left) = restarts.last().expect("counted above");
    let second = crash_everywhere(&left, &expected);
    assert!(second.iter().any(|(action, _)| *action == Action::Restart));
}
