//! `cache remove`: removes a volume's blocks, or the whole store, from the flash. The volumes
//! themselves already contain every write and are not touched.

use std::rc::Rc;
use std::time::Duration;

use device::{Buffer, Device, DeviceError, Durability, OpenMode, Purpose, Request};
use flashcache::{CacheStore, ExamineDepth, FlashCache, examine};
use host::wire;

use super::flags::CacheRemoveFlags;
use super::flash;
use console::Console;
use console::Outcome;
use console::error::CommandError;

/// Leading bytes that identify the flash as a store: they include both superblocks.
const STORE_BYTES: usize = 1 << 20;

/// Removes the parts that the flags name.
pub(super) fn run(
    flags: &CacheRemoveFlags,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let world = wire::world()?;
    let device = flash::open(&flags.flash, &world, OpenMode::ReadWrite, Duration::ZERO)?;
    let name = flags.flash.display();
    let runtime = world.executor().runtime();
    let (asked, examined) = (Rc::clone(&device), runtime.clone());
    let examining = async move { examine(asked, &examined, ExamineDepth::Index).await };
    let known: Vec<String> = world
        .executor()
        .block_on(examining)?
        .volumes
        .into_iter()
        .map(|volume| volume.name)
        .collect();
    if flags.all {
        world.executor().block_on(async move { erase(&device).await })?;
        console.answer(format_args!("{name}: holds no cache any more"))?;
        return Ok(Outcome::Pass);
    }
    for volume in &flags.volume {
        if !known.contains(volume) {
            return Err(CommandError::new(format!(
                "{name}: holds no volume {volume}; it holds {}",
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            )));
        }
    }
    let volumes = flags.volume.clone();
    let removing = async move {
        let (store, _) = CacheStore::open(device, &runtime).await?;
        let cache = FlashCache::new(store, None);
        for volume in &volumes {
            cache.forget(volume).await;
        }
        Ok::<_, CommandError>(cache.store().close().await?)
    };
    world.executor().block_on(removing)?;
    for volume in &flags.volume {
        console.answer(format_args!("{name}: holds nothing of {volume} any more"))?;
    }
    Ok(Outcome::Pass)
}

/// Overwrites the bytes that identify the flash as a store.
async fn erase(flash: &Rc<dyn Device>) -> Result<(), DeviceError> {
    let zeros = Buffer::zeroed(STORE_BYTES);
    let write = Request::write(Purpose::Header, 0, zeros, Durability::Durable);
    flash.submit(write).await.result
}
