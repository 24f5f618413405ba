//! One request of a guest: its header, its command, and its answer. Everything in guest memory may
//! be wrong, and may change while it is read.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use device::{Buffer, SECTOR as BUFFER_UNIT};
use export::NbdCommand;
use virtio_queue::DescriptorChain;
use vm_memory::GuestMemoryMmap;

use crate::numbers::{HEADER_BYTES, SECTOR, UNMAP, kind, status};
use crate::offer::BlockOffer;

/// A request in the guest's memory.
pub(crate) type RequestChain = DescriptorChain<Arc<GuestMemoryMmap>>;

/// Maximum length of one request in bytes, the same as for NBD.
const LONGEST: usize = 32 << 20;

/// Header of a request, and the sizes of the guest's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockHeader {
    kind: u32,
    /// First byte; meaningless for requests without an address.
    offset: u64,
    /// Bytes that the guest sends after the header.
    sent: usize,
    /// Bytes that the guest can receive before the status.
    room: usize,
}

/// A request to a volume.
#[derive(Debug)]
pub(crate) enum BlockCommand {
    /// Perform a command on a range: first byte and number of bytes.
    OnVolume(NbdCommand, (u64, u64)),
    /// Return the serial number.
    Identify,
}

impl BlockHeader {
    /// Reads the header; `None` if it is missing, or there is no room for a status.
    pub(crate) fn of(chain: &RequestChain) -> Option<Self> {
        let memory = chain.memory();
        let mut reader = chain.clone().reader(memory).ok()?;
        let kind = u32::from_le(reader.read_obj().ok()?);
        let _priority: u32 = reader.read_obj().ok()?;
        let sector = u64::from_le(reader.read_obj().ok()?);
        let sent = reader.available_bytes();
        let room = chain.clone().writer(memory).ok()?.available_bytes().checked_sub(1)?;
        Some(Self { kind, offset: sector.saturating_mul(SECTOR.into()), sent, room })
    }

    /// Memory needed to perform it, in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        match self.kind {
            kind::READ => self.room.min(LONGEST) as u64,
            kind::WRITE => self.sent.min(LONGEST) as u64,
            _ => 0,
        }
    }

    /// The requested command, with the payload of a write; the status of a refused request.
    pub(crate) fn command(
        &self,
        chain: &RequestChain,
        offer: &BlockOffer,
    ) -> Result<BlockCommand, u8> {
        let is_change = matches!(self.kind, kind::WRITE | kind::DISCARD | kind::WRITE_ZEROES);
        if is_change && offer.is_read_only {
            return Err(status::FAILED);
        }
        match self.kind {
            kind::READ => {
                let bytes = self.moved(self.room, offer)?;
                Ok(BlockCommand::OnVolume(NbdCommand::Read, bytes))
            }
            kind::WRITE => {
                let bytes = self.moved(self.sent, offer)?;
                let payload = self.payload(chain).ok_or(status::FAILED)?;
                Ok(BlockCommand::OnVolume(NbdCommand::Write(payload), bytes))
            }
            kind::FLUSH => Ok(BlockCommand::OnVolume(NbdCommand::Flush, (0, 0))),
            kind::IDENTIFY => Ok(BlockCommand::Identify),
            kind::DISCARD | kind::WRITE_ZEROES => self.cleared(chain, offer),
            _ => Err(status::UNSUPPORTED),
        }
    }

    /// The range of a read or write of this length, if it is valid and inside the volume.
    fn moved(&self, length: usize, offer: &BlockOffer) -> Result<(u64, u64), u8> {
        let is_whole = length > 0 && (length as u64).is_multiple_of(SECTOR.into());
        if !is_whole || length > LONGEST {
            return Err(status::FAILED);
        }
        inside((self.offset, length as u64), offer)
    }

    fn payload(&self, chain: &RequestChain) -> Option<Buffer> {
        let memory = chain.memory();
        let mut reader = chain.clone().reader(memory).ok()?;
        reader.read_exact(&mut [0; HEADER_BYTES]).ok()?;
        let mut buffer = Buffer::zeroed(self.sent.next_multiple_of(BUFFER_UNIT));
        reader.read_exact(&mut buffer[..self.sent]).ok()?;
        Some(buffer)
    }

    /// A discard or write-zeroes command. The configuration allows one range per request.
    fn cleared(&self, chain: &RequestChain, offer: &BlockOffer) -> Result<BlockCommand, u8> {
        let (sector, count, flags) = range(chain).ok_or(status::FAILED)?;
        let is_discard = self.kind == kind::DISCARD;
        let known = if is_discard { 0 } else { UNMAP };
        if flags & !known != 0 {
            return Err(status::UNSUPPORTED);
        }
        let start = sector.checked_mul(SECTOR.into()).ok_or(status::FAILED)?;
        let bytes = inside((start, u64::from(count) * u64::from(SECTOR)), offer)?;
        let command = if is_discard { NbdCommand::Trim } else { NbdCommand::WriteZeroes };
        Ok(BlockCommand::OnVolume(command, bytes))
    }

    /// Writes `data` and a status into the guest's room; returns the number of bytes written. Data
    /// is truncated to the room.
    pub(crate) fn answer(&self, chain: &RequestChain, data: &[u8], status: u8) -> u32 {
        let memory = chain.memory();
        let Ok(mut writer) = chain.clone().writer(memory) else {
            return 0;
        };
        let Ok(mut last) = writer.split_at(self.room) else {
            return 0;
        };
        let data = &data[..data.len().min(self.room)];
        let is_written = writer.write_all(data).is_ok() && last.write_all(&[status]).is_ok();
        // Bounded by the longest request.
        if is_written { u32::try_from(data.len() + 1).unwrap_or(u32::MAX) } else { 0 }
    }
}

/// First sector, number of sectors and flags of the only range of a request.
fn range(chain: &RequestChain) -> Option<(u64, u32, u32)> {
    let memory = chain.memory();
    let mut reader = chain.clone().reader(memory).ok()?;
    reader.read_exact(&mut [0; HEADER_BYTES]).ok()?;
    let sector = u64::from_le(reader.read_obj().ok()?);
    let count = u32::from_le(reader.read_obj().ok()?);
    let flags = u32::from_le(reader.read_obj().ok()?);
    (reader.available_bytes() == 0).then_some((sector, count, flags))
}

/// The same range, if the volume contains it.
fn inside((start, length): (u64, u64), offer: &BlockOffer) -> Result<(u64, u64), u8> {
    let is_inside = start.checked_add(length).is_some_and(|end| end <= offer.bytes);
    if is_inside && length > 0 { Ok((start, length)) } else { Err(status::FAILED) }
}
