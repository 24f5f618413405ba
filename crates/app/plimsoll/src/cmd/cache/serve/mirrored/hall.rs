//! What each client of a mirrored volume is given: the volume, for as long as it is connected.

use std::cell::Cell;
use std::rc::Rc;
use std::task::{Context, Poll};

use ::device::Device as _;
use export::{ExportHall, ExportOffer, ExportedVolume, Limits, MemoryBudget, Wire, WireError};
use units::Bytes;

use super::device::MirroredDevice;
use super::driver::MirrorDriver;
use crate::cmd::cache::serve::client::SocketWire;

/// Memory for requests in progress.
const MEMORY: Bytes = Bytes::from_mib(256);

/// A client. Once it has left, nothing that waits for the volume is carried out for it: it may have
/// written the same blocks through the other host meanwhile.
#[derive(Default)]
pub(super) struct ClientPresence {
    has_left: Cell<bool>,
}

impl ClientPresence {
    pub(super) fn has_left(&self) -> bool {
        self.has_left.get()
    }
}

/// See the module.
pub(super) struct MirrorHall {
    driver: Rc<MirrorDriver>,
    /// Every client's volume shares its locks.
    volume: ExportedVolume,
    offers: Rc<[ExportOffer]>,
    memory: MemoryBudget,
}

impl MirrorHall {
    pub(super) fn new(driver: &Rc<MirrorDriver>) -> Self {
        let device = Rc::new(MirroredDevice::new(Rc::clone(driver), Rc::default()));
        let document = &driver.document;
        let offer = ExportOffer {
            name: document.volume.clone(),
            description: format!("on the flash of {} and {}", document.hosts[0], document.hosts[1]),
            bytes: device.length(),
            is_read_only: false,
            preferred_block: device.caps().sector,
        };
        let (volume, offers) = (ExportedVolume::new(device), [offer].into());
        Self { driver: Rc::clone(driver), volume, offers, memory: MemoryBudget::new(MEMORY.0) }
    }

    /// The hall of one client, and its connection.
    pub(super) fn admit(&self, wire: SocketWire) -> (Rc<ExportHall>, Rc<dyn Wire>) {
        let client = Rc::<ClientPresence>::default();
        let device = MirroredDevice::new(Rc::clone(&self.driver), Rc::clone(&client));
        let hall = ExportHall {
            offers: Rc::clone(&self.offers),
            volumes: vec![Rc::new(self.volume.through(Rc::new(device)))],
            limits: Limits::default(),
            memory: self.memory.clone(),
        };
        (Rc::new(hall), Rc::new(ClientWire { wire, client }))
    }
}

/// A connection that takes note of its end.
struct ClientWire {
    wire: SocketWire,
    client: Rc<ClientPresence>,
}

impl Wire for ClientWire {
    fn poll_receive(
        &self,
        context: &mut Context<'_>,
        room: &mut [u8],
    ) -> Poll<Result<usize, WireError>> {
        self.wire.poll_receive(context, room)
    }

    fn client_left(&self) {
        self.client.has_left.set(true);
    }

    fn poll_send(
        &self,
        context: &mut Context<'_>,
        head: &[u8],
        data: &[u8],
    ) -> Poll<Result<usize, WireError>> {
        self.wire.poll_send(context, head, data)
    }
}
