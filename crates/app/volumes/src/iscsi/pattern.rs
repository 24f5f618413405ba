//! A pattern on a blank LUN: it must be read back intact, and is removed again.

use std::rc::Rc;

use device::block::{self, BlockContent};
use device::{Buffer, Device, DeviceError, Durability, OpenMode, Purpose, Request};
use device_net::{IscsiAddress, IscsiInitiator, connect_lun};
use host::target::TargetError;
use host::wire;
use inspection::lun::LunPattern;
use units::{Prng, Seed};

use console::error::CommandError;

/// Bytes of the pattern, at the end of the LUN, which is unused when a file system is new.
const PATTERN_BYTES: usize = 64 << 10;

/// Writes, reads and removes the pattern if the LUN is blank.
pub(super) fn written(
    address: &IscsiAddress,
    name: &str,
    initiator: &IscsiInitiator,
) -> Result<LunPattern, CommandError> {
    let world = wire::world()?;
    let device = connect_lun(address, name, initiator, OpenMode::ReadWrite, world.remote())
        .map_err(TargetError::from)?;
    let outcome = world.executor().block_on(async move { tried(&device).await });
    Ok(outcome.unwrap_or_else(|error| LunPattern::Lost(error.to_string())))
}

async fn tried(device: &Rc<dyn Device>) -> Result<LunPattern, DeviceError> {
    let offset = device.length().saturating_sub(PATTERN_BYTES as u64);
    let is_blank = block::content(device).await? == BlockContent::Blank
        && read(device, offset).await?.iter().all(|&byte| byte == 0);
    if !is_blank {
        return Ok(LunPattern::NotBlank);
    }
    let mut pattern = Buffer::zeroed(PATTERN_BYTES);
    Prng::new(Seed(offset)).fill(&mut pattern);
    write(device, offset, Buffer::copy_of(&pattern)).await?;
    let is_kept = read(device, offset).await?[..] == pattern[..];
    write(device, offset, Buffer::zeroed(PATTERN_BYTES)).await?;
    Ok(if is_kept {
        LunPattern::Kept
    } else {
        LunPattern::Lost("other bytes came back".to_owned())
    })
}

async fn read(device: &Rc<dyn Device>, offset: u64) -> Result<Buffer, DeviceError> {
    let done = device.submit(Request::read(Purpose::Checksum, offset, PATTERN_BYTES)).await;
    done.result?;
    Ok(done.buffer.expect("invariant: a device gives the buffer of a read back"))
}

async fn write(device: &Rc<dyn Device>, offset: u64, bytes: Buffer) -> Result<(), DeviceError> {
    let request = Request::write(Purpose::Header, offset, bytes, Durability::Durable);
    device.submit(request).await.result
}
