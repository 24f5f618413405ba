//! Gives each client of a mirrored volume its own view of it while the client is connected.

use std::rc::Rc;

use ::device::Device;
use export::{ExportHall, ExportOffer, ExportedVolume, Limits, MemoryBudget};
use units::Bytes;

use super::device::MirroredDevice;
use super::driver::MirrorDriver;
use crate::cache::serve::presence::ClientPresence;

/// Memory for requests in progress.
const MEMORY: Bytes = Bytes::from_mib(256);

/// See the module.
pub(super) struct MirrorHall {
    driver: Rc<MirrorDriver>,
    /// Shares its locks with the volume of every client.
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

    /// The hall of one client.
    pub(super) fn of(&self, client: Rc<ClientPresence>) -> Rc<ExportHall> {
        let device = Rc::new(MirroredDevice::new(Rc::clone(&self.driver), client));
        let mut volume = self.volume.through(Rc::clone(&device) as Rc<dyn Device>);
        // Behind flash a trim would have to reach the device, block by block.
        if self.driver.document.device.is_none() {
            volume = volume.on(device);
        }
        Rc::new(ExportHall {
            offers: Rc::clone(&self.offers),
            volumes: vec![Rc::new(volume)],
            limits: Limits::default(),
            memory: self.memory.clone(),
        })
    }
}
