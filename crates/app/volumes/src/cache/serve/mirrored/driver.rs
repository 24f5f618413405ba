//! Drives the state machine of a mirrored volume and carries out its effects: events in, I/O out,
//! all on one thread.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::ops::Range;
use std::rc::Rc;
use std::task::{Poll, Waker};

use device::Runtime;
use device_os::boot_clock;
use mirror::{
    Authority, Config, CountedCopies, GuestOutcome, GuestRequest, MirrorNode, NodeCommand,
    NodeEffect, NodeEvent, PeerMessage, RegistryAnswer, RequestId, Status,
};
use plan::MirroredVolume;
use units::Nanos;

use super::backing::SharedBacking;
use super::event::MirrorEvent;
use super::flash::FlashQueue;
use super::home::{HomeFile, Homes};
use super::line::PeerLine;
use super::memory::ClockHand;
use super::registry::Registry;
use crate::cache::mirror as shared;
use crate::cache::serve::mailbox::DaemonInbox;
use crate::cache::serve::presence::ClientPresence;

/// Interval of the state machine's timer.
const TICK: Nanos = Nanos::from_millis(20);

/// Pause before retrying a request that no host served.
const RETRY: Nanos = Nanos::from_millis(20);

/// See the module.
pub(super) struct MirrorDriver {
    pub(super) document: MirroredVolume,
    pub(super) runtime: Runtime,
    pub(super) written: Cell<u64>,
    pub(super) flash_bytes: Cell<u64>,
    /// Blocks that clients of this host read.
    pub(super) reads: Cell<u64>,
    /// Reads that this host's copy answered at once.
    pub(super) read_hits: Cell<u64>,
    /// The last configuration received.
    pub(super) config: Cell<Option<Config>>,
    /// The last epoch that the peer is known to have owned.
    peer_epoch: Cell<u64>,
    /// When the peer was last heard of, on the boot clock.
    pub(super) peer_heard: Cell<Option<Nanos>>,
    pub(super) node: RefCell<MirrorNode>,
    pub(super) flash: FlashQueue,
    pub(super) homes: Homes,
    line: RefCell<PeerLine>,
    registry: Rc<Registry>,
    backing: Option<Rc<SharedBacking>>,
    waiting: RefCell<BTreeMap<RequestId, Rc<Answer>>>,
    last_id: Cell<RequestId>,
    owned: Cell<bool>,
    served: Cell<bool>,
    hand: RefCell<ClockHand>,
    is_stopping: Cell<bool>,
}

/// Outputs of the state machine.
pub(super) struct Outlets {
    pub(super) flash: FlashQueue,
    pub(super) homes: HomeFile,
    pub(super) line: PeerLine,
    pub(super) registry: Rc<Registry>,
    pub(super) backing: Option<Rc<SharedBacking>>,
}

/// A guest's request in flight.
#[derive(Default)]
pub(super) struct Answer {
    /// The peer's epoch when the request was first posted.
    peer_epoch: u64,
    is_hit: Cell<bool>,
    outcome: Cell<Option<GuestOutcome>>,
    waker: Cell<Option<Waker>>,
}

impl Answer {
    fn end(&self, outcome: GuestOutcome) {
        self.outcome.set(Some(outcome));
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// `true` if a read has returned the block, or will return it from this host's copy.
    fn is_hit(&self) -> bool {
        let outcome = self.outcome.take();
        let has_value = matches!(outcome, Some(GuestOutcome::Value(_)));
        self.outcome.set(outcome);
        has_value || self.is_hit.get()
    }

    async fn outcome(&self) -> GuestOutcome {
        poll_fn(|context| {
            if let Some(outcome) = self.outcome.take() {
                return Poll::Ready(outcome);
            }
            self.waker.set(Some(context.waker().clone()));
            Poll::Pending
        })
        .await
    }
}

impl MirrorDriver {
    pub(super) fn new(
        document: MirroredVolume,
        node: MirrorNode,
        runtime: Runtime,
        outlets: Outlets,
    ) -> Rc<Self> {
        let Outlets { flash, homes, line, registry, backing } = outlets;
        let first = registry.first;
        let driver = Rc::new(Self {
            document,
            runtime,
            written: Cell::new(0),
            flash_bytes: Cell::new(0),
            reads: Cell::new(0),
            read_hits: Cell::new(0),
            config: Cell::new(None),
            peer_epoch: Cell::new(0),
            peer_heard: Cell::new(None),
            node: RefCell::new(node),
            flash,
            homes: Homes::new(homes),
            line: RefCell::new(line),
            registry,
            backing,
            waiting: RefCell::default(),
            last_id: Cell::new(0),
            owned: Cell::new(false),
            served: Cell::new(false),
            hand: RefCell::default(),
            is_stopping: Cell::new(false),
        });
        driver.learn(first);
        driver
    }

    /// Ticks for as long as the server runs.
    pub(super) async fn tick(self: Rc<Self>) {
        loop {
            self.feed(NodeEvent::Tick);
            self.make_room();
            self.runtime.sleep(TICK).await;
        }
    }

    /// Takes events of other threads for as long as the server runs.
    pub(super) async fn listen(self: Rc<Self>, inbox: DaemonInbox<MirrorEvent>) {
        loop {
            match inbox.next().await {
                MirrorEvent::Node(event) => self.feed(event),
                MirrorEvent::FlashDone { count, bytes } => {
                    self.note_written(bytes.saturating_sub(self.flash_bytes.get()));
                    self.flash_bytes.set(bytes);
                    self.homes.note_durable(count);
                    (0..count).for_each(|_| self.feed(NodeEvent::Flash(Ok(()))));
                    self.compact();
                }
                MirrorEvent::Compacted { bytes } => {
                    self.note_written(if bytes < self.flash_bytes.get() { bytes } else { 0 });
                    self.flash_bytes.set(bytes);
                    self.homes.end_settling();
                }
                MirrorEvent::FlashFailed(why) => self.flash_failed(&why),
                MirrorEvent::Remark(text) => console::say(&text),
                MirrorEvent::Order(order, answer) => drop(answer.send(self.order(&order))),
            }
        }
    }

    /// An operator's order from elsewhere; the answer in a sentence, empty if it is carried out.
    fn order(self: &Rc<Self>, order: &[u8]) -> String {
        match order {
            b"hand-over" if !self.status().is_serving => {
                "this host does not serve the volume".into()
            }
            b"hand-over" => {
                self.command(NodeCommand::HandOver);
                String::new()
            }
            _ => "this release does not know the order".into(),
        }
    }

    pub(super) fn command(self: &Rc<Self>, command: NodeCommand) {
        self.feed(NodeEvent::Command(command));
    }

    /// Hands the volume over if the peer can take it; `true` once this host no longer owns it, or
    /// holds the only copy that counts.
    pub(super) fn leave(self: &Rc<Self>) -> bool {
        if !self.is_stopping.replace(true) {
            self.command(NodeCommand::HandOver);
        }
        let me = shared::host_at(self.document.host);
        let alone = Authority::Flash(CountedCopies::Only(me));
        let is_alone = self.config.get().is_some_and(|config| config.authority == alone);
        is_alone || self.status().owns.is_none()
    }

    pub(super) fn status(&self) -> Status {
        self.node.borrow().status(boot_clock())
    }

    /// Blocks in this host's copy.
    pub(super) fn stored_blocks(&self) -> u64 {
        self.node.borrow().image().stored_blocks() as u64
    }

    /// See [`FlashImage::untrimmed`]; accurate only on the host that serves the volume.
    ///
    /// [`FlashImage::untrimmed`]: mirror::FlashImage::untrimmed
    pub(super) fn untrimmed(&self, blocks: Range<u64>) -> Vec<u64> {
        self.node.borrow().image().untrimmed(blocks)
    }

    /// Feeds an event to the state machine and carries out the effects it requests.
    fn feed(self: &Rc<Self>, event: NodeEvent) {
        self.note(&event);
        let effects = self.node.borrow_mut().handle(boot_clock(), event);
        for effect in effects {
            self.carry_out(effect);
        }
        self.follow_role();
    }

    pub(super) fn note_written(&self, bytes: u64) {
        self.written.set(self.written.get() + bytes);
    }

    fn note(&self, event: &NodeEvent) {
        match event {
            NodeEvent::Registry(
                _,
                RegistryAnswer::Is { config, .. } | RegistryAnswer::Stored { config, .. },
            ) => self.learn(*config),
            NodeEvent::Peer(_) => self.peer_heard.set(Some(boot_clock())),
            _ => {}
        }
    }

    fn learn(&self, config: Config) {
        self.config.set(Some(config));
        if shared::owner_index(&config) != self.document.host {
            self.peer_epoch.set(self.peer_epoch.get().max(config.epoch));
        }
    }

    pub(super) fn flash_failed(self: &Rc<Self>, why: &str) {
        console::say(&why);
        self.feed(NodeEvent::Flash(Err(())));
    }

    /// Records that this host's copy answers the read `id`.
    fn note_hit(&self, id: RequestId) {
        if let Some(answer) = self.waiting.borrow().get(&id) {
            answer.is_hit.set(true);
        }
    }

    pub(super) fn carry_out(self: &Rc<Self>, mut effect: NodeEffect) {
        if effect.contents().iter().any(|content| content.here().is_none()) {
            if let NodeEffect::Reply(id, _) = &effect {
                self.note_hit(*id);
            }
            drop(self.runtime.spawn(Rc::clone(self).fetch(effect)));
            return;
        }
        match effect {
            NodeEffect::Reply(id, outcome) => {
                if let Some(answer) = self.waiting.borrow_mut().remove(&id) {
                    answer.end(outcome);
                }
            }
            NodeEffect::Send(message) => self.send(&message),
            NodeEffect::Flash(op) => {
                self.homes.note_asked();
                self.flash.write(op);
            }
            NodeEffect::Registry { id, op } => self.registry.ask(id, op),
            NodeEffect::Backing { token, epoch, op } => {
                let Some(backing) = self.backing.clone() else { return };
                let driver = Rc::clone(self);
                drop(self.runtime.spawn(async move {
                    let answer = backing.perform(epoch, op).await;
                    // An answer from an earlier ownership says nothing about this one.
                    if driver.status().owns == Some(epoch) {
                        driver.feed(NodeEvent::Backing(token, answer));
                    }
                }));
            }
        }
    }

    fn send(&self, message: &PeerMessage) {
        self.line.borrow_mut().send(message);
    }

    /// Closes the backing store when ownership ends, and reports when the host starts and stops
    /// serving.
    fn follow_role(&self) {
        let status = self.status();
        let owns = status.owns.is_some();
        if self.owned.replace(owns)
            && !owns
            && let Some(backing) = &self.backing
        {
            backing.close();
        }
        if self.served.replace(status.is_serving) != status.is_serving {
            let volume = &self.document.volume;
            match status.owns {
                Some(epoch) if status.is_serving => {
                    console::say(&format!("{volume}: served by this host, epoch {epoch}"));
                }
                _ => console::say(&format!("{volume}: not served by this host any more")),
            }
        }
    }

    /// Evicts blocks in front of a backing store once there are more than flash is meant to hold.
    fn make_room(self: &Rc<Self>) {
        let most = self.document.cached.0 / self.document.block.0;
        if self.backing.is_none() || self.stored_blocks() <= most {
            return;
        }
        let excess = self.stored_blocks() - most;
        let victims = {
            let node = self.node.borrow();
            self.hand.borrow_mut().victims(node.image().folded_blocks(), excess)
        };
        for block in victims {
            self.homes.note_evicted(block);
            self.command(NodeCommand::Evict(block));
        }
    }

    /// Starts a request.
    pub(super) fn post(self: &Rc<Self>, request: GuestRequest) -> Rc<Answer> {
        let is_read = matches!(request, GuestRequest::Read(_));
        let answer = self.post_since(self.peer_epoch.get(), request);
        if is_read {
            self.reads.set(self.reads.get() + 1);
            self.read_hits.set(self.read_hits.get() + u64::from(answer.is_hit()));
        }
        answer
    }

    fn post_since(self: &Rc<Self>, peer_epoch: u64, request: GuestRequest) -> Rc<Answer> {
        if let GuestRequest::Read(block) = request
            && self.backing.is_some()
        {
            self.hand.borrow_mut().touch(block);
        }
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        let answer = Rc::new(Answer { peer_epoch, ..Answer::default() });
        self.waiting.borrow_mut().insert(id, Rc::clone(&answer));
        self.feed(NodeEvent::Guest(id, request));
        answer
    }

    /// Waits for the outcome of a request posted as `answer`. While its client is connected, a
    /// request that was not carried out is retried until `deadline`, and so is a read whose outcome
    /// is unknown. A write is not retried once the peer has served the volume: its guest may have
    /// moved there and written again.
    pub(super) async fn end(
        self: &Rc<Self>,
        request: GuestRequest,
        mut answer: Rc<Answer>,
        (client, deadline): (&ClientPresence, Nanos),
    ) -> GuestOutcome {
        let since = answer.peer_epoch;
        loop {
            let outcome = answer.outcome().await;
            let may_repeat = match (&request, &outcome) {
                (GuestRequest::Read(_), GuestOutcome::NotServing | GuestOutcome::Unknown) => true,
                (_, GuestOutcome::NotServing) => self.peer_epoch.get() == since,
                _ => false,
            };
            if !may_repeat || self.is_stopping.get() || self.runtime.now() >= deadline {
                return outcome;
            }
            self.runtime.sleep(RETRY).await;
            if client.has_left() {
                return GuestOutcome::NotServing;
            }
            if self.peer_epoch.get() != since && !matches!(request, GuestRequest::Read(_)) {
                return GuestOutcome::NotServing;
            }
            answer = self.post_since(since, request.clone());
        }
    }
}
