//! One client's connection: receives requests, performs them concurrently, and sends replies as
//! they complete.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use device::{Boxed, Runtime};

use crate::budget::{MemoryBudget, Reserved};
use crate::nbd::{
    ExportOffer, Limits, NbdCommand, NbdReply, NbdRequest, Session, SessionEnd, SessionEvent,
};
use crate::volume::{self, ExportedVolume};
use crate::wire::{Wire, WireError, send_whole};

/// Maximum number of bytes received by one call; more than the longest option.
const RECEIVE_BYTES: usize = 64 << 10;

/// Maximum number of concurrent requests of one connection.
const MOST_REQUESTS: usize = 256;

/// Maximum number of replies passed to the system by one call: each call wakes the client.
const MOST_TOGETHER: usize = 4;

/// State shared by all connections of a server.
pub struct ExportHall {
    /// What clients see, in the order of `volumes`.
    pub offers: Rc<[ExportOffer]>,
    /// The volumes.
    pub volumes: Vec<Rc<ExportedVolume>>,
    /// Bounds of each session.
    pub limits: Limits,
    /// Memory of all requests in progress.
    pub memory: MemoryBudget,
}

/// How a connection ended.
#[derive(Debug)]
pub enum ConnectionEnd {
    /// The session ended.
    Session(SessionEnd),
    /// The client closed the stream without disconnecting first.
    Closed,
    /// The stream broke.
    Broken(WireError),
    /// The server is stopping.
    Stopped,
}

/// State of a connection that its tasks share.
struct SharedConnection {
    wire: Rc<dyn Wire>,
    outbox: RefCell<VecDeque<PendingReply>>,
    is_sending: Cell<bool>,
    broken: RefCell<Option<WireError>>,
    in_progress: Cell<usize>,
    waiting: RefCell<Option<Waker>>,
}

/// A reply in flight, with the memory that it occupies.
struct PendingReply {
    reply: NbdReply,
    _reserved: Option<Reserved>,
}

/// Serves a client until it leaves, or until `stops` reports that the server is stopping; received
/// requests are answered in either case.
pub fn serve_connection(
    hall: Rc<ExportHall>,
    wire: Rc<dyn Wire>,
    runtime: Runtime,
    stops: Rc<dyn Fn(&Context<'_>) -> bool>,
) -> Boxed<'static, ConnectionEnd> {
    Box::pin(async move {
        let link = Rc::new(SharedConnection {
            wire,
            outbox: RefCell::default(),
            is_sending: Cell::new(false),
            broken: RefCell::default(),
            in_progress: Cell::new(0),
            waiting: RefCell::default(),
        });
        let session = Session::new(Rc::clone(&hall.offers), hall.limits);
        let mut receiver =
            Receiver { hall, link: Rc::clone(&link), runtime, session, stops, reserved: None };
        let end = receiver.run().await;
        if link.broken.borrow().is_some() || !matches!(end, ConnectionEnd::Stopped) {
            link.wire.client_left();
        }
        link.drained(0).await;
        match link.broken.take() {
            Some(error) => ConnectionEnd::Broken(error),
            None => end,
        }
    })
}

struct Receiver {
    hall: Rc<ExportHall>,
    link: Rc<SharedConnection>,
    runtime: Runtime,
    session: Session,
    stops: Rc<dyn Fn(&Context<'_>) -> bool>,
    /// Memory of the payload that is arriving.
    reserved: Option<Reserved>,
}

impl Receiver {
    async fn run(&mut self) -> ConnectionEnd {
        let mut input = vec![0; RECEIVE_BYTES];
        let (mut start, mut end) = (0, 0);
        loop {
            match self.use_up(&input[start..end]).await {
                Ok(used) => start += used,
                Err(over) => return over,
            }
            if start == end && !self.session.payload_room().is_empty() {
                (start, end) = (0, 0);
                let received = self.receive_payload().await;
                if let Err(over) = received {
                    return over;
                }
                continue;
            }
            input.copy_within(start..end, 0);
            (start, end) = (0, end - start);
            let (link, stops) = (Rc::clone(&self.link), Rc::clone(&self.stops));
            match receive(&link, &stops, &mut input[end..]).await {
                Ok(received) => end += received,
                Err(over) => return over,
            }
        }
    }

    async fn receive_payload(&mut self) -> Result<(), ConnectionEnd> {
        let (link, stops) = (Rc::clone(&self.link), Rc::clone(&self.stops));
        let received = receive(&link, &stops, self.session.payload_room()).await?;
        self.session.filled(received);
        Ok(())
    }

    /// Lets the session consume `input` until it needs more; returns the number of bytes consumed.
    async fn use_up(&mut self, input: &[u8]) -> Result<usize, ConnectionEnd> {
        let mut total = 0;
        loop {
            let step = self.session.advance(&input[total..]);
            total += step.used;
            match step.event {
                None if step.used == 0 => return Ok(total),
                None => {}
                Some(SessionEvent::Send(head)) => {
                    self.link.send(&self.runtime, NbdReply { head, data: None }, None);
                    self.link.drained(MOST_REQUESTS).await;
                }
                Some(SessionEvent::StartTls(head)) => {
                    self.link.send(&self.runtime, NbdReply { head, data: None }, None);
                    self.link.drained(0).await;
                    if total < input.len() {
                        // Plaintext bytes must not pass for encrypted ones.
                        return Err(ConnectionEnd::Session(SessionEnd::Nonsense));
                    }
                    self.link.wire.start_tls().map_err(ConnectionEnd::Broken)?;
                }
                Some(SessionEvent::Payload(bytes)) => {
                    self.reserved = Some(self.hall.memory.reserve(bytes as u64).await);
                    self.session.grant();
                }
                Some(SessionEvent::Request(request)) => self.start(request).await,
                Some(SessionEvent::End(end)) => return Err(ConnectionEnd::Session(end)),
            }
        }
    }

    /// Starts a request as a task; waits first if too many are in progress.
    async fn start(&mut self, request: NbdRequest) {
        self.link.drained(MOST_REQUESTS - 1).await;
        let reserved = match &request.command {
            NbdCommand::Read => Some(self.hall.memory.reserve(request.length).await),
            NbdCommand::WriteZeroes | NbdCommand::Cache => {
                let bytes = request.length.min(volume::ZEROS_AT_ONCE);
                Some(self.hall.memory.reserve(bytes).await)
            }
            _ => self.reserved.take(),
        };
        let volume = self.session.export().and_then(|export| self.hall.volumes.get(export));
        let Some(volume) = volume.map(Rc::clone) else {
            return;
        };
        let (link, runtime) = (Rc::clone(&self.link), self.runtime.clone());
        link.begin();
        drop(self.runtime.spawn(async move {
            let NbdRequest { command, offset, length, is_durable, ticket } = request;
            let done = volume.perform(command, (offset, length), is_durable).await;
            let reply = match done {
                Ok(performed) => ticket.success(performed),
                Err(error) => ticket.failure(&error),
            };
            link.send(&runtime, reply, reserved);
            link.end();
        }));
    }
}

/// Receives some bytes, unless the server stops or the stream ends first.
async fn receive(
    link: &SharedConnection,
    stops: &Rc<dyn Fn(&Context<'_>) -> bool>,
    room: &mut [u8],
) -> Result<usize, ConnectionEnd> {
    let received = std::future::poll_fn(|context| {
        if stops(context) || link.broken.borrow().is_some() {
            return Poll::Ready(None);
        }
        link.wire.poll_receive(context, room).map(Some)
    });
    match received.await {
        None => Err(ConnectionEnd::Stopped),
        Some(Ok(0)) => Err(ConnectionEnd::Closed),
        Some(Ok(bytes)) => Ok(bytes),
        Some(Err(error)) => Err(ConnectionEnd::Broken(error)),
    }
}

impl SharedConnection {
    fn begin(&self) {
        self.in_progress.set(self.in_progress.get() + 1);
    }

    fn end(&self) {
        self.in_progress.set(self.in_progress.get() - 1);
        self.notify();
    }

    fn notify(&self) {
        if let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }

    /// Waits until at most `most` requests and replies are in progress.
    async fn drained(&self, most: usize) {
        std::future::poll_fn(|context| {
            let is_sending = usize::from(self.is_sending.get());
            if self.in_progress.get() + self.outbox.borrow().len() + is_sending <= most {
                return Poll::Ready(());
            }
            self.waiting.replace(Some(context.waker().clone()));
            Poll::Pending
        })
        .await;
    }

    /// Queues a reply. It is sent at once if no other is in flight.
    fn send(self: &Rc<Self>, runtime: &Runtime, reply: NbdReply, reserved: Option<Reserved>) {
        if self.broken.borrow().is_some() {
            return;
        }
        self.outbox.borrow_mut().push_back(PendingReply { reply, _reserved: reserved });
        if !self.is_sending.replace(true) {
            let link = Rc::clone(self);
            drop(runtime.spawn(async move {
                link.send_all().await;
                link.is_sending.set(false);
                link.notify();
            }));
        }
    }

    fn next_replies(&self) -> Vec<PendingReply> {
        let mut outbox = self.outbox.borrow_mut();
        let together = outbox.len().min(MOST_TOGETHER);
        outbox.drain(..together).collect()
    }

    async fn send_all(&self) {
        loop {
            let next = self.next_replies();
            if next.is_empty() {
                return;
            }
            let mut parts = Vec::with_capacity(2 * next.len());
            for PendingReply { reply, .. } in &next {
                parts.push(IoSlice::new(&reply.head));
                parts.push(IoSlice::new(reply.data.as_deref().unwrap_or(&[])));
            }
            if let Err(error) = send_whole(&*self.wire, &mut parts).await {
                self.broken.borrow_mut().get_or_insert(error);
                self.outbox.borrow_mut().clear();
                return;
            }
            self.notify();
        }
    }
}
