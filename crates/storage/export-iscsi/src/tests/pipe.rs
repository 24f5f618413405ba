//! Connections in virtual time: a volume in memory that takes its time, and pipes to the server.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::{InitiatorArrival, InitiatorEnd, TargetHall, TargetOffer, serve_initiator};
use device::{Device, Executor, Latency, MemoryVolume, OpenMode, VirtualReactor, Volume as _};
use export::{ExportedVolume, MemoryBudget, Wire, WireError};
use units::{Nanos, Seed};

use crate::tests::pdus::BLOCKS;

/// A server with one target, and the executor that runs it.
pub(crate) struct Stage {
    pub(crate) executor: Executor,
    pub(crate) hall: Rc<TargetHall>,
    pub(crate) volume: Rc<ExportedVolume>,
    pub(crate) memory: MemoryBudget,
}

impl Stage {
    /// Serves `offer` with `memory` bytes for all commands in progress.
    pub(crate) fn new(offer: TargetOffer, memory: u64) -> Self {
        let reactor = VirtualReactor::new();
        let latency = Latency::spread(Nanos(1_000), Nanos(90_000), Seed(4));
        let storage = MemoryVolume::new("memory", &reactor, latency);
        let executor = Executor::new(reactor);
        let opening = async move {
            let mode = OpenMode::CreateNew { length: BLOCKS * 512 };
            storage.open("volume", mode).await.expect("storage that works")
        };
        let device: Rc<dyn Device> = executor.block_on(opening);
        let volume = Rc::new(ExportedVolume::new(device));
        let memory = MemoryBudget::new(memory);
        let targets = std::iter::once((offer, Rc::clone(&volume)));
        let hall = Rc::new(TargetHall::new(targets, memory.clone()));
        Self { executor, hall, volume, memory }
    }

    /// A connection that has just been made.
    pub(crate) fn connect(&self) -> Rc<PipeWire> {
        let wire = Rc::new(PipeWire::default());
        let stopping = Rc::clone(&wire);
        let arrival = InitiatorArrival {
            wire: Rc::clone(&wire) as Rc<dyn Wire>,
            portal: "127.0.0.1:3260".to_owned(),
            challenge: [7; 16],
            stops: Rc::new(move |_| stopping.is_stopping.get()),
        };
        let (hall, ended) = (Rc::clone(&self.hall), Rc::clone(&wire));
        let runtime = self.executor.runtime();
        drop(self.executor.runtime().spawn(async move {
            let end = serve_initiator(hall, arrival, runtime).await;
            ended.end.replace(Some(end));
        }));
        wire
    }

    /// Lets this much time pass.
    pub(crate) fn pass(&self, time: Nanos) {
        let runtime = self.executor.runtime();
        self.executor.block_on(async move { runtime.sleep(time).await });
    }
}

/// A pipe in memory; the test holds the other end.
#[derive(Default)]
pub(crate) struct PipeWire {
    to_server: RefCell<VecDeque<u8>>,
    pub(crate) from_server: RefCell<Vec<u8>>,
    is_closed: Cell<bool>,
    is_stopping: Cell<bool>,
    waker: RefCell<Option<Waker>>,
    pub(crate) end: RefCell<Option<InitiatorEnd>>,
}

impl PipeWire {
    pub(crate) fn send(&self, bytes: &[u8]) {
        self.to_server.borrow_mut().extend(bytes);
        self.wake();
    }

    pub(crate) fn close(&self) {
        self.is_closed.set(true);
        self.wake();
    }

    pub(crate) fn stop(&self) {
        self.is_stopping.set(true);
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
        // In odd pieces, so that every PDU is cut.
        let pieces = queue.len().min(room.len()).min(3_001);
        room.iter_mut().zip(queue.drain(..pieces)).for_each(|(place, byte)| *place = byte);
        if pieces == 0 && !self.is_closed.get() {
            self.waker.replace(Some(context.waker().clone()));
            return Poll::Pending;
        }
        Poll::Ready(Ok(pieces))
    }

    fn poll_send(
        &self,
        _context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize, WireError>> {
        let some = parts.iter().flat_map(|part| part.iter()).take(2_003);
        let mut queue = self.from_server.borrow_mut();
        let before = queue.len();
        queue.extend(some);
        Poll::Ready(Ok(queue.len() - before))
    }
}
