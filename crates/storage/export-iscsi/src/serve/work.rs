//! Carries out the work of commands on a volume.

use device::{Buffer, DeviceError};
use export::{ExportedVolume, NbdCommand, Performed, ReadBytes};

use crate::scsi::{ScsiWork, WorkError};

/// Maximum number of bytes that a fill holds in memory.
const FILL_BYTES: u64 = 4 << 20;

/// Memory that `work` occupies, in bytes.
pub(super) fn memory_of(work: &ScsiWork) -> u64 {
    match work {
        ScsiWork::Read { length, .. } => *length as u64,
        ScsiWork::Write { data, .. } => data.len() as u64,
        ScsiWork::Fill { length, .. } => (*length).min(FILL_BYTES),
        ScsiWork::CompareAndWrite { compare, .. } => 2 * compare.len() as u64,
        ScsiWork::Flush | ScsiWork::Unmap(_) | ScsiWork::Settle => 0,
    }
}

/// Performs `work`, which lies within the bytes of `volume`.
pub(super) async fn perform(
    volume: &ExportedVolume,
    work: ScsiWork,
) -> Result<Option<ReadBytes>, WorkError> {
    match work {
        ScsiWork::Read { offset, length } => {
            let read = volume.perform(NbdCommand::Read, (offset, length as u64), false).await;
            return match read {
                Ok(Performed::Bytes(bytes)) => Ok(Some(bytes)),
                _ => Err(WorkError::Read),
            };
        }
        ScsiWork::Write { offset, data, is_durable } => {
            let place = (offset, data.len() as u64);
            let write = NbdCommand::Write(Buffer::copy_of(&data));
            drop(volume.perform(write, place, is_durable).await.map_err(of_write)?);
        }
        ScsiWork::Flush => volume.flush().await.map_err(of_write)?,
        ScsiWork::Fill { offset, length, block } => fill(volume, (offset, length), &block).await?,
        ScsiWork::Unmap(ranges) => {
            for place in ranges.into_iter().filter(|(_, length)| *length > 0) {
                drop(volume.perform(NbdCommand::Trim, place, false).await.map_err(of_write)?);
            }
        }
        ScsiWork::CompareAndWrite { compare, .. } if compare.is_empty() => {}
        ScsiWork::CompareAndWrite { offset, compare, write } => {
            let differs = volume.compare_and_write(offset, &compare, &write).await;
            if let Some(place) = differs.map_err(of_write)? {
                return Err(WorkError::Differs(u32::try_from(place).unwrap_or(u32::MAX)));
            }
        }
        ScsiWork::Settle => volume.settle().await,
    }
    Ok(None)
}

async fn fill(
    volume: &ExportedVolume,
    (offset, length): (u64, u64),
    block: &[u8],
) -> Result<(), WorkError> {
    if block.iter().all(|byte| *byte == 0) {
        let zeros = volume.perform(NbdCommand::WriteZeroes, (offset, length), false).await;
        return zeros.map(drop).map_err(of_write);
    }
    volume.fill(offset..offset + length, block).await.map_err(of_write)
}

#[expect(clippy::needless_pass_by_value, reason = "the form of `map_err`")]
fn of_write(error: DeviceError) -> WorkError {
    match error {
        DeviceError::Full { .. } => WorkError::Full,
        _ => WorkError::Write,
    }
}
