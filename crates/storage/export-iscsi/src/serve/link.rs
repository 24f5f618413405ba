//! State of a connection that its tasks share.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use device::Runtime;
use device_net::iscsi_codec::padding;
use export::{ExportedVolume, MemoryBudget, Reserved, Wire, WireError};

use super::nexus::NexusEnding;
use super::outbox::{Outbox, OutgoingPdu, PendingRead};
use super::work::{memory_of, perform};
use super::{InitiatorEnd, TargetHall};
use crate::scsi::{ScsiWork, WorkError};
use crate::session::{TargetSession, TargetStep};

/// Maximum number of answers and commands of one connection in progress; beyond it, nothing more is
/// received.
pub(super) const MOST_ANSWERS: usize = 512;

/// Maximum number of bytes that a connection may be waiting for, so that a stalled initiator ties
/// up little of the shared memory.
const OWED_BYTES: u64 = 4 << 20;

/// See the module.
pub(super) struct TargetLink {
    hall: Rc<TargetHall>,
    wire: Rc<dyn Wire>,
    runtime: Runtime,
    session: RefCell<TargetSession>,
    outbox: Outbox,
    in_progress: Cell<usize>,
    waiting: RefCell<Option<Waker>>,
    ending: Rc<NexusEnding>,
    is_entered: Cell<bool>,
    /// No more data will arrive.
    is_deaf: Cell<bool>,
    owed: MemoryBudget,
    /// Memory reserved for arriving data, by task.
    granted: RefCell<BTreeMap<u32, [Reserved; 2]>>,
}

impl TargetLink {
    pub(super) fn new(
        hall: Rc<TargetHall>,
        wire: Rc<dyn Wire>,
        runtime: Runtime,
        session: TargetSession,
    ) -> Self {
        Self {
            hall,
            wire,
            runtime,
            session: RefCell::new(session),
            outbox: Outbox::default(),
            in_progress: Cell::new(0),
            waiting: RefCell::default(),
            ending: Rc::default(),
            is_entered: Cell::new(false),
            is_deaf: Cell::new(false),
            owed: MemoryBudget::new(OWED_BYTES),
            granted: RefCell::default(),
        }
    }

    pub(super) const fn ending(&self) -> &Rc<NexusEnding> {
        &self.ending
    }

    pub(super) fn is_logged_in(&self) -> bool {
        self.is_entered.get()
    }

    pub(super) fn is_over(&self) -> bool {
        self.session.borrow().is_closed()
    }

    pub(super) fn is_broken(&self) -> bool {
        self.outbox.is_broken()
    }

    pub(super) fn take_broken(&self) -> Option<WireError> {
        self.outbox.take_broken()
    }

    /// Receives some bytes and carries out the resulting steps.
    pub(super) fn poll_receive(
        self: &Rc<Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), InitiatorEnd>> {
        let received = self.wire.poll_receive(context, self.session.borrow_mut().room());
        let steps = match received {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(0)) => return Poll::Ready(Err(InitiatorEnd::Closed)),
            Poll::Ready(Err(error)) => return Poll::Ready(Err(InitiatorEnd::Broken(error))),
            Poll::Ready(Ok(bytes)) => self.session.borrow_mut().filled(bytes),
        };
        if !self.is_entered.get()
            && let Some(nexus) = self.session.borrow().nexus()
        {
            self.is_entered.set(true);
            self.hall.nexuses.enter(nexus, &self.ending);
        }
        self.follow(steps, None);
        Poll::Ready(Ok(()))
    }

    /// Carries out the session's steps; `read` is the data that its finished task read.
    fn follow(self: &Rc<Self>, steps: Vec<TargetStep>, read: Option<PendingRead>) {
        let read = read.map(Rc::new);
        for step in steps {
            match step {
                TargetStep::Send(head) => self.send(OutgoingPdu::bare(head)),
                TargetStep::SendRead { head, part } => {
                    let pad = padding(part.len());
                    let data = read.as_ref().map(|read| (Rc::clone(read), part));
                    self.send(OutgoingPdu::new(head.to_vec(), data));
                    if pad > 0 {
                        self.send(OutgoingPdu::bare(vec![0; pad]));
                    }
                }
                TargetStep::Reserve { task, bytes } => {
                    self.start(Self::grant(Rc::clone(self), task, bytes));
                }
                TargetStep::Work { task, work } => {
                    self.start(Self::carry_out(Rc::clone(self), task, work));
                }
                TargetStep::Close => {}
            }
        }
    }

    /// Runs a task that [`Self::drained`] waits for.
    fn start(self: &Rc<Self>, task: impl Future<Output = ()> + 'static) {
        self.in_progress.set(self.in_progress.get() + 1);
        let link = Rc::clone(self);
        drop(self.runtime.spawn(async move {
            task.await;
            link.in_progress.set(link.in_progress.get() - 1);
            link.notify();
        }));
    }

    /// No more data will arrive: releases the memory reserved for it.
    pub(super) fn take_no_more(&self) {
        self.is_deaf.set(true);
        self.granted.take();
    }

    async fn grant(self: Rc<Self>, task: u32, bytes: usize) {
        let own = self.owed.reserve(bytes as u64).await;
        let shared = self.hall.memory.reserve(bytes as u64).await;
        if self.is_deaf.get() {
            return;
        }
        let steps = {
            let mut session = self.session.borrow_mut();
            let mut granted = self.granted.borrow_mut();
            granted.retain(|task, _| session.is_waiting(*task));
            granted.insert(task, [own, shared]);
            session.granted(task)
        };
        self.follow(steps, None);
    }

    async fn carry_out(self: Rc<Self>, task: u32, work: ScsiWork) {
        let granted = self.granted.borrow_mut().remove(&task);
        let memory = match granted {
            Some([_, shared]) => shared,
            None => self.hall.memory.reserve(memory_of(&work)).await,
        };
        let volume = self.volume().filter(|_| !self.ending.is_set());
        let result = match volume {
            Some(volume) if self.session.borrow().may_begin(task) => perform(&volume, work).await,
            _ => Err(WorkError::Aborted),
        };
        let read = match &result {
            Ok(Some(bytes)) => Ok(bytes.len()),
            Ok(None) => Ok(0),
            Err(error) => Err(*error),
        };
        let steps = self.session.borrow_mut().finished(task, read);
        let read = result.ok().flatten().map(|bytes| PendingRead::new(bytes, memory));
        self.follow(steps, read);
    }

    fn volume(&self) -> Option<Rc<ExportedVolume>> {
        let session = self.session.borrow();
        let (target, _) = session.nexus()?;
        self.hall.volumes.get(target).map(Rc::clone)
    }

    fn notify(&self) {
        if let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }

    fn is_drained(&self, most: usize) -> bool {
        self.in_progress.get() + self.outbox.length() <= most
    }

    /// Waits until at most `most` commands and answers are in progress.
    pub(super) async fn drained(&self, most: usize) {
        std::future::poll_fn(|context| {
            if self.is_drained(most) {
                return Poll::Ready(());
            }
            self.waiting.replace(Some(context.waker().clone()));
            Poll::Pending
        })
        .await;
    }

    /// Queues a PDU, and starts sending the queue if that is not in progress already.
    fn send(self: &Rc<Self>, pdu: OutgoingPdu) {
        if !self.ending.is_set() && self.outbox.push(pdu) {
            let link = Rc::clone(self);
            drop(self.runtime.spawn(async move {
                link.outbox.send_all(&*link.wire, || link.notify()).await;
                link.notify();
            }));
        }
    }
}
