//! A guest of this host, and the letters of its connection's thread.

use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::mpsc::Sender;

use export_vhost::{BlockOffer, GuestRings, RingOrder};

/// What happened to the connection of this number.
pub(super) struct GuestLetter {
    pub guest: u64,
    pub event: GuestEvent,
}

/// See [`GuestLetter`].
pub(super) enum GuestEvent {
    /// A hypervisor has connected to a volume.
    Arrived { volume: usize, offer: BlockOffer, socket: UnixStream },
    /// It orders something.
    Orders(RingOrder),
    /// It has left. What it had in progress is over once this is dropped.
    Left(Sender<()>),
}

/// A connected hypervisor.
pub(super) struct Guest {
    pub rings: Rc<GuestRings>,
    pub socket: UnixStream,
}
