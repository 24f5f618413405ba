//! Creates an empty store on a device that is empty, or that may be overwritten.

use std::collections::BTreeMap;
use std::rc::Rc;

use device::{Boxed, Device, Purpose, Request};

use super::dirty_bits::{DirtyPage, PageBits};
use super::geometry::StoreGeometry;
use super::recover::StoreError;
use super::save::superblock_write;
use super::superblock::{CacheSuperblock, MAGIC};

/// Bytes at the beginning that must be zeros on a device that counts as empty.
const EMPTY_BYTES: usize = 1 << 20;

/// How a store is made.
#[derive(Clone, Copy, Debug)]
pub struct FormatOptions {
    /// Bytes of a block, a power of two from 4 KiB to 256 KiB.
    pub block_bytes: u32,
    /// Identifies this store uniquely; draw it at random. Groups of an earlier store with the same
    /// identity would be mistaken for its own.
    pub identity: [u8; 16],
    /// Format a device that contains data.
    pub force: bool,
}

/// Makes an empty store. Refuses a device that is not empty, unless `force` is set.
pub fn format(flash: &Rc<dyn Device>, options: FormatOptions) -> Boxed<'_, Result<(), StoreError>> {
    Box::pin(async move {
        let file = flash.name().to_owned();
        let geometry = StoreGeometry::of(flash.length(), options.block_bytes)
            .ok_or(StoreError::NoLayout { file: file.clone(), bytes: flash.length() })?;
        if !options.force {
            let read = Request::read(Purpose::Header, 0, EMPTY_BYTES);
            let begin = flash.submit(read).await.into_buffer().map_err(StoreError::Device)?;
            if begin.iter().any(|&byte| byte != 0) {
                let is_store = begin.first_chunk() == Some(MAGIC);
                return Err(StoreError::HoldsSomething { file, is_store });
            }
        }
        write_empty(flash, geometry, options.identity).await.map_err(StoreError::Device)
    })
}

async fn write_empty(
    flash: &Rc<dyn Device>,
    geometry: StoreGeometry,
    identity: [u8; 16],
) -> Result<(), device::DeviceError> {
    for page in 0..geometry.dirty_pages {
        for sequence in 1..=2 {
            let empty = DirtyPage { page, sequence, bits: PageBits::none() };
            let at = StoreGeometry::dirty_page_at(page, sequence % 2);
            let durable = device::Durability::Durable;
            let write = Request::write(Purpose::Header, at, empty.encode(&identity), durable);
            flash.submit(write).await.result?;
        }
    }
    for generation in 1..=2 {
        let superblock = CacheSuperblock {
            geometry,
            identity,
            generation,
            session: 0,
            checkpoint: None,
            clean: true,
            volumes: BTreeMap::new(),
        };
        flash.submit(superblock_write(&superblock)).await.result?;
    }
    Ok(())
}
