//! The volumes behind the cache: opened, recognised, and wrapped.

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use device::{Device, DeviceError, OpenMode};
use device_os::World;
use export::{DeviceTally, ExportedVolume, Tallied};
use flashcache::{Cached, FlashCache, PoolShare, StoredVolume, volume_stamp};
use host::target::{RawDevice, RawTarget};
use plan::ServedVolume;

use super::identity::{BackingIdentity, left_by_kill};
use super::storage::StorageBehind;
use crate::cache::flash;
use console::error::CommandError;

/// A volume and all its known properties.
pub(super) struct BehindCache {
    /// Its settings in the document; a reload changes its bounds.
    pub wish: RefCell<ServedVolume>,
    /// Its name in the store: the device, not the export.
    pub key: String,
    /// The volume as clients see it.
    pub exported: Rc<ExportedVolume>,
    /// Requests of clients.
    pub front: Rc<RefCell<DeviceTally>>,
    /// Requests that reached the device.
    pub back: Rc<RefCell<DeviceTally>>,
    /// The volume behind the cache, with its counters.
    pub(crate) cached: Cached,
    backing: Rc<dyn Device>,
    identity: BackingIdentity,
    /// The stamp last recorded for it in the store.
    noted: Cell<u64>,
}

/// Fate of the blocks cached in the last session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Warmth {
    /// There were none.
    New,
    /// They are used.
    Kept,
    /// Dropped, because another program wrote to the volume.
    Changed,
}

/// Opens the device of a volume, and returns its path on this machine.
fn open(
    wish: &ServedVolume,
    world: &World,
) -> Result<(Rc<dyn Device>, BackingIdentity), CommandError> {
    let mode = if wish.is_read_only { OpenMode::ReadOnly } else { OpenMode::ReadWrite };
    let path = match RawTarget::of(Path::new(&wish.device)) {
        None => PathBuf::from(&wish.device),
        Some(target) if !target.inside.is_empty() => {
            return Err(CommandError::new(format!(
                "{}: is a path on {}; name the device as a whole",
                wish.device, target.name
            )));
        }
        Some(RawTarget { device: RawDevice::Local(path), .. }) => path,
        Some(target) => return Ok((target.connect(world, mode)?, BackingIdentity { path: None })),
    };
    let device = flash::open_local(&path, &wish.device, (world, mode), flash::AFTER_A_KILL)?;
    Ok((device, BackingIdentity { path: Some(path) }))
}

/// Bounds of a volume in blocks.
pub(super) fn share(wish: &ServedVolume, block_bytes: u32) -> PoolShare {
    let [least, most] =
        [wish.least, wish.most].map(|bound| Some(bound?.0 / u64::from(block_bytes)));
    PoolShare { least: least.unwrap_or(0), most: most.unwrap_or(u64::MAX) }
}

impl BehindCache {
    /// Opens a volume behind `cache`, given the volumes `stored` by the last session.
    pub(super) fn open(
        wish: &ServedVolume,
        world: &World,
        cache: &FlashCache,
        stored: &[StoredVolume],
    ) -> Result<(Self, Warmth), CommandError> {
        let (device, identity) = open(wish, world)?;
        let key = match &identity.path {
            Some(path) => fs::canonicalize(path).unwrap_or(path.clone()).display().to_string(),
            None => wish.device.clone(),
        };
        let back = Tallied::new(device);
        let back_tally = back.tally();
        let backing: Rc<dyn Device> = Rc::new(back);
        let (in_use, mark) = (identity.in_use(), identity.mark());
        let recorded = stored.iter().find(|volume| volume.name == key);
        let recorded = recorded.map(|volume| (volume.length, volume.stamp));
        let share = share(wish, cache.store().block_bytes());
        let (cache, inner, name) = (cache.clone(), Rc::clone(&backing), key.clone());
        let attaching = async move {
            let now = volume_stamp(&inner, mark).await?;
            let warmth = warmth(recorded, inner.length(), [in_use, now]);
            let stamp = match recorded {
                Some((_, stamp)) if warmth == Warmth::Kept => stamp,
                _ => in_use,
            };
            if warmth == Warmth::Changed {
                cache.forget(&name).await;
            }
            let cached = Cached::new(&cache, inner, (&name, stamp), share).await;
            cache.set_stamp(&name, in_use).await;
            Ok::<_, DeviceError>((cached, warmth))
        };
        let (cached, warmth) = world.executor().block_on(attaching)?;
        let file = match &identity.path {
            Some(path) => Some(world.sparse_file(path, !wish.is_read_only)?),
            None => None,
        };
        let storage = StorageBehind { cached: cached.clone(), file };
        let front = Tallied::new(Rc::new(cached.clone()));
        let front_tally = front.tally();
        let exported = Rc::new(ExportedVolume::new(Rc::new(front)).on(Rc::new(storage)));
        let wish = RefCell::new(wish.clone());
        let (front, back, noted) = (front_tally, back_tally, Cell::new(in_use));
        let own = Self { wish, key, exported, front, back, cached, backing, identity, noted };
        Ok((own, warmth))
    }

    /// Records in the store that the volume was changed, if it was. After a kill, a later change
    /// counts as another program's.
    pub(super) async fn note_change(&self, cache: &FlashCache) {
        let in_use = self.identity.in_use();
        if self.noted.replace(in_use) != in_use {
            cache.set_stamp(&self.key, in_use).await;
        }
    }

    /// Makes every write durable and records the volume's final state.
    pub(super) async fn leave(&self, cache: &FlashCache) -> Result<(), DeviceError> {
        if !self.wish.borrow().is_read_only {
            self.exported.flush().await?;
        }
        let stamp = volume_stamp(&self.backing, self.identity.mark()).await?;
        cache.set_stamp(&self.key, stamp).await;
        Ok(())
    }
}

/// Decides the fate of the recorded blocks of a volume of `length` bytes. The recorded stamp is
/// near `in_use` if the last session was killed, and equal to `now` if it ended cleanly.
fn warmth(recorded: Option<(u64, u64)>, length: u64, [in_use, now]: [u64; 2]) -> Warmth {
    match recorded {
        None => Warmth::New,
        Some((before, stamp))
            if before == length && (stamp == now || left_by_kill(stamp, in_use)) =>
        {
            Warmth::Kept
        }
        Some(_) => Warmth::Changed,
    }
}

#[cfg(test)]
mod tests {
    use super::{Warmth, warmth};

    #[test]
    fn blocks_are_kept_only_of_a_volume_that_nothing_else_changed() {
        for (recorded, expected) in [
            (None, Warmth::New),
            (Some((100, 1)), Warmth::Kept),
            (Some((100, 77)), Warmth::Kept),
            (Some((100, 78)), Warmth::Changed),
            (Some((101, 77)), Warmth::Changed),
        ] {
            assert_eq!(warmth(recorded, 100, [1, 77]), expected);
        }
    }
}
