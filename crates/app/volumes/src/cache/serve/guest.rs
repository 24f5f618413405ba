//! A guest on this host, and the messages from its connection's thread.

use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::mpsc::Sender;

use export_vhost::{BlockOffer, GuestRings, RingOrder};

/// Event of the connection with this number.
pub(super) struct GuestLetter {
    pub(crate) guest: u64,
    pub event: GuestEvent,
}

/// See [`GuestLetter`].
pub(super) enum GuestEvent {
    /// A hypervisor has connected to a volume.
    Arrived { volume: usize, offer: BlockOffer, socket: UnixStream },
    /// The hypervisor gives an order.
    Orders(RingOrder),
    /// The hypervisor has left. Dropping the sender signals that its pending requests are done.
    Left(Sender<()>),
}

/// A connected hypervisor.
pub(super) struct Guest {
    pub(crate) rings: Rc<GuestRings>,
    pub socket: UnixStream,
}
