//! Identifies the contents of a raw device before they are trusted or overwritten, and formats it
//! on explicit request only.

use std::rc::Rc;

use super::directory::{DIRECTORY_BYTES, Directory};
use super::superblock::{LEAST_BYTES, Superblock, SuperblockError};
use super::{UNIT, signature};
use crate::{ALIGNMENT, Boxed, Buffer, Device, DeviceError, Durability, Purpose, Request};

/// Bytes at each end of a device that are inspected, and cleared by a format.
const LOOK_BYTES: u64 = 1 << 20;

/// Contents of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockContent {
    /// Zeros, judging by both ends.
    Blank,
    /// A volume of this program, with its number of files.
    Volume {
        /// Number of files.
        files: usize,
    },
    /// A volume of this program that cannot be trusted, with the reason.
    Damaged(String),
    /// Something else, named.
    Foreign(&'static str),
}

/// Offset at which the directory of this sequence number is written.
pub(super) const fn place_of(sequence: u64) -> u64 {
    UNIT + (sequence % 2) * DIRECTORY_BYTES
}

/// Inspects the contents of `device`. Changes nothing.
pub fn content(device: &Rc<dyn Device>) -> Boxed<'_, Result<BlockContent, DeviceError>> {
    Box::pin(async move {
        match read(device).await {
            Ok((_, directory)) => Ok(BlockContent::Volume { files: directory.files.len() }),
            Err(DeviceError::VolumeDamaged { problem, .. }) => Ok(BlockContent::Damaged(problem)),
            Err(DeviceError::NotAVolume { .. }) => {
                let found = foreign(device).await?;
                Ok(found.map_or(BlockContent::Blank, BlockContent::Foreign))
            }
            Err(error) => Err(error),
        }
    })
}

/// Identity of the volume on `device`; an error if there is none.
pub fn identity(device: &Rc<dyn Device>) -> Boxed<'_, Result<[u8; 16], DeviceError>> {
    Box::pin(async move { Ok(read(device).await?.0.identity) })
}

/// Makes `device` an empty volume with the random `identity`. Its contents are lost; the caller has
/// checked [`content`] and has locked the device. Fails if the device is too small. After a power
/// failure in between, the device contains no volume or an empty one.
pub fn format(device: &Rc<dyn Device>, identity: [u8; 16]) -> Boxed<'_, Result<(), DeviceError>> {
    Box::pin(async move {
        let length = device.length();
        if length < LEAST_BYTES {
            return Err(DeviceError::Full { file: device.name().to_owned(), offset: LEAST_BYTES });
        }
        let superblock = Superblock::of(identity, length);
        let empty = Directory { sequence: 1, ..Directory::default() };
        let directory = empty.encode(&identity).expect("invariant: an empty directory is short");
        write(device, 0, zeros(LOOK_BYTES)).await?;
        write(device, last_from(device), zeros(LOOK_BYTES)).await?;
        write(device, place_of(0), zeros(ALIGNMENT as u64)).await?;
        write(device, place_of(1), directory).await?;
        // Written last, once everything it refers to exists.
        write(device, 0, superblock.encode()).await
    })
}

/// The first block and the newer directory.
pub(super) async fn read(device: &Rc<dyn Device>) -> Result<(Superblock, Directory), DeviceError> {
    if device.length() < LEAST_BYTES {
        return Err(not_ours(device).await);
    }
    let block = bytes(device, 0, ALIGNMENT as u64).await?;
    let superblock = match Superblock::decode(&block) {
        Ok(superblock) => superblock,
        Err(SuperblockError::NotOurs) => return Err(not_ours(device).await),
        Err(SuperblockError::Damaged) => {
            return Err(damaged(device, "the checksum of its first block is wrong".to_owned()));
        }
        Err(SuperblockError::Version(version)) => {
            let problem = format!("its layout {version} is that of a later release");
            return Err(damaged(device, problem));
        }
    };
    if superblock.bytes() > device.length() {
        let (wanted, found) = (superblock.bytes(), device.length());
        let problem = format!("it takes {wanted} bytes and the device has {found}");
        return Err(damaged(device, problem));
    }
    let copies = [copy(device, &superblock, 0).await?, copy(device, &superblock, 1).await?];
    let newer = copies.into_iter().flatten().max_by_key(|directory| directory.sequence);
    let problem = "both copies of its directory are damaged".to_owned();
    Ok((superblock, newer.ok_or_else(|| damaged(device, problem))?))
}

/// One copy of the directory, if it is intact.
async fn copy(
    device: &Rc<dyn Device>,
    superblock: &Superblock,
    which: u64,
) -> Result<Option<Directory>, DeviceError> {
    let place = place_of(which);
    let first = bytes(device, place, ALIGNMENT as u64).await?;
    let Some(used) = Directory::used_bytes(&first) else {
        return Ok(None);
    };
    let whole = bytes(device, place, used.next_multiple_of(ALIGNMENT) as u64).await?;
    Ok(Directory::decode(&whole, &superblock.identity, superblock.units))
}

fn damaged(device: &Rc<dyn Device>, problem: String) -> DeviceError {
    DeviceError::VolumeDamaged { file: device.name().to_owned(), problem }
}

/// The refusal of a device that was not formatted, or the error of inspecting it.
async fn not_ours(device: &Rc<dyn Device>) -> DeviceError {
    match foreign(device).await {
        Ok(found) => DeviceError::NotAVolume {
            file: device.name().to_owned(),
            holds: found.unwrap_or("nothing").to_owned(),
        },
        Err(error) => error,
    }
}

/// The contents at both ends of a device that is not a volume; `None` if it is blank.
async fn foreign(device: &Rc<dyn Device>) -> Result<Option<&'static str>, DeviceError> {
    let length = device.length() - device.length() % u64::from(device.caps().sector);
    let first = bytes(device, 0, LOOK_BYTES.min(length)).await?;
    let last = bytes(device, last_from(device), LOOK_BYTES.min(length)).await?;
    Ok(signature::of(&first, &last))
}

/// Offset of the last bytes that are inspected.
fn last_from(device: &Rc<dyn Device>) -> u64 {
    let length = device.length() - device.length() % u64::from(device.caps().sector);
    length.saturating_sub(LOOK_BYTES)
}

fn zeros(length: u64) -> Buffer {
    Buffer::zeroed(usize::try_from(length).expect("invariant: at most 1 MiB"))
}

async fn bytes(device: &Rc<dyn Device>, from: u64, length: u64) -> Result<Buffer, DeviceError> {
    if length == 0 {
        return Ok(zeros(0));
    }
    let request = Request::read_into(Purpose::Header, from, {
        Buffer::zeroed(usize::try_from(length).expect("invariant: at most the directory"))
    });
    device.submit(request).await.into_buffer()
}

async fn write(device: &Rc<dyn Device>, to: u64, bytes: Buffer) -> Result<(), DeviceError> {
    let write = Request::write(Purpose::Header, to, bytes, Durability::Durable);
    device.submit(write).await.result
}
