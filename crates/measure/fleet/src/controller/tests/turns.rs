//! Hosts that warm up one after the other.

use units::Nanos;

use super::{Fate, World};
use crate::AgentStep;

/// Largest number of hosts that warm up at the same time, in a run of three.
fn most_at_once(events: &str, fates: &[Fate]) -> (usize, World) {
    let mut world = World::with_keys(9, fates, events);
    let mut most = 0;
    while world.controller.stage() < crate::FleetStage::Measuring
        && world.now < Nanos::from_secs(100)
    {
        world.step();
        let steps = world.nodes.values().filter_map(|node| node.agent.job());
        let warming = steps.filter(|job| job.step == AgentStep::WarmingUp).count();
        most = most.max(warming);
    }
    (most, world)
}

#[test]
fn one_host_warms_up_at_a_time_and_all_measure_together() {
    let (together, _) = most_at_once("", &[Fate::None; 3]);
    assert_eq!(together, 3);
    let (in_turns, mut world) = most_at_once("warm_up = \"in turns\"\n", &[Fate::None; 3]);
    assert_eq!(in_turns, 1);
    world.run();
    assert_eq!(world.controller.early(), None, "{:?}", world.notes);
}

#[test]
fn a_host_that_dies_in_its_turn_ends_the_run_with_its_name() {
    let fates = [Fate::None, Fate::Dies(12), Fate::None];
    let (_, mut world) = most_at_once("warm_up = \"in turns\"\n", &fates);
    world.run();
    let early = world.controller.early().expect("an early end");
    assert!(early.contains("EX1"), "{early}");
}
