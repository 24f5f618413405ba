//! A client twin: it writes the protocol by hand and knows what every byte of the volume must be.

use crate::nbd::{Session, SessionEvent};
use crate::{ExportHall, ExportOffer, ExportedVolume, Limits, MemoryBudget, Wire, WireError};
use device::{Device, Executor, Latency, MemoryVolume, OpenMode, VirtualReactor, Volume as _};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use units::{Nanos, Seed};

/// Bytes of the volume of these tests: not a multiple of anything but a sector.
pub(crate) const VOLUME_BYTES: u64 = (1 << 20) + 512;

/// An executor, and a volume that takes its time and finishes out of order.
pub(crate) fn slow_volume() -> (Executor, Rc<dyn Device>) {
    let reactor = VirtualReactor::new();
    let latency = Latency::spread(Nanos(1_000), Nanos(90_000), Seed(4));
    let volume = MemoryVolume::new("memory", &reactor, latency);
    let executor = Executor::new(reactor);
    let opening = async move {
        let mode = OpenMode::CreateNew { length: VOLUME_BYTES };
        volume.open("volume", mode).await.expect("storage that works")
    };
    let device = executor.block_on(opening);
    (executor, device)
}

/// What clients see of the volume.
pub(crate) fn offers() -> Rc<[ExportOffer]> {
    let offer = |name: &str, is_read_only| ExportOffer {
        name: name.to_owned(),
        description: "a test".to_owned(),
        bytes: VOLUME_BYTES,
        is_read_only,
        preferred_block: 4_096,
    };
    [offer("rw", false), offer("ro", true)].into()
}

/// A server of `device` under both names.
pub(crate) fn hall(device: &Rc<dyn Device>, memory: u64) -> Rc<ExportHall> {
    let volume = Rc::new(ExportedVolume::new(Rc::clone(device)));
    Rc::new(ExportHall {
        offers: offers(),
        volumes: vec![Rc::clone(&volume), volume],
        limits: Limits::default(),
        memory: MemoryBudget::new(memory),
    })
}

/// A pipe in memory; the test holds the other end.
#[derive(Default)]
pub(crate) struct PipeWire {
    to_server: RefCell<VecDeque<u8>>,
    pub(crate) from_server: RefCell<Vec<u8>>,
    is_closed: RefCell<bool>,
    pub(crate) has_left: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl PipeWire {
    pub(crate) fn send(&self, bytes: &[u8]) {
        self.to_server.borrow_mut().extend(bytes);
        self.wake();
    }

    pub(crate) fn close(&self) {
        *self.is_closed.borrow_mut() = true;
        self.wake();
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Wire for PipeWire {
    fn poll_receive(
        &self,
        context: &mut Context<'_>,
        room: &mut [u8],
    ) -> Poll<Result<usize, WireError>> {
        let mut queue = self.to_server.borrow_mut();
        // In odd pieces, so that every message is cut somewhere.
        let count = queue.len().min(room.len()).min(4_099);
        for (place, byte) in room.iter_mut().zip(queue.drain(..count)) {
            *place = byte;
        }
        if count > 0 || *self.is_closed.borrow() {
            return Poll::Ready(Ok(count));
        }
        self.waker.replace(Some(context.waker().clone()));
        Poll::Pending
    }

    fn client_left(&self) {
        self.has_left.set(true);
    }

    fn poll_send(
        &self,
        _context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize, WireError>> {
        let some = parts.iter().flat_map(|part| part.iter()).take(3_001);
        let mut bytes = self.from_server.borrow_mut();
        let before = bytes.len();
        bytes.extend(some);
        Poll::Ready(Ok(bytes.len() - before))
    }
}

/// Framings of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TwinFraming {
    Simple,
    Structured,
    Extended,
}

/// An option with its data.
pub(crate) fn option(kind: u32, data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).expect("a value of the test");
    let mut bytes = b"IHAVEOPT".to_vec();
    bytes.extend(kind.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes.extend_from_slice(data);
    bytes
}

/// The handshake of a client that opens `name`.
pub(crate) fn handshake(framing: TwinFraming, name: &str) -> Vec<u8> {
    let mut bytes = 3_u32.to_be_bytes().to_vec();
    let length = u32::try_from(name.len()).expect("a value of the test").to_be_bytes();
    let mut go = [&length[..], name.as_bytes()].concat();
    match framing {
        TwinFraming::Simple => {}
        TwinFraming::Structured => bytes.extend(option(8, &[])),
        TwinFraming::Extended => bytes.extend(option(11, &[])),
    }
    if framing != TwinFraming::Simple {
        let context = b"base:allocation";
        let mut set = [&length[..], name.as_bytes(), &1_u32.to_be_bytes()].concat();
        set.extend(u32::try_from(context.len()).expect("a value of the test").to_be_bytes());
        set.extend_from_slice(context);
        bytes.extend(option(10, &set));
    }
    go.extend([0, 1, 0, 3]);
    bytes.extend(option(7, &go));
    bytes
}

/// A request.
pub(crate) fn request(
    framing: TwinFraming,
    (kind, flags): (u16, u16),
    cookie: u64,
    (offset, length): (u64, u64),
) -> Vec<u8> {
    let is_extended = framing == TwinFraming::Extended;
    let magic: u32 = if is_extended { 0x21e4_1c71 } else { 0x2560_9513 };
    let flags = if is_extended && kind == 1 { flags | 32 } else { flags };
    let mut bytes = magic.to_be_bytes().to_vec();
    bytes.extend(flags.to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend(cookie.to_be_bytes());
    bytes.extend(offset.to_be_bytes());
    if is_extended {
        bytes.extend(length.to_be_bytes());
    } else {
        bytes.extend(u32::try_from(length).expect("a value of the test").to_be_bytes());
    }
    bytes
}

/// Feeds bytes to a session alone; the events, payloads granted.
pub(crate) fn events(session: &mut Session, input: &[u8]) -> Vec<SessionEvent> {
    let (mut at, mut events) = (0, Vec::new());
    loop {
        let step = session.advance(&input[at..]);
        at += step.used;
        match step.event {
            None if step.used == 0 => return events,
            None => {}
            Some(SessionEvent::Payload(_)) => session.grant(),
            Some(event) => {
                let is_end = matches!(event, SessionEvent::End(_));
                events.push(event);
                if is_end {
                    return events;
                }
            }
        }
    }
}
