//! Connections: bytes come back, memory is bounded, ends are clean.

use crate::InitiatorEnd;
use device_net::iscsi_codec::{field, response};
use units::{Nanos, Prng, Seed};

use crate::tests::pdus::{TARGET, command, data_out, login, login_of, offer, split, transfer};
use crate::tests::pipe::{PipeWire, Stage};

const WRITES: u8 = 0x20;
const READS: u8 = 0x40;
const MEMORY: u64 = 16 << 20;

/// Logs in and clears the first unit attention, with command 0.
fn enter(wire: &PipeWire, name: &str) {
    wire.send(&login_of(name, TARGET));
    wire.send(&command(0, 0, 0, &[0; 6], &[]));
}

/// Status of task `number`, if it has been answered.
fn status(wire: &PipeWire, number: u32) -> Option<u8> {
    let answers = split(&wire.from_server.borrow());
    let mut ends = answers.iter().filter(|(head, _)| {
        head.word(field::TASK_TAG) == number
            && (head.opcode() == response::COMMAND
                || head.opcode() == response::DATA_IN && head.0[1] & 1 != 0)
    });
    ends.next().map(|(head, _)| head.0[3])
}

#[test]
fn every_byte_comes_back_from_random_transfers() {
    let stage = Stage::new(offer(false), MEMORY);
    let wire = stage.connect();
    enter(&wire, "iqn.a");
    stage.pass(Nanos(1_000_000));
    let (mut prng, mut twin) = (Prng::new(Seed(3)), vec![0_u8; 512_000]);
    for number in 1..300 {
        let blocks = 1 + prng.below(200);
        let first = prng.below(1_000 - blocks);
        let place = usize::try_from(first * 512).expect("a value of the test");
        let range = place..place + usize::try_from(blocks * 512).expect("a value of the test");
        let (first, blocks) = (
            u32::try_from(first).expect("a value of the test"),
            u16::try_from(blocks).expect("a value of the test"),
        );
        let length = u32::from(blocks) * 512;
        wire.from_server.borrow_mut().clear();
        if prng.percent(50) {
            prng.fill(&mut twin[range.clone()]);
            let at_once = range
                .len()
                .min(usize::try_from(prng.below(3)).expect("a value of the test") * 4_096);
            let (now, later) = twin[range].split_at(at_once);
            wire.send(&command(number, WRITES, length, &transfer(0x2a, first, blocks), now));
            stage.pass(Nanos(200_000));
            if !later.is_empty() {
                let asked = split(&wire.from_server.borrow())[0].0;
                assert_eq!(asked.word(field::LENGTH) as usize, later.len());
                let at = u32::try_from(at_once).expect("a value of the test");
                wire.send(&data_out(number, at, later));
                stage.pass(Nanos(200_000));
            }
        } else {
            wire.send(&command(number, READS, length, &transfer(0x28, first, blocks), &[]));
            stage.pass(Nanos(200_000));
            let answers = split(&wire.from_server.borrow());
            let read: Vec<u8> = answers.into_iter().flat_map(|(_, data)| data).collect();
            assert!(read == twin[range], "command {number}");
        }
        assert_eq!(status(&wire, number), Some(0), "command {number}");
    }
    assert_eq!(stage.memory.used(), 0);
}

#[test]
fn announced_data_takes_no_more_memory_than_its_share() {
    let stage = Stage::new(offer(false), MEMORY);
    let greedy = stage.connect();
    enter(&greedy, "iqn.greedy");
    for number in 1..100 {
        greedy.send(&command(number, WRITES, 512_000, &transfer(0x2a, 0, 1_000), &[]));
    }
    stage.pass(Nanos(1_000_000));
    let used = stage.memory.used();
    assert!((512_000..=4 << 20).contains(&used), "{used} bytes");
    let other = stage.connect();
    enter(&other, "iqn.other");
    other.send(&command(1, WRITES, 512, &transfer(0x2a, 3, 1), &[1; 512]));
    stage.pass(Nanos(1_000_000));
    assert_eq!(status(&other, 1), Some(0), "it is not held up");
    greedy.close();
    stage.pass(Nanos(1_000_000));
    assert_eq!(stage.memory.used(), 0, "given back with the connection");
}

#[test]
fn a_connection_without_a_login_is_closed_in_time() {
    let stage = Stage::new(offer(false), MEMORY);
    let (silent, live) = (stage.connect(), stage.connect());
    enter(&live, "iqn.a");
    stage.pass(Nanos::from_secs(14));
    assert!(silent.end.borrow().is_none());
    stage.pass(Nanos::from_secs(2));
    assert!(matches!(*silent.end.borrow(), Some(InitiatorEnd::Late)));
    assert!(live.end.borrow().is_none(), "it is logged in");
}

#[test]
fn a_second_login_of_a_port_ends_the_first_and_drops_what_waits() {
    let stage = Stage::new(offer(false), MEMORY);
    let (first, other) = (stage.connect(), stage.connect());
    enter(&first, "iqn.a");
    enter(&other, "iqn.b");
    first.send(&command(1, WRITES, 1_024, &transfer(0x2a, 0, 2), &[]));
    stage.pass(Nanos(1_000_000));
    let again = stage.connect();
    enter(&again, "iqn.a");
    stage.pass(Nanos(1_000_000));
    assert!(matches!(*first.end.borrow(), Some(InitiatorEnd::Replaced)));
    first.send(&data_out(1, 0, &[9; 1_024]));
    again.send(&command(1, READS, 1_024, &transfer(0x28, 0, 2), &[]));
    stage.pass(Nanos(1_000_000));
    let answers = split(&again.from_server.borrow());
    assert!(answers.last().is_some_and(|(_, data)| *data == [0; 1_024]));
    assert!(other.end.borrow().is_none() && again.end.borrow().is_none());
}

#[test]
fn a_stopping_server_answers_what_it_has_received() {
    let stage = Stage::new(offer(false), MEMORY);
    let wire = stage.connect();
    enter(&wire, "iqn.a");
    for number in 1..20 {
        wire.send(&command(number, WRITES, 512, &transfer(0x2a, number, 1), &[7; 512]));
    }
    stage.pass(Nanos(300));
    wire.stop();
    stage.pass(Nanos(1_000_000));
    assert!(matches!(*wire.end.borrow(), Some(InitiatorEnd::Closed)));
    assert!((1..20).all(|number| status(&wire, number) == Some(0)));
}

#[test]
fn a_logout_ends_the_connection() {
    let stage = Stage::new(offer(false), MEMORY);
    let wire = stage.connect();
    wire.send(&login(TARGET));
    wire.send(&crate::tests::pdus::logout(0));
    stage.pass(Nanos(1_000_000));
    assert!(matches!(*wire.end.borrow(), Some(InitiatorEnd::Over)));
    let answers = split(&wire.from_server.borrow());
    assert_eq!(answers.last().map(|(head, _)| head.opcode()), Some(response::LOGOUT));
}
