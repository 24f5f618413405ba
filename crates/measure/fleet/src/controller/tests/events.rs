//! Hosts that are lost deliberately, together with hosts lost otherwise.

use proptest::prelude::*;
use units::Nanos;

use super::{Fate, World, fates, id};
use crate::FleetEvent;

/// DB0 is active on EX0 and DB1 on EX1, each with a copy on the other and on EX2.
const COPIES: &str = "[[database]]\nname = \"DB0\"\ncopies = [\"EX0\", \"EX1\", \"EX2\"]\n\
    [[database]]\nname = \"DB1\"\ncopies = [\"EX1\", \"EX2\", \"EX0\"]\n";

fn event(at: u64, action: &str) -> String {
    format!("[[event]]\nat = \"{at}s\"\n{action}\n")
}

#[test]
fn a_host_that_is_lost_on_purpose_dies_on_time_and_ends_no_run() {
    let events = format!("{COPIES}{}", event(10, "lose = \"EX0\""));
    let mut world = World::with_events(6, 0, &[Fate::None; 3], &events);
    world.run();
    assert_eq!((world.lost(), world.controller.early()), (Vec::new(), None));
    let from = world.notes.iter().find_map(|(_, event)| match event {
        FleetEvent::MeasureFrom { at_ns } => Some(Nanos(*at_ns)),
        _ => None,
    });
    let killed = world.nodes[&id(0)].killed.expect("EX0 was killed");
    let late = killed.since(from.expect("a common instant") + Nanos::from_secs(10));
    assert!(late <= Nanos::from_millis(10), "{late} late");
    let is_noted = |of: &FleetEvent| world.notes.iter().any(|(_, event)| event == of);
    assert!(is_noted(&FleetEvent::Down { host: 0 }));
    assert!(is_noted(&FleetEvent::HostEnded { host: 1, status: 0 }));
    assert!(!is_noted(&FleetEvent::HostEnded { host: 0, status: 2 }), "its end was no result");
}

#[test]
fn a_host_that_rejoins_is_waited_for() {
    let lose = event(10, "lose = \"EX0\"");
    let events = format!("{COPIES}{lose}{}", event(25, "rejoin = \"EX0\""));
    let mut world = World::with_events(7, 0, &[Fate::None; 3], &events);
    world.run();
    assert_eq!(world.controller.early(), None);
    let order: Vec<&FleetEvent> = (world.notes.iter().map(|(_, event)| event))
        .filter(|event| {
            matches!(event, FleetEvent::Down { .. } | FleetEvent::Up { .. })
                || matches!(event, FleetEvent::HostEnded { host: 0, .. })
        })
        .collect();
    let expected = [
        FleetEvent::Down { host: 0 },
        FleetEvent::Up { host: 0 },
        FleetEvent::HostEnded { host: 0, status: 0 },
    ];
    assert_eq!(order, expected.iter().collect::<Vec<_>>());
}

#[test]
fn a_host_that_is_cut_off_dies_on_purpose_all_the_same() {
    let events = format!("{COPIES}{}", event(10, "lose = \"EX0\""));
    let fates = [Fate::IsCutOff(15, 40), Fate::None, Fate::None];
    let mut world = World::with_events(8, 0, &fates, &events);
    world.run();
    assert!(world.nodes[&id(0)].killed.is_some(), "its agent needs no order to die");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn the_controller_always_ends_with_events_and_blames_no_sound_host(
        seed in any::<u64>(),
        loss_percent in 0_u64..30,
        fates in prop::collection::vec(fates(), 3),
        lost in 0_usize..3,
        at in 1_u64..30,
        back in prop::option::of(1_u64..20),
    ) {
        let mut events = format!("{COPIES}{}", event(at, &format!("lose = \"EX{lost}\"")));
        if let Some(back) = back {
            events.push_str(&event(at + back, &format!("rejoin = \"EX{lost}\"")));
        }
        let mut world = World::with_events(seed, loss_percent, &fates, &events);
        world.run();
        for host in world.lost() {
            let is_unsound = matches!(fates[host], Fate::Dies(_) | Fate::IsCutOff(..));
            prop_assert!(is_unsound, "host {host} was sound: {fates:?}");
        }
        let downs: Vec<usize> = world.notes.iter().filter_map(|(_, event)| match event {
            FleetEvent::Down { host } => Some(*host),
            _ => None,
        }).collect();
        prop_assert!(downs.iter().all(|host| *host == lost), "{downs:?} and not {lost} alone");
    }
}
