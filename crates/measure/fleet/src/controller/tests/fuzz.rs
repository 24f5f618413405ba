//! Messages that were damaged on their way, ten thousand of each kind.

use units::{Nanos, Prng, Seed};

use super::{Anywhere, Fate, World, id};
use crate::{AgentAnswer, AgentOrder, Ask, Heartbeat, MessageFault, decode, encode};

const MESSAGES: usize = 10_000;

/// `bytes` with a few of them changed, left out or repeated.
fn damaged(bytes: &[u8], prng: &mut Prng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=prng.below(2) {
        let at = usize::try_from(prng.below(bytes.len() as u64)).expect("a short message");
        match prng.below(3) {
            0 => bytes[at] = b'!' + prng.next_u64().to_le_bytes()[0] % 94,
            1 if bytes.len() > 1 => {
                bytes.remove(at);
            }
            _ => bytes.insert(at, bytes[at]),
        }
    }
    bytes
}

/// A fleet that measures.
fn measuring() -> World {
    let mut world = World::new(1, 0, &[Fate::None; 2]);
    while world.controller.stage() != crate::FleetStage::Measuring {
        world.step();
    }
    for _ in 0..300 {
        world.step();
    }
    world
}

#[test]
fn an_agent_does_nothing_for_damaged_orders_of_a_controller_that_was_replaced() {
    let mut world = measuring();
    let agent = &mut world.nodes.get_mut(&id(0)).expect("a host").agent;
    agent.ask(Ask { epoch: 9, number: 5, order: AgentOrder::Describe }, &Anywhere);
    let (kept, mut prng) = (agent.kept().cloned(), Prng::new(Seed(7)));
    let mut read = 0;
    for number in 0..MESSAGES {
        let run = "r1".to_owned().try_into().expect("sound");
        let order = if number % 2 == 0 {
            AgentOrder::Stop { run }
        } else {
            AgentOrder::Measure { run, at_ns: 7 }
        };
        let ask = encode(&Ask { epoch: 1, number: number as u64 % 4, order });
        let Ok(ask) = decode::<Ask>(&damaged(&ask, &mut prng)) else { continue };
        if ask.epoch < 9 {
            read += 1;
            assert_eq!(agent.ask(ask, &Anywhere), (None, None));
        }
    }
    assert_eq!(agent.kept(), kept.as_ref());
    assert!(read > 50, "{read} of {MESSAGES} could be read, too few to prove anything");
}

#[test]
fn a_controller_does_nothing_for_damaged_heartbeats_and_answers_from_elsewhere() {
    let mut world = measuring();
    let state = |world: &World| {
        let hosts: Vec<_> = world.controller.hosts().collect();
        format!("{:?} {hosts:?}", world.controller.stage())
    };
    let (before, mut prng) = (state(&world), Prng::new(Seed(8)));
    let mut read = 0;
    for _ in 0..MESSAGES {
        // The first heartbeat of an agent that has sent many since.
        let beat = Heartbeat {
            agent: id(0),
            host: "EX0".to_owned(),
            sequence: 1,
            started_ns: 1,
            job: None,
            load: None,
        };
        let beat = decode::<Heartbeat>(&damaged(&encode(&beat), &mut prng));
        let is_old = |beat: &Heartbeat| (beat.started_ns, beat.sequence) <= (1, 20);
        if let Some(beat) = beat.ok().filter(is_old) {
            read += 1;
            world.controller.heard(&beat, world.now);
        }
        let answer = encode(&AgentAnswer::Refused { why: "no".to_owned() });
        if let Ok(answer) = decode::<AgentAnswer>(&damaged(&answer, &mut prng)) {
            world.controller.answered(&id(1), 1, answer, world.now);
        }
    }
    assert_eq!(state(&world), before);
    assert!(read > 100, "{read} of {MESSAGES} could be read, too few to prove anything");
    let none = decode::<Ask>(&[]);
    assert!(matches!(none, Err(MessageFault::Malformed { .. })));
    assert!(world.now > Nanos::ZERO);
}
