//! Streams that begin well and then go wrong.

use device_net::iscsi_codec::{FINAL, Head, field, request};
use units::{Nanos, Prng, Seed};

use crate::tests::pdus::{TARGET, command, data_out, login, offer, pdu};
use crate::tests::pipe::Stage;

const KNOWN: [u8; 24] = [
    0x00, 0x03, 0x08, 0x0a, 0x12, 0x16, 0x17, 0x1a, 0x25, 0x28, 0x2a, 0x35, 0x41, 0x42, 0x5e, 0x5f,
    0x88, 0x89, 0x8a, 0x93, 0x9e, 0xa0, 0xa8, 0xaa,
];

fn small(prng: &mut Prng, below: u64) -> usize {
    usize::try_from(prng.below(below)).expect("a value of the test")
}

fn word(prng: &mut Prng, below: u64) -> u32 {
    u32::try_from(prng.below(below)).expect("a value of the test")
}

fn piece(prng: &mut Prng, number: u32) -> Vec<u8> {
    let mut cdb = [0; 16];
    prng.fill(&mut cdb);
    cdb[0] = KNOWN[small(prng, 24)];
    if prng.percent(70) {
        cdb[2..8].fill(0);
    }
    let data = vec![0; small(prng, 3_000)];
    match prng.below(6) {
        0 => data_out(word(prng, 8), word(prng, 5_000), &data),
        1 => {
            let opcode = u8::try_from(small(prng, 64)).expect("below 64");
            let head = Head::new(opcode, FINAL | (cdb[1] & 0x7f)).with(field::TASK_TAG, number);
            pdu(head.with(field::COMMAND_NUMBER, number), &data)
        }
        2 => pdu(Head::new(request::TEXT, FINAL).with(field::COMMAND_NUMBER, number), &data),
        _ => {
            let flags = if prng.percent(60) { 0x20 } else { 0x40 };
            command(number, flags, word(prng, 2_000_000), &cdb, &data)
        }
    }
}

/// A login, commands, and damage.
fn stream(prng: &mut Prng) -> Vec<u8> {
    let mut bytes = login(if prng.percent(95) { TARGET } else { "iqn.none" });
    for number in 0..word(prng, 8) {
        bytes.extend(piece(prng, number));
    }
    for _ in 0..prng.below(5) {
        let at = small(prng, bytes.len() as u64);
        match prng.below(4) {
            0 => bytes.truncate(at.max(1)),
            1 => bytes[at] = u8::try_from(small(prng, 256)).expect("below 256"),
            2 => bytes[at] ^= 1 << prng.below(8),
            _ => {
                let mut noise = [0; 48];
                prng.fill(&mut noise);
                bytes.splice(at..at, noise);
            }
        }
    }
    bytes
}

#[test]
fn ten_thousand_malformed_streams_neither_panic_nor_keep_memory() {
    let stage = Stage::new(offer(false), 8 << 20);
    let mut prng = Prng::new(Seed(48));
    for number in 0..10_000 {
        let bytes = stream(&mut prng);
        let wire = stage.connect();
        wire.send(&bytes);
        stage.pass(Nanos(50_000));
        assert!(stage.memory.used() <= 8 << 20);
        wire.close();
        stage.pass(Nanos(1_000_000));
        assert!(wire.end.borrow().is_some(), "stream {number} has ended");
        assert_eq!(stage.memory.used(), 0, "stream {number}: everything was given back");
        let sent = wire.from_server.borrow().len();
        assert!(sent < 16 << 20, "{sent} bytes in answer to {}", bytes.len());
    }
}
