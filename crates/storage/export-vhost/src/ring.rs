//! One ring of requests. They are performed concurrently and answered in order of arrival: if its
//! server is killed, a hypervisor continues at the first request without an answer, and must not
//! repeat an older write after a newer one.

#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use device::{Lookout, Runtime};
use export::{ExportedVolume, MemoryBudget, Performed};
use virtio_queue::{Queue, QueueT as _};

use crate::bell::{GuestCall, GuestKick};
use crate::guest_memory::SharedGuestMemory;
use crate::numbers::status;
use crate::offer::BlockOffer;
use crate::request::{BlockCommand, BlockHeader, RequestChain};

/// State that the rings of one guest share.
pub(crate) struct RingHall {
    pub volume: Rc<ExportedVolume>,
    pub offer: BlockOffer,
    pub budget: MemoryBudget,
    pub runtime: Runtime,
}

/// A request that was taken from the ring.
struct RingTurn {
    head: u16,
    /// Number of bytes written for its answer; `None` until it is answered.
    written: Option<u32>,
}

/// See the module.
pub(crate) struct BlockRing {
    hall: Rc<RingHall>,
    memory: SharedGuestMemory,
    queue: RefCell<Queue>,
    kick: Rc<dyn GuestKick>,
    call: RefCell<Option<Rc<dyn GuestCall>>>,
    /// `true` if every write is durable once it is answered: the guest never flushes.
    writes_through: bool,
    turns: RefCell<VecDeque<RingTurn>>,
    /// The number of the first turn.
    first: Cell<u64>,
    /// The guest's count of offered requests when the last of them was taken.
    taken: Cell<u16>,
    /// `true` if it waits for its guest. Otherwise it takes new requests by itself, sooner or
    /// later.
    is_idle: Cell<bool>,
    /// `true` if the server polls the ring while it is awake: the guest rings only for a sleeping
    /// server.
    is_looked_at: Cell<bool>,
    is_stopping: Cell<bool>,
    has_ended: Cell<bool>,
    waiting: RefCell<Vec<Waker>>,
}

impl BlockRing {
    pub(crate) fn new(
        hall: Rc<RingHall>,
        (queue, memory): (Queue, SharedGuestMemory),
        (kick, call): (Rc<dyn GuestKick>, Option<Rc<dyn GuestCall>>),
        writes_through: bool,
    ) -> Self {
        Self {
            hall,
            memory,
            queue: RefCell::new(queue),
            kick,
            call: RefCell::new(call),
            writes_through,
            turns: RefCell::default(),
            first: Cell::new(0),
            taken: Cell::new(0),
            is_idle: Cell::new(false),
            is_looked_at: Cell::new(false),
            is_stopping: Cell::new(false),
            has_ended: Cell::new(false),
            waiting: RefCell::default(),
        }
    }

    /// Notifies the guest of answers through `call` from now on.
    pub(crate) fn answer_with(&self, call: Option<Rc<dyn GuestCall>>) {
        self.call.replace(call);
    }

    /// Sets whether a thread polls the ring while it is awake.
    pub(crate) fn is_looked_at(&self, is_it: bool) {
        self.is_looked_at.set(is_it);
    }

    /// Performs requests until the ring is stopped.
    pub(crate) async fn run(self: Rc<Self>) {
        while !self.is_stopping.get() {
            // Best effort: a needless notification does no harm.
            let _ = self.queue.borrow_mut().disable_notification(&*self.memory.now());
            self.take_all().await;
            // Unless a thread polls, the guest must notify: the wait may be long.
            if !self.is_looked_at.get() {
                let _ = self.queue.borrow_mut().enable_notification(&*self.memory.now());
            }
            self.offered_or_rung().await;
        }
        self.until(|ring| ring.turns.borrow().is_empty()).await;
        self.has_ended.set(true);
        self.notify();
    }

    /// Takes no more requests, answers those in progress, and returns the ring's position.
    pub(crate) async fn stop(&self) -> u16 {
        self.is_stopping.set(true);
        self.notify();
        self.until(|ring| ring.has_ended.get()).await;
        self.queue.borrow().next_avail()
    }

    /// Begins every request that waits in the ring.
    async fn take_all(self: &Rc<Self>) {
        while !self.is_stopping.get() {
            // Read before the ring is found empty. A ring that claims to have more but yields
            // nothing is broken, and waits like an empty one until the guest changes its claim.
            self.taken.set(self.offered());
            let memory = self.memory.now();
            let chain = self.queue.borrow_mut().pop_descriptor_chain(memory);
            let Some(chain) = chain else {
                break;
            };
            self.begin(chain).await;
        }
    }

    /// The guest's count of offered requests; the last known count if the guest has unmapped the
    /// memory.
    fn offered(&self) -> u16 {
        let offered = self.queue.borrow().avail_idx(&*self.memory.now(), Ordering::Acquire);
        offered.map_or(self.taken.get(), |count| count.0)
    }

    async fn begin(self: &Rc<Self>, chain: RequestChain) {
        let turn = self.first.get() + self.turns.borrow().len() as u64;
        self.turns.borrow_mut().push_back(RingTurn { head: chain.head_index(), written: None });
        let Some(header) = BlockHeader::of(&chain) else {
            return self.complete(turn, 0);
        };
        let reserved = self.hall.budget.reserve(header.memory_bytes()).await;
        let ring = Rc::clone(self);
        drop(self.hall.runtime.spawn(async move {
            let written = ring.perform(&chain, header).await;
            drop(reserved);
            ring.complete(turn, written);
        }));
    }

    /// Performs one request, writes its answer, and returns the answer's length in bytes.
    async fn perform(&self, chain: &RequestChain, header: BlockHeader) -> u32 {
        let offer = &self.hall.offer;
        let (command, bytes) = match header.command(chain, offer) {
            Ok(BlockCommand::OnVolume(command, bytes)) => (command, bytes),
            Ok(BlockCommand::Identify) => {
                return header.answer(chain, &offer.serial_bytes(), status::DONE);
            }
            Err(refusal) => return header.answer(chain, &[], refusal),
        };
        match self.hall.volume.perform(command, bytes, self.writes_through).await {
            Ok(Performed::Bytes(read)) => header.answer(chain, &read, status::DONE),
            Ok(_) => header.answer(chain, &[], status::DONE),
            Err(_) => header.answer(chain, &[], status::FAILED),
        }
    }

    /// Marks this turn's request as answered; the guest is notified once all requests before it are
    /// answered.
    fn complete(&self, turn: u64, written: u32) {
        let mut turns = self.turns.borrow_mut();
        let at = usize::try_from(turn - self.first.get()).unwrap_or(usize::MAX);
        turns[at].written = Some(written);
        let (mut queue, memory) = (self.queue.borrow_mut(), self.memory.now());
        let mut is_told = false;
        while let Some(&RingTurn { head, written: Some(written) }) = turns.front() {
            // Fails if the guest has unmapped the ring's memory; then it awaits no answer.
            let _ = queue.add_used(&*memory, head, written);
            turns.pop_front();
            self.first.set(self.first.get() + 1);
            is_told = true;
        }
        if is_told
            && queue.needs_notification(&*memory).unwrap_or(true)
            && let Some(call) = &*self.call.borrow()
        {
            call.ring();
        }
        drop((turns, queue));
        self.notify();
    }

    /// Waits until the guest offers a request or sends a notification, or the ring is stopped.
    async fn offered_or_rung(&self) {
        poll_fn(|context| {
            let is_rung = self.kick.poll_rung(context).is_ready();
            let has_end = self.is_stopping.get() || is_rung || self.offered() != self.taken.get();
            self.is_idle.set(!has_end);
            if has_end {
                return Poll::Ready(());
            }
            self.wait(context);
            Poll::Pending
        })
        .await;
    }

    async fn until(&self, holds: impl Fn(&Self) -> bool) {
        poll_fn(|context| {
            if holds(self) {
                return Poll::Ready(());
            }
            self.wait(context);
            Poll::Pending
        })
        .await;
    }

    fn wait(&self, context: &Context<'_>) {
        let mut waiting = self.waiting.borrow_mut();
        if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            waiting.push(context.waker().clone());
        }
    }

    fn notify(&self) {
        for waker in self.waiting.take() {
            waker.wake();
        }
    }
}

impl Lookout for BlockRing {
    fn has_news(&self) -> bool {
        let has_news = self.is_idle.get() && self.offered() != self.taken.get();
        if has_news {
            self.notify();
        }
        has_news
    }

    fn before_sleep(&self) -> bool {
        // The result is ignored: it counts what a broken ring claims.
        let _ = self.queue.borrow_mut().enable_notification(&*self.memory.now());
        self.has_news()
    }
}
