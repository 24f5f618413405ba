//! Changes that are atomic for all clients, and a way to wait for the changes of others.

use std::ops::Range;

use device::{Buffer, DeviceError, Durability, Purpose, Request};

use super::{ExportedVolume, Sectors, ZEROS_AT_ONCE, index};

impl ExportedVolume {
    /// Writes `new` at `offset` if the content there equals `expected`, which has the same length;
    /// else returns the position of the first byte that differs.
    pub async fn compare_and_write(
        &self,
        offset: u64,
        expected: &[u8],
        new: &[u8],
    ) -> Result<Option<usize>, DeviceError> {
        let bytes = offset..offset.saturating_add(expected.len() as u64);
        let _held = self.hold(&bytes, true).await;
        let Sectors { start, length, inner } = self.sectors(&bytes);
        let read = Request::read(Purpose::Database, start, length);
        let mut whole = self.device.submit(read).await.into_buffer()?;
        let present = &whole[inner.clone()];
        let differs = present.iter().zip(expected).position(|(one, other)| one != other);
        if differs.is_none() {
            whole[inner].copy_from_slice(new);
            self.put(start, whole, Durability::Volatile).await?;
        }
        Ok(differs)
    }

    /// Fills `bytes` with copies of `pattern`; the pattern's length divides both that of `bytes`
    /// and 4 MiB.
    pub async fn fill(&self, bytes: Range<u64>, pattern: &[u8]) -> Result<(), DeviceError> {
        let mut at = bytes.start;
        while at < bytes.end {
            let end = (at + ZEROS_AT_ONCE).min(bytes.end);
            let mut buffer = Buffer::zeroed(index(end - at).next_multiple_of(device::SECTOR));
            for part in buffer.chunks_exact_mut(pattern.len()) {
                part.copy_from_slice(pattern);
            }
            self.write(at..end, buffer, Durability::Volatile).await?;
            at = end;
        }
        Ok(())
    }

    /// Waits for every request in progress to complete.
    pub async fn settle(&self) {
        drop(self.occupancy.hold(0..u64::MAX, true).await);
    }
}
