//! Several hosts at one disk: reservations through the wire, and what a fence guarantees.

use device_net::iscsi_codec::{field, response};
use export::{NbdCommand, Performed};
use units::{Nanos, Prng, Seed};

use crate::tests::pdus::{TARGET, command, data_out, login_of, offer, split, transfer};
use crate::tests::pipe::{PipeWire, Stage};

const WRITES: u8 = 0x20;
const CONFLICT: u8 = 0x18;
const ABORTED: u8 = 0x40;

/// A host that sends commands one after the other.
struct Host<'a> {
    stage: &'a Stage,
    wire: std::rc::Rc<PipeWire>,
    next: std::cell::Cell<u32>,
}

impl<'a> Host<'a> {
    /// A host that has logged in and received its first unit attention.
    fn new(stage: &'a Stage, name: &str) -> Self {
        let wire = stage.connect();
        wire.send(&login_of(name, TARGET));
        let host = Self { stage, wire, next: std::cell::Cell::new(0) };
        assert_eq!(host.ask(&[0; 6], &[]), 2, "a new session is announced");
        host
    }

    fn send(&self, cdb: &[u8], length: u32, data: &[u8]) -> u32 {
        let number = self.next.replace(self.next.get() + 1);
        let flags = if length > 0 { WRITES } else { 0 };
        self.wire.send(&command(number, flags, length, cdb, data));
        number
    }

    /// Sends a command and returns its status.
    fn ask(&self, cdb: &[u8], data: &[u8]) -> u8 {
        let number = self.send(cdb, u32::try_from(data.len()).expect("a value of the test"), data);
        self.stage.pass(Nanos(1_000_000));
        self.status(number).expect("an answer within a millisecond")
    }

    fn status(&self, number: u32) -> Option<u8> {
        let answers = split(&self.wire.from_server.borrow());
        let mut of_task = answers.iter().map(|(head, _)| head).filter(|head| {
            head.opcode() == response::COMMAND && head.word(field::TASK_TAG) == number
        });
        of_task.next().map(|head| head.0[3])
    }

    /// PERSISTENT RESERVE OUT.
    fn reserve(&self, (action, kind): (u8, u8), key: u64, new_key: u64) -> u8 {
        let cdb = [0x5f, action, kind, 0, 0, 0, 0, 0, 24, 0];
        let parameters = [&key.to_be_bytes()[..], &new_key.to_be_bytes(), &[0; 8]].concat();
        self.ask(&cdb, &parameters)
    }

    fn write(&self, first: u32) -> u8 {
        self.ask(&transfer(0x2a, first, 1), &[5; 512])
    }
}

#[test]
fn a_reservation_binds_every_session_and_ends_with_a_release() {
    let stage = Stage::new(offer(false), 16 << 20);
    let (a, b) = (Host::new(&stage, "iqn.a"), Host::new(&stage, "iqn.b"));
    assert_eq!(a.reserve((1, 1), 1, 0), CONFLICT, "not registered");
    assert_eq!((a.reserve((0, 0), 0, 1), b.reserve((0, 0), 0, 2)), (0, 0));
    assert_eq!((a.reserve((1, 5), 1, 0), b.write(0)), (0, 0), "registrants only");
    assert_eq!((a.reserve((2, 5), 1, 0), a.reserve((1, 1), 1, 0)), (0, 0));
    assert_eq!(b.write(0), 2, "it is notified of the release first");
    assert_eq!((b.write(0), a.write(0)), (CONFLICT, 0));
    // The old kind of reservation is refused while keys are registered.
    assert_eq!(b.ask(&[0x16, 0, 0, 0, 0, 0], &[]), CONFLICT);
    assert_eq!(a.reserve((3, 0), 1, 0), 0);
    assert_eq!((b.write(0), b.write(0)), (2, 0));
    assert_eq!((b.ask(&[0x16, 0, 0, 0, 0, 0], &[]), a.write(0)), (0, CONFLICT));
    b.wire.close();
    stage.pass(Nanos(1_000_000));
    assert_eq!(a.write(0), 0, "it ends with its session");
}

/// Once PREEMPT is answered, no write of the fenced host changes the volume, whichever were in
/// flight.
#[test]
fn nothing_of_a_fenced_host_lands_after_the_answer() {
    for (seed, action) in (0..40).flat_map(|seed| [(seed, 4), (seed, 5)]) {
        let stage = Stage::new(offer(false), 64 << 10);
        let (a, b) = (Host::new(&stage, "iqn.a"), Host::new(&stage, "iqn.b"));
        assert_eq!((a.reserve((0, 0), 0, 1), b.reserve((0, 0), 0, 2)), (0, 0));
        assert_eq!(a.reserve((1, 5), 1, 0), 0);
        let data = vec![1; 16 << 10];
        for place in 0..20 {
            a.send(&transfer(0x2a, place * 32, 32), 16 << 10, &data);
        }
        let waiting = a.send(&transfer(0x2a, 700, 2), 1_024, &[]);
        stage.pass(Nanos(Prng::new(Seed(seed)).below(60_000)));
        let cdb = [0x5f, action, 5, 0, 0, 0, 0, 0, 24, 0];
        let parameters = [&2_u64.to_be_bytes()[..], &1_u64.to_be_bytes(), &[0; 8]].concat();
        let preempt = b.send(&cdb, 24, &parameters);
        while b.status(preempt).is_none() {
            stage.pass(Nanos(500));
        }
        assert_eq!(b.status(preempt), Some(0));
        let then = content(&stage);
        a.wire.send(&data_out(waiting, 0, &[2; 1_024]));
        stage.pass(Nanos(2_000_000));
        assert!(content(&stage) == then, "seed {seed}, action {action}");
        assert_eq!(a.status(waiting), Some(ABORTED));
        assert_eq!((a.write(0), a.write(0)), (2, CONFLICT));
        assert_eq!(b.write(0), 0);
    }
}

fn content(stage: &Stage) -> Vec<u8> {
    let volume = std::rc::Rc::clone(&stage.volume);
    let read = stage.executor.block_on(async move {
        volume.perform(NbdCommand::Read, (0, 512_000), false).await.expect("storage that works")
    });
    let Performed::Bytes(bytes) = read else { panic!("a read returns bytes") };
    bytes.to_vec()
}

#[test]
fn a_reset_ends_the_commands_of_every_session() {
    let stage = Stage::new(offer(false), 16 << 20);
    let (a, b) = (Host::new(&stage, "iqn.a"), Host::new(&stage, "iqn.b"));
    let waiting = a.send(&transfer(0x2a, 0, 2), 1_024, &[]);
    stage.pass(Nanos(1_000_000));
    b.wire.send(&crate::tests::pdus::unit_reset());
    stage.pass(Nanos(1_000_000));
    a.wire.send(&data_out(waiting, 0, &[2; 1_024]));
    stage.pass(Nanos(1_000_000));
    assert_eq!(a.status(waiting), Some(ABORTED));
    assert_eq!((a.write(0), a.write(0)), (2, 0), "it learns of the reset once");
    assert_eq!((b.write(0), b.write(0)), (2, 0));
}
