//! The server against a client twin that holds the same volume in memory, and against bytes that no
//! client sends.

mod support;

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::nbd::{Session, SessionEvent};
use crate::{Limits, NbdCommand, SessionEnd, serve_connection};
use device::Executor;
use proptest::prelude::*;
use support::{
    PipeWire, TwinFraming, VOLUME_BYTES, events, hall, handshake, offers, option, request,
    slow_volume,
};
use units::{Nanos, Prng, Seed};

/// One request of a script, as the twin sees it.
#[derive(Clone, Debug)]
enum Asked {
    Read(u64, u64),
    Write(u64, u64, u8),
    Zeros(u64, u64),
    Flush,
    Trim(u64, u64),
    Status(u64, u64),
}

fn place() -> impl Strategy<Value = (u64, u64)> {
    (0..VOLUME_BYTES, prop_oneof![1..2_000_u64, Just(512), Just(4_096), 1..200_000_u64])
        .prop_map(|(offset, length)| (offset, length.min(VOLUME_BYTES - offset)))
}

fn asked() -> impl Strategy<Value = Asked> {
    prop_oneof![
        4 => place().prop_map(|(offset, length)| Asked::Read(offset, length)),
        4 => (place(), any::<u8>())
            .prop_map(|((offset, length), fill)| Asked::Write(offset, length, fill)),
        1 => place().prop_map(|(offset, length)| Asked::Zeros(offset, length)),
        1 => Just(Asked::Flush),
        1 => place().prop_map(|(offset, length)| Asked::Trim(offset, length)),
        1 => place().prop_map(|(offset, length)| Asked::Status(offset, length)),
    ]
}

/// A chunk of a reply: cookie, kind and payload; the kind of a simple reply is its error.
struct Chunk {
    cookie: u64,
    kind: u16,
    payload: Vec<u8>,
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().expect("a value of the test"))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("a value of the test"))
}

/// Takes the first chunk off `bytes`. `lengths` are those of reads by cookie, for simple replies.
fn chunk(bytes: &mut &[u8], framing: TwinFraming, lengths: &BTreeMap<u64, u64>) -> Chunk {
    let (cookie, kind, head, length) = match framing {
        TwinFraming::Simple => {
            assert_eq!(u32_at(bytes, 0), 0x6744_6698);
            let cookie = u64_at(bytes, 8);
            let error = u16::try_from(u32_at(bytes, 4)).expect("a value of the test");
            let length = if error == 0 { lengths.get(&cookie).copied().unwrap_or(0) } else { 0 };
            (cookie, error, 16, length)
        }
        TwinFraming::Structured => {
            assert_eq!(u32_at(bytes, 0), 0x668e_33ef);
            (u64_at(bytes, 8), u16_at(bytes, 6), 20, u64::from(u32_at(bytes, 16)))
        }
        TwinFraming::Extended => {
            assert_eq!(u32_at(bytes, 0), 0x6e8a_278c);
            (u64_at(bytes, 8), u16_at(bytes, 6), 32, u64_at(bytes, 24))
        }
    };
    let end = head + usize::try_from(length).expect("a value of the test");
    let payload = bytes[head..end].to_vec();
    *bytes = &bytes[end..];
    Chunk { cookie, kind, payload }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(bytes[at..at + 2].try_into().expect("a value of the test"))
}

/// Sends the whole script at once; returns the bytes that the server sent after its handshake.
fn served(executor: &Executor, device: &Rc<dyn device::Device>, sent: &[u8]) -> Vec<u8> {
    let hall = hall(device, 1 << 20);
    let wire = Rc::new(PipeWire::default());
    wire.send(sent);
    wire.close();
    let (twin, runtime) = (Rc::clone(&wire), executor.runtime());
    executor
        .block_on(async move { serve_connection(hall, twin, runtime, Rc::new(|_| false)).await });
    wire.from_server.take()
}

/// The bytes after the handshake, which ends with the acknowledgement of GO.
fn behind_handshake(bytes: &[u8]) -> &[u8] {
    let go = [&0x0003_e889_0455_65a9_u64.to_be_bytes()[..], &[0, 0, 0, 7, 0, 0, 0, 1]].concat();
    let at = bytes.windows(go.len()).position(|window| window == go).expect("a value of the test");
    &bytes[at + go.len() + 4..]
}

fn plays(framing: TwinFraming, script: &[Asked]) {
    let (executor, device) = slow_volume();
    let mut twin = vec![0; usize::try_from(VOLUME_BYTES).expect("a value of the test")];
    let mut sent = handshake(framing, "rw");
    let (mut expected, mut lengths) = (BTreeMap::new(), BTreeMap::new());
    for (cookie, asked) in (1_000_u64..).zip(script) {
        let range = |offset: &u64, length: &u64| {
            usize::try_from(*offset).expect("a value of the test")
                ..usize::try_from(offset + length).expect("a value of the test")
        };
        // One connection's requests take effect in order of arrival, since the server keeps
        // overlapping ones in that order.
        let (kind, place) = match asked {
            Asked::Read(offset, length) => {
                expected.insert(cookie, twin[range(offset, length)].to_vec());
                lengths.insert(cookie, *length);
                (0, (*offset, *length))
            }
            Asked::Write(offset, length, fill) => {
                twin[range(offset, length)].fill(*fill);
                (1, (*offset, *length))
            }
            Asked::Zeros(offset, length) => {
                twin[range(offset, length)].fill(0);
                (6, (*offset, *length))
            }
            Asked::Flush => (3, (0, 0)),
            Asked::Trim(offset, length) => (4, (*offset, *length)),
            Asked::Status(offset, length) => {
                // Without metadata contexts the server refuses; simple replies have none.
                (7, (*offset, *length))
            }
        };
        sent.extend(request(framing, (kind, 0), cookie, place));
        if let Asked::Write(_, length, fill) = asked {
            sent.extend(vec![*fill; usize::try_from(*length).expect("a value of the test")]);
        }
    }
    let bytes = served(&executor, &device, &sent);
    let mut rest = behind_handshake(&bytes);
    for _ in script {
        let chunk = chunk(&mut rest, framing, &lengths);
        let asked = &script[usize::try_from(chunk.cookie - 1_000).expect("a value of the test")];
        judge(asked, framing, &chunk, expected.get(&chunk.cookie));
    }
    assert!(rest.is_empty(), "one reply each");
}

/// Panics unless the reply is the one to `asked`; `expected` are the bytes of a read.
fn judge(asked: &Asked, framing: TwinFraming, chunk: &Chunk, expected: Option<&Vec<u8>>) {
    let is_read = |bytes: &[u8]| expected.is_some_and(|expected| expected == bytes);
    match (asked, framing) {
        (Asked::Read(..), TwinFraming::Simple) => assert!(is_read(&chunk.payload), "{asked:?}"),
        (Asked::Read(offset, _), _) => {
            assert_eq!((chunk.kind, u64_at(&chunk.payload, 0)), (1, *offset));
            assert!(is_read(&chunk.payload[8..]), "{asked:?}");
        }
        (Asked::Status(..), TwinFraming::Simple) => assert_eq!(chunk.kind, 22),
        (Asked::Status(_, length), TwinFraming::Structured) => {
            assert_eq!((chunk.kind, u64::from(u32_at(&chunk.payload, 4))), (5, *length));
        }
        (Asked::Status(_, length), TwinFraming::Extended) => {
            assert_eq!((chunk.kind, u64_at(&chunk.payload, 8)), (6, *length));
        }
        _ => assert_eq!((chunk.kind, chunk.payload.len()), (0, 0), "{asked:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_volume_is_that_of_the_twin(script in proptest::collection::vec(asked(), 1..40)) {
        for framing in [TwinFraming::Simple, TwinFraming::Structured, TwinFraming::Extended] {
            plays(framing, &script);
        }
    }
}

#[test]
fn requests_that_make_no_sense_are_refused_by_number_and_the_next_one_is_served() {
    let mut session = Session::new(offers(), Limits::default());
    events(&mut session, &handshake(TwinFraming::Structured, "ro"));
    assert_eq!(session.export(), Some(1));
    for ((kind, flags, offset, length), payload, number) in [
        ((1, 0, 0, 512), 512, 1), // A write to a read-only export.
        ((6, 0, 0, 512), 0, 1),
        ((0, 0, VOLUME_BYTES, 1), 0, 22), // Behind the end.
        ((0, 0, u64::MAX, 2), 0, 22),
        ((0, 0, 0, 0), 0, 22),
        ((0, 0, 0, (64 << 20) + 1), 0, 22), // Longer than announced.
        ((0, 16, 0, 512), 0, 22),           // A flag that reads do not have.
        ((9, 0, 0, 512), 0, 22),            // No command.
        ((8, 0, 0, 512), 0, 22),
    ] {
        let mut bytes = request(TwinFraming::Structured, (kind, flags), 7, (offset, length));
        bytes.extend(vec![0; payload]);
        let told = events(&mut session, &bytes);
        let [SessionEvent::Send(reply)] = &told[..] else {
            panic!("{kind} {flags} {offset} {length}: {told:?}");
        };
        assert_eq!((u16_at(reply, 6), u64_at(reply, 8)), (1 << 15 | 1, 7));
        assert_eq!(u32_at(reply, 20), number, "{kind} {flags} {offset} {length}");
    }
    let read = request(TwinFraming::Structured, (0, 4), 8, (0, 512));
    let told = events(&mut session, &read);
    let [SessionEvent::Request(read)] = &told[..] else {
        panic!("{told:?}");
    };
    assert!(matches!(read.command, NbdCommand::Read));
}

#[test]
fn a_write_beyond_the_end_is_out_of_space_and_its_payload_is_skipped() {
    let mut session = Session::new(offers(), Limits::default());
    events(&mut session, &handshake(TwinFraming::Simple, ""));
    let mut bytes = request(TwinFraming::Simple, (1, 0), 1, (VOLUME_BYTES - 1, 9));
    bytes.extend([0xff; 9]);
    bytes.extend(request(TwinFraming::Simple, (3, 0), 2, (u64::MAX, 0)));
    bytes.extend(request(TwinFraming::Simple, (2, 0), 3, (0, 0)));
    let told = events(&mut session, &bytes);
    let [SessionEvent::Send(refused), SessionEvent::Request(flush), SessionEvent::End(end)] =
        &told[..]
    else {
        panic!("{told:?}");
    };
    assert_eq!((u32_at(refused, 4), u64_at(refused, 8)), (28, 1));
    assert!(matches!(flush.command, NbdCommand::Flush));
    assert_eq!(*end, SessionEnd::Left);
}

#[test]
fn an_extended_write_without_the_flag_of_its_payload_is_a_write() {
    let mut session = Session::new(offers(), Limits::default());
    events(&mut session, &handshake(TwinFraming::Extended, "rw"));
    let mut bytes = request(TwinFraming::Extended, (1, 0), 1, (0, 512));
    bytes[4..6].fill(0);
    bytes.extend([0x5a; 512]);
    bytes.extend(request(TwinFraming::Extended, (3, 0), 2, (0, 0)));
    let told = events(&mut session, &bytes);
    let [SessionEvent::Request(write), SessionEvent::Request(flush)] = &told[..] else {
        panic!("{told:?}");
    };
    assert!(matches!(&write.command, NbdCommand::Write(payload) if payload[..] == [0x5a; 512]));
    assert!(matches!(flush.command, NbdCommand::Flush));
}

#[test]
fn options_that_the_server_lacks_or_cannot_read_are_answered() {
    let mut session = Session::new(offers(), Limits::default());
    let mut bytes = 3_u32.to_be_bytes().to_vec();
    let cases = [
        (99, vec![], 1 | 1 << 31),                       // Unknown.
        (5, vec![], 4 | 1 << 31),                        // TLS.
        (3, vec![1], 3 | 1 << 31),                       // A list with data.
        (7, vec![0, 0, 0, 9, b'x'], 3 | 1 << 31),        // A name that ends early.
        (7, vec![0, 0, 0, 1, b'x', 0, 0], 6 | 1 << 31),  // No such export.
        (10, vec![0, 0, 0, 0, 0, 0, 0, 0], 3 | 1 << 31), // Contexts before structured replies.
        (2, vec![], 1),                                  // Leave.
    ];
    for (kind, data, _) in &cases {
        bytes.extend(option(*kind, data));
    }
    let told = events(&mut session, &bytes);
    let replies = told.iter().filter_map(|event| match event {
        SessionEvent::Send(bytes) if bytes.len() >= 20 => {
            Some((u32_at(bytes, 8), u32_at(bytes, 12)))
        }
        _ => None,
    });
    let expected: Vec<(u32, u32)> = cases.iter().map(|(kind, _, reply)| (*kind, *reply)).collect();
    assert_eq!(replies.collect::<Vec<_>>(), expected);
    assert!(matches!(told.last(), Some(SessionEvent::End(SessionEnd::Left))));
}

#[test]
fn a_server_that_needs_tls_answers_nothing_before_it() {
    let limits = Limits { needs_tls: true, ..Limits::default() };
    let mut session = Session::new(offers(), limits);
    let mut bytes = 3_u32.to_be_bytes().to_vec();
    for kind in [3, 8, 7] {
        bytes.extend(option(kind, &[]));
    }
    bytes.extend(option(5, &[]));
    let told = events(&mut session, &bytes);
    let [_greeting, refused @ .., SessionEvent::StartTls(acknowledged)] = &told[..] else {
        panic!("{told:?}");
    };
    for refused in refused {
        assert!(matches!(refused, SessionEvent::Send(bytes) if u32_at(bytes, 12) == 1 << 31 | 5));
    }
    assert_eq!((refused.len(), u32_at(acknowledged, 12)), (3, 1));
    let go = &handshake(TwinFraming::Simple, "rw")[4..];
    assert!(matches!(events(&mut session, go)[..], [SessionEvent::Send(_)]));
    assert_eq!(session.export(), Some(0));
    let mut old = Session::new(offers(), limits);
    let name = [&3_u32.to_be_bytes()[..], &option(1, b"rw")].concat();
    let told = events(&mut old, &name);
    assert!(matches!(told.last(), Some(SessionEvent::End(SessionEnd::UnknownExport))));
}

/// A stream that begins well and then goes wrong: bits flipped, parts cut out, noise.
fn malformed(prng: &mut Prng) -> Vec<u8> {
    let framing = [TwinFraming::Simple, TwinFraming::Structured, TwinFraming::Extended]
        [usize::try_from(prng.below(3)).expect("a value of the test")];
    let mut bytes = handshake(framing, if prng.below(2) == 0 { "rw" } else { "none" });
    for _ in 0..prng.below(4) {
        let (kind, length) =
            (u16::try_from(prng.below(9)).expect("a value of the test"), prng.below(5_000));
        bytes.extend(request(
            framing,
            (kind, 0),
            prng.next_u64(),
            (prng.below(VOLUME_BYTES), length),
        ));
        bytes.extend(vec![0; usize::try_from(prng.below(5_000)).expect("a value of the test")]);
    }
    for _ in 0..=prng.below(8) {
        let at = usize::try_from(prng.below(bytes.len() as u64)).expect("a value of the test");
        match prng.below(4) {
            0 => bytes.truncate(at.max(1)),
            1 => bytes[at] = u8::try_from(prng.below(256)).expect("a value of the test"),
            2 => bytes[at] ^= 1 << prng.below(8),
            _ => {
                let mut noise = [0; 64];
                prng.fill(&mut noise);
                bytes.splice(at..at, noise);
            }
        }
    }
    bytes
}

#[test]
fn ten_thousand_malformed_streams_neither_panic_nor_take_more_memory_than_granted() {
    let (executor, device) = slow_volume();
    let mut prng = Prng::new(Seed(46));
    for _ in 0..10_000 {
        let bytes = malformed(&mut prng);
        let hall = hall(&device, 64 << 10);
        let wire = Rc::new(PipeWire::default());
        wire.send(&bytes);
        wire.close();
        let (twin, runtime, clock) = (Rc::clone(&wire), executor.runtime(), executor.runtime());
        let twin_hall = Rc::clone(&hall);
        let stops: Rc<dyn Fn(&std::task::Context<'_>) -> bool> = Rc::new(|_| false);
        executor.block_on(async move {
            serve_connection(twin_hall, twin, runtime, stops).await;
            clock.sleep(Nanos(1)).await;
        });
        assert_eq!(hall.memory.used(), 0, "everything was given back");
        let sent = wire.from_server.borrow().len();
        assert!(sent < 1 << 20, "{sent} bytes in answer to {}", bytes.len());
    }
}

/// A device that waits asks the wire whether its client is still there.
#[test]
fn a_client_leaves_by_its_own_act_and_not_because_the_server_stops() {
    let (executor, device) = slow_volume();
    for (is_closed, stops) in [(true, false), (false, true)] {
        let wire = Rc::new(PipeWire::default());
        let read = request(TwinFraming::Simple, (0, 0), 1, (0, 4_096));
        wire.send(&[handshake(TwinFraming::Simple, "rw"), read].concat());
        if is_closed {
            wire.close();
        }
        let (twin, runtime, hall) = (Rc::clone(&wire), executor.runtime(), hall(&device, 1 << 20));
        let question: Rc<dyn Fn(&std::task::Context<'_>) -> bool> = Rc::new(move |_| stops);
        executor.block_on(async move { serve_connection(hall, twin, runtime, question).await });
        assert_eq!(wire.has_left.get(), is_closed);
    }
}
