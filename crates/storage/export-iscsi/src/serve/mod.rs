//! One initiator's connection: receives commands, performs them concurrently, and sends answers as
//! they complete.

mod link;
mod nexus;
mod outbox;
mod work;

use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll};

use device::{Boxed, Runtime};
use export::{ExportedVolume, MemoryBudget, Wire, WireError};
use units::Nanos;

use self::link::TargetLink;
use self::nexus::Nexuses;
use crate::session::{TargetOffer, TargetSession};

/// How long an initiator may take to log in, or to discover the targets.
const LOGIN_PATIENCE: Nanos = Nanos::from_secs(15);

/// State shared by all connections to a target server.
pub struct TargetHall {
    offers: Arc<[TargetOffer]>,
    /// In the order of the offers.
    volumes: Vec<Rc<ExportedVolume>>,
    memory: MemoryBudget,
    nexuses: Nexuses,
}

impl TargetHall {
    /// Targets with their volumes; `memory` bounds all commands in progress.
    pub fn new(
        targets: impl Iterator<Item = (TargetOffer, Rc<ExportedVolume>)>,
        memory: MemoryBudget,
    ) -> Self {
        let (offers, volumes): (Vec<_>, Vec<_>) = targets.unzip();
        Self { offers: offers.into(), volumes, memory, nexuses: Nexuses::default() }
    }

    /// Names of the targets.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.offers.iter().map(|offer| offer.name.as_str())
    }
}

/// A new connection.
pub struct InitiatorArrival {
    /// The connection's bytes.
    pub wire: Rc<dyn Wire>,
    /// `host:port` as the initiator reaches the server.
    pub portal: String,
    /// CHAP challenge, which must never repeat.
    pub challenge: [u8; 16],
    /// Whether the server is stopping; wakes the caller's task once it is.
    pub stops: Rc<dyn Fn(&Context<'_>) -> bool>,
}

/// How a connection ended.
#[derive(Debug)]
pub enum InitiatorEnd {
    /// The initiator logged out, or was refused.
    Over,
    /// It closed the stream, or the server is stopping.
    Closed,
    /// The stream broke.
    Broken(WireError),
    /// It logged in again over another connection.
    Replaced,
    /// It did not log in in time.
    Late,
}

/// Serves an initiator until it leaves or the server stops; received commands are answered in
/// either case, but not after the initiator has logged in again.
pub fn serve_initiator(
    hall: Rc<TargetHall>,
    arrival: InitiatorArrival,
    runtime: Runtime,
) -> Boxed<'static, InitiatorEnd> {
    Box::pin(async move {
        let InitiatorArrival { wire, portal, challenge, stops } = arrival;
        let session = TargetSession::new(Arc::clone(&hall.offers), portal, challenge);
        let link = Rc::new(TargetLink::new(Rc::clone(&hall), wire, runtime.clone(), session));
        drop(runtime.spawn(expect_login(Rc::downgrade(&link), runtime.clone())));
        let end = receive_all(&link, &stops).await;
        link.take_no_more();
        link.drained(0).await;
        hall.nexuses.leave(link.ending());
        link.take_broken().map_or(end, InitiatorEnd::Broken)
    })
}

/// Closes a connection that has not logged in after a while.
async fn expect_login(link: Weak<TargetLink>, runtime: Runtime) {
    runtime.sleep(LOGIN_PATIENCE).await;
    if let Some(link) = link.upgrade().filter(|link| !link.is_logged_in()) {
        link.ending().set(InitiatorEnd::Late);
    }
}

async fn receive_all(
    link: &Rc<TargetLink>,
    stops: &Rc<dyn Fn(&Context<'_>) -> bool>,
) -> InitiatorEnd {
    loop {
        link.drained(link::MOST_ANSWERS).await;
        let received = std::future::poll_fn(|context| {
            if let Some(end) = link.ending().poll(context) {
                return Poll::Ready(Err(end));
            }
            if stops(context) || link.is_broken() {
                return Poll::Ready(Err(InitiatorEnd::Closed));
            }
            link.poll_receive(context)
        });
        match received.await {
            Ok(()) if link.is_over() => return InitiatorEnd::Over,
            Ok(()) => {}
            Err(end) => return end,
        }
    }
}
