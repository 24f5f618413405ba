//! Requests on a device, whatever their alignment: a write that begins or ends inside a sector
//! reads the sectors that it touches, and writes them whole.

mod whole;

use std::ops::Range;
use std::rc::Rc;

use device::{Buffer, Device, DeviceError, Durability, Purpose, Request};

use crate::locks::Occupancy;
use crate::nbd::NbdCommand;

/// Zeros that are written with one request.
pub(crate) const ZEROS_AT_ONCE: u64 = 4 << 20;

/// Bytes of a read: a part of the buffer that was filled.
#[derive(Debug)]
pub struct ReadBytes {
    buffer: Buffer,
    range: Range<usize>,
}

impl std::ops::Deref for ReadBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.buffer[self.range.clone()]
    }
}

/// A device as others see it: any bytes, at any time, from several connections.
pub struct ExportedVolume {
    device: Rc<dyn Device>,
    occupancy: Rc<Occupancy>,
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
        Self { device, occupancy: Rc::default(), sector }
    }

    /// Bytes that clients see: the whole sectors of the device.
    pub fn bytes(&self) -> u64 {
        self.device.length() / self.sector * self.sector
    }

    /// Bytes that the device writes at once.
    pub fn sector(&self) -> u32 {
        u32::try_from(self.sector).unwrap_or(u32::MAX)
    }

    /// Performs a command on the `length` bytes at `offset`, which lie inside the volume.
    pub async fn perform(
        &self,
        command: NbdCommand,
        (offset, length): (u64, u64),
        is_durable: bool,
    ) -> Result<Option<ReadBytes>, DeviceError> {
        let durability = if is_durable { Durability::Durable } else { Durability::Volatile };
        let bytes = offset..offset.saturating_add(length);
        match command {
            NbdCommand::Read => return self.read(bytes).await.map(Some),
            NbdCommand::Write(payload) => self.write(bytes, payload, durability).await?,
            NbdCommand::Flush => self.flush().await?,
            NbdCommand::WriteZeroes => self.write_zeros(bytes, durability).await?,
            NbdCommand::Cache => self.warm(bytes).await?,
            // Hints about bytes that nothing here gives back, and a question with one answer.
            NbdCommand::Trim | NbdCommand::BlockStatus => {}
        }
        Ok(None)
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
        let read = Request::read(Purpose::Database, start, length);
        let buffer = self.device.submit(read).await.into_buffer()?;
        Ok(ReadBytes { buffer, range: inner })
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

    /// Reads in steps and keeps nothing: the layers behind the device may.
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
