//! What every read must return, and what no power failure may take away.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use device::{Buffer, FileImage, SECTOR};

use super::UNIT;

/// Versions of one unit of the volume.
#[derive(Clone, Copy, Debug, Default)]
struct UnitVersions {
    /// The last version whose write has begun.
    begun: u32,
    /// The last version known to be durable.
    durable: u32,
}

/// See the module.
pub(crate) struct Twin {
    units: RefCell<Vec<UnitVersions>>,
    /// Contents of the volume according to the acknowledged writes.
    now: RefCell<FileImage>,
    /// Acknowledged writes that no flush has covered yet.
    volatile: RefCell<Vec<(u64, u32)>>,
    length: u64,
    /// `true` once bits of the flash have rotted.
    has_rot: Cell<bool>,
}

impl Twin {
    /// The twin of an empty volume of `blocks` blocks.
    pub(crate) fn new(blocks: u64) -> Rc<Self> {
        let length = blocks * super::BLOCK;
        let units = usize::try_from(length / UNIT).expect("invariant: a small volume");
        Rc::new(Self {
            units: RefCell::new(vec![UnitVersions::default(); units]),
            now: RefCell::new(FileImage::zeroed(length)),
            volatile: RefCell::default(),
            length,
            has_rot: Cell::new(false),
        })
    }

    /// Notes that bits of the flash have rotted.
    pub(crate) fn rots(&self, now: bool) {
        self.has_rot.set(self.has_rot.get() || now);
    }

    /// `true` if anything but power has failed.
    pub(crate) fn has_rot(&self) -> bool {
        self.has_rot.get()
    }

    /// Bytes of the volume.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Begins new versions of `count` units from `first` on; returns their bytes.
    pub(crate) fn begin(&self, first: u64, count: u64) -> Buffer {
        let mut units = self.units.borrow_mut();
        let bytes = usize::try_from(count * UNIT).expect("invariant: a few units");
        let mut buffer = Buffer::zeroed(bytes);
        for (unit, part) in (first..first + count).zip(buffer.chunks_mut(4_096)) {
            let versions = &mut units[at(unit)];
            versions.begun += 1;
            for sector in part.chunks_mut(SECTOR) {
                sector[..4].copy_from_slice(&number(unit).to_le_bytes());
                sector[4..8].copy_from_slice(&versions.begun.to_le_bytes());
            }
        }
        buffer
    }

    /// The write of these bytes was acknowledged.
    pub(crate) fn acknowledged(&self, first: u64, bytes: &[u8], durable: bool) {
        self.now.borrow_mut().write(first * UNIT, bytes);
        for (unit, part) in (first..).zip(bytes.chunks(4_096)) {
            let version = version_of(part).1;
            if durable {
                self.survives(unit, version);
            } else {
                self.volatile.borrow_mut().push((unit, version));
            }
        }
    }

    /// Called when a flush begins; returns the argument for [`Self::flushed`].
    pub(crate) fn flush_begins(&self) -> Vec<(u64, u32)> {
        self.volatile.borrow().clone()
    }

    /// The flush was acknowledged.
    pub(crate) fn flushed(&self, covered: &[(u64, u32)]) {
        for &(unit, version) in covered {
            self.survives(unit, version);
        }
        self.volatile.borrow_mut().retain(|write| !covered.contains(write));
    }

    fn survives(&self, unit: u64, version: u32) {
        let versions = &mut self.units.borrow_mut()[at(unit)];
        versions.durable = versions.durable.max(version);
    }

    /// Compares the bytes read with the expected ones.
    pub(crate) fn check(&self, first: u64, bytes: &[u8]) -> Result<(), String> {
        let mut expected = vec![0; bytes.len()];
        self.now.borrow().read(first * UNIT, &mut expected);
        let mut sectors = bytes.chunks(SECTOR).zip(expected.chunks(SECTOR)).zip(first * 8..);
        match sectors.find(|((read, expected), _)| read != expected) {
            None => Ok(()),
            Some(((read, expected), sector)) => Err(format!(
                "sector {sector} reads as {:?}, and the volume holds {:?} (unit, version)",
                version_of(read),
                version_of(expected)
            )),
        }
    }

    /// Takes over what a power failure left of the volume: every sector must be of a version from
    /// the last durable one to the last one begun. Counts the units that had a durable one.
    pub(crate) fn adopt(&self, survived: &FileImage) -> Result<u64, String> {
        let mut compared = 0;
        let mut sector = [0; SECTOR];
        for (unit, versions) in (0..).zip(self.units.borrow().iter()) {
            compared += u64::from(versions.durable > 0);
            for part in (0..if versions.begun > 0 { UNIT } else { 0 }).step_by(SECTOR) {
                sector.fill(0);
                survived.read(unit * UNIT + part, &mut sector);
                let (_, version) = version_of(&sector);
                if version < versions.durable || version > versions.begun {
                    return Err(format!(
                        "unit {unit} of the volume holds version {version} after a failure, and \
                         {} was acknowledged as durable",
                        versions.durable
                    ));
                }
            }
        }
        // A file that was being created may still be empty.
        let mut now = survived.clone();
        now.set_length(self.length());
        self.now.replace(now);
        self.volatile.borrow_mut().clear();
        Ok(compared)
    }
}

fn at(unit: u64) -> usize {
    usize::try_from(unit).expect("invariant: a small volume")
}

fn number(unit: u64) -> u32 {
    u32::try_from(unit).expect("invariant: a small volume")
}

/// Unit and version recorded in a sector.
fn version_of(sector: &[u8]) -> (u32, u32) {
    (word(&sector[..4]), word(&sector[4..8]))
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(*bytes.first_chunk().expect("invariant: four bytes"))
}
