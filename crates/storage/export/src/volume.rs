//! Requests on a device, whatever their alignment: a write that begins or ends inside a sector
//! reads the sectors that it touches, and writes them whole.

mod spare;
mod whole;

use std::ops::Range;
use std::rc::Rc;

use device::{Buffer, Device, DeviceError, Durability, Purpose, Request};

use crate::locks::Occupancy;
use crate::nbd::NbdCommand;
use crate::provision::{Extent, Provisioned, tidied};
use spare::SpareBuffers;

/// Zeros that are written with one request.
pub(crate) const ZEROS_AT_ONCE: u64 = 4 << 20;

/// Bytes of a read: a part of the buffer that was filled.
#[derive(Debug)]
pub struct ReadBytes {
    buffer: Buffer,
    range: Range<usize>,
    spare: Rc<SpareBuffers>,
}

impl Drop for ReadBytes {
    fn drop(&mut self) {
        self.spare.give_back(std::mem::replace(&mut self.buffer, Buffer::zeroed(0)));
    }
}

impl std::ops::Deref for ReadBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.buffer[self.range.clone()]
    }
}

/// Result of a successful command.
#[derive(Debug)]
pub enum Performed {
    /// Nothing.
    Done,
    /// The bytes that were read.
    Bytes(ReadBytes),
    /// How bytes are stored, from the first one on.
    Extents(Vec<Extent>),
}

/// A device as clients see it: any bytes, at any time, from several connections.
pub struct ExportedVolume {
    device: Rc<dyn Device>,
    storage: Option<Rc<dyn Provisioned>>,
    occupancy: Rc<Occupancy>,
    spare: Rc<SpareBuffers>,
    sector: u64,
}

/// The part of a device in whole sectors around some bytes.
struct Sectors {
    start: u64,
    length: usize,
    /// The bytes inside.
    inner: Range<usize>,
}

impl ExportedVolume {
    /// Serves `device`.
    pub fn new(device: Rc<dyn Device>) -> Self {
        let sector = u64::from(device.caps().sector).max(1);
        Self { device, storage: None, occupancy: Rc::default(), spare: Rc::default(), sector }
    }

    /// The same bytes through another device. Overlapping requests of the two wait for each other.
    #[must_use]
    pub fn through(&self, device: Rc<dyn Device>) -> Self {
        let (occupancy, spare) = (Rc::clone(&self.occupancy), Rc::clone(&self.spare));
        Self { device, storage: self.storage.clone(), occupancy, spare, sector: self.sector }
    }

    /// The same volume, for a device on `storage`, which can free bytes and knows its holes.
    #[must_use]
    pub fn on(self, storage: Rc<dyn Provisioned>) -> Self {
        Self { storage: Some(storage), ..self }
    }

    /// Bytes that clients see: the whole sectors of the device.
    pub fn bytes(&self) -> u64 {
        self.device.length() / self.sector * self.sector
    }

    /// Bytes of the device's sector.
    pub fn sector(&self) -> u32 {
        u32::try_from(self.sector).unwrap_or(u32::MAX)
    }

    /// Performs a command on the `length` bytes at `offset`, which lie inside the volume.
    pub async fn perform(
        &self,
        command: NbdCommand,
        (offset, length): (u64, u64),
        is_durable: bool,
    ) -> Result<Performed, DeviceError> {
        let durability = if is_durable { Durability::Durable } else { Durability::Volatile };
        let bytes = offset..offset.saturating_add(length);
        match command {
            NbdCommand::Read => return self.read(bytes).await.map(Performed::Bytes),
            NbdCommand::Write(payload) => self.write(bytes, payload, durability).await?,
            NbdCommand::Flush => self.flush().await?,
            NbdCommand::WriteZeroes => self.write_zeros(bytes, durability).await?,
            NbdCommand::Cache => self.warm(bytes).await?,
            NbdCommand::Trim => self.trim(bytes, durability).await?,
            NbdCommand::BlockStatus => return self.extents(bytes).await.map(Performed::Extents),
        }
        Ok(Performed::Done)
    }

    /// Makes every completed write durable.
    pub async fn flush(&self) -> Result<(), DeviceError> {
        self.device.submit(Request::flush(Purpose::Database)).await.result
    }

    fn sectors(&self, bytes: &Range<u64>) -> Sectors {
        let start = bytes.start / self.sector * self.sector;
        let end = bytes.end.next_multiple_of(self.sector);
        let inner = index(bytes.start - start)..index(bytes.end - start);
        Sectors { start, length: index(end - start), inner }
    }

    async fn hold(&self, bytes: &Range<u64>, is_change: bool) -> crate::locks::HeldRange {
        let Sectors { start, length, .. } = self.sectors(bytes);
        self.occupancy.hold(start..start + length as u64, is_change).await
    }

    async fn read(&self, bytes: Range<u64>) -> Result<ReadBytes, DeviceError> {
        let _held = self.hold(&bytes, false).await;
        let Sectors { start, length, inner } = self.sectors(&bytes);
        let read = Request::read_into(Purpose::Database, start, self.spare.take(length));
        let buffer = self.device.submit(read).await.into_buffer()?;
        Ok(ReadBytes { buffer, range: inner, spare: Rc::clone(&self.spare) })
    }

    async fn write(
        &self,
        bytes: Range<u64>,
        payload: Buffer,
        durability: Durability,
    ) -> Result<(), DeviceError> {
        let _held = self.hold(&bytes, true).await;
        let Sectors { start, length, inner } = self.sectors(&bytes);
        let buffer = if payload.len() == length && inner == (0..length) {
            payload
        } else {
            let read = Request::read(Purpose::Database, start, length);
            let mut whole = self.device.submit(read).await.into_buffer()?;
            let moved = inner.len();
            whole[inner].copy_from_slice(&payload[..moved]);
            whole
        };
        self.put(start, buffer, durability).await
    }

    /// Frees the whole sectors among `bytes`.
    async fn trim(&self, bytes: Range<u64>, durability: Durability) -> Result<(), DeviceError> {
        let Some(storage) = &self.storage else {
            return Ok(()); // A hint that this storage cannot use.
        };
        let _held = self.hold(&bytes, true).await;
        let end = bytes.end / self.sector * self.sector;
        let start = bytes.start.next_multiple_of(self.sector);
        if start < end {
            storage.trim(start..end).await?;
        }
        if durability == Durability::Durable { self.flush().await } else { Ok(()) }
    }

    async fn extents(&self, bytes: Range<u64>) -> Result<Vec<Extent>, DeviceError> {
        let length = bytes.end - bytes.start;
        let Some(storage) = &self.storage else {
            return Ok(tidied(Vec::new(), length));
        };
        let _held = self.hold(&bytes, false).await;
        Ok(tidied(storage.extents(bytes).await?, length))
    }

    async fn put(&self, at: u64, buffer: Buffer, kind: Durability) -> Result<(), DeviceError> {
        let write = Request::write(Purpose::Database, at, buffer, kind);
        self.device.submit(write).await.result
    }

    async fn write_zeros(
        &self,
        bytes: Range<u64>,
        durability: Durability,
    ) -> Result<(), DeviceError> {
        let mut at = bytes.start;
        while at < bytes.end {
            let step = (at / ZEROS_AT_ONCE + 1) * ZEROS_AT_ONCE;
            let end = step.min(bytes.end);
            let room = index(end - at).next_multiple_of(device::SECTOR);
            self.write(at..end, Buffer::zeroed(room), durability).await?;
            at = end;
        }
        Ok(())
    }

    /// Reads in steps and discards the data: the layers behind the device may keep it.
    async fn warm(&self, bytes: Range<u64>) -> Result<(), DeviceError> {
        let mut at = bytes.start;
        while at < bytes.end {
            let end = ((at / ZEROS_AT_ONCE + 1) * ZEROS_AT_ONCE).min(bytes.end);
            self.read(at..end).await?;
            at = end;
        }
        Ok(())
    }
}

fn index(bytes: u64) -> usize {
    usize::try_from(bytes).expect("invariant: bounded by the longest request")
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::ops::Range;
    use std::rc::Rc;

    use device::{Executor, Latency, MemoryVolume, OpenMode, Pending, VirtualReactor, Volume as _};
    use units::Nanos;

    use super::{ExportedVolume, Performed};
    use crate::nbd::NbdCommand;
    use crate::provision::{Extent, Provisioned};

    /// Records trimmed bytes, and knows the state of half of its bytes.
    #[derive(Default)]
    struct Storage {
        trimmed: RefCell<Vec<Range<u64>>>,
    }

    impl Provisioned for Storage {
        fn trim(&self, bytes: Range<u64>) -> Pending<()> {
            self.trimmed.borrow_mut().push(bytes);
            Box::pin(async { Ok(()) })
        }

        fn extents(&self, bytes: Range<u64>) -> Pending<Vec<Extent>> {
            let half = (bytes.end - bytes.start) / 2;
            Box::pin(async move { Ok(vec![Extent { bytes: half, is_hole: true }]) })
        }
    }

    #[test]
    fn storage_takes_whole_sectors_back_and_tells_what_it_knows() {
        let reactor = VirtualReactor::new();
        let memory = MemoryVolume::new("memory", &reactor, Latency::fixed(Nanos(1)));
        let executor = Executor::new(reactor);
        let opening = memory.open("volume", OpenMode::CreateNew { length: 1 << 20 });
        let device = executor.block_on(opening).unwrap();
        let storage = Rc::new(Storage::default());
        let plain = ExportedVolume::new(Rc::clone(&device));
        let told = ExportedVolume::new(device).on(Rc::<Storage>::clone(&storage));
        executor.block_on(async move {
            for bytes in [(100, 2_000), (512, 1_024), (10, 20)] {
                for volume in [&plain, &told] {
                    let done = volume.perform(NbdCommand::Trim, bytes, true).await;
                    assert!(matches!(done, Ok(Performed::Done)));
                }
            }
            for (volume, expected) in [(&plain, (1_000, false)), (&told, (500, true))] {
                let found = volume.perform(NbdCommand::BlockStatus, (8, 1_000), false).await;
                let Ok(Performed::Extents(extents)) = found else {
                    panic!("{found:?}");
                };
                let [Extent { bytes, is_hole }] = extents[..] else {
                    panic!("{extents:?}");
                };
                assert_eq!((bytes, is_hole), expected);
            }
        });
        let sector = 512;
        let expected = [sector..4 * sector, sector..3 * sector];
        assert_eq!(storage.trimmed.borrow()[..], expected);
    }
}
