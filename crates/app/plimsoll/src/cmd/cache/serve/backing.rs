//! The volumes behind the cache: opened, recognised, and wrapped.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use device::{Device, DeviceError, OpenMode};
use device_os::World;
use export::{DeviceTally, ExportedVolume, Tallied};
use flashcache::{Cached, FlashCache, PoolShare, StoreContents, volume_stamp};
use host::target::{RawDevice, RawTarget};
use plan::ServedVolume;

use crate::cmd::cache::flash;
use crate::error::CommandError;

/// A volume and everything that is known of it.
pub(super) struct BehindCache {
    /// What its document says; its bounds change when it is read again.
    pub wish: RefCell<ServedVolume>,
    /// Its name in the store: the device, not the export.
    pub key: String,
    /// The volume as clients see it.
    pub exported: Rc<ExportedVolume>,
    /// Requests of clients.
    pub front: Rc<RefCell<DeviceTally>>,
    /// Requests that reached the device.
    pub back: Rc<RefCell<DeviceTally>>,
    backing: Rc<dyn Device>,
    identity: BackingIdentity,
}

/// What became of the blocks of the last session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Warmth {
    /// There were none.
    New,
    /// They are used.
    Kept,
    /// Something else wrote to the volume: they were dropped.
    Changed,
}

/// Distinguishes a volume from another one at the same path.
struct BackingIdentity {
    path: Option<PathBuf>,
}

impl BackingIdentity {
    /// Changes with every change of a file that does not go through this process.
    fn mark(&self) -> u64 {
        let found = self.path.as_ref().and_then(|path| fs::metadata(path).ok());
        found.filter(fs::Metadata::is_file).map_or(0, |found| {
            let nanos = found.mtime().wrapping_mul(1_000_000_000).wrapping_add(found.mtime_nsec());
            nanos.cast_unsigned() ^ found.ino().rotate_left(32)
        })
    }

    /// The stamp of a volume in use. A device's node may belong to another disk after a restart of
    /// the machine, so that its blocks are dropped unless the last session ended cleanly.
    fn in_use(&self) -> u64 {
        let found = self.path.as_ref().and_then(|path| fs::metadata(path).ok().map(|f| (path, f)));
        let Some((path, found)) = found else {
            return 1;
        };
        if found.is_file() {
            return 1 | found.ino() << 1;
        }
        let is_named = path.starts_with("/dev/disk") || path.starts_with("/dev/mapper");
        if is_named || !found.file_type().is_block_device() {
            return 1;
        }
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        boot.bytes().fold(3, |sum: u64, byte| sum.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte))
    }
}

/// Opens the device of a volume, and the path that it has on this machine.
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
    /// Opens a volume behind `cache`, whose store held `contents` when it was opened.
    pub(super) fn open(
        wish: &ServedVolume,
        world: &World,
        cache: &FlashCache,
        contents: &StoreContents,
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
        let recorded = contents.volumes.iter().find(|volume| volume.name == key);
        let recorded = recorded.map(|volume| (volume.length, volume.stamp));
        let share = share(wish, contents.block_bytes);
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
        let front = Tallied::new(Rc::new(cached));
        let front_tally = front.tally();
        let exported = Rc::new(ExportedVolume::new(Rc::new(front)));
        let wish = RefCell::new(wish.clone());
        let (front, back) = (front_tally, back_tally);
        Ok((Self { wish, key, exported, front, back, backing, identity }, warmth))
    }

    /// Makes every write durable and records the state in which the volume is left.
    pub(super) async fn leave(&self, cache: &FlashCache) -> Result<(), DeviceError> {
        if !self.wish.borrow().is_read_only {
            self.exported.flush().await?;
        }
        let stamp = volume_stamp(&self.backing, self.identity.mark()).await?;
        cache.set_stamp(&self.key, stamp).await;
        Ok(())
    }
}

/// What becomes of the recorded blocks of a volume that has `length` bytes and one of `stamps`.
fn warmth(recorded: Option<(u64, u64)>, length: u64, stamps: [u64; 2]) -> Warmth {
    match recorded {
        None => Warmth::New,
        Some((before, stamp)) if before == length && stamps.contains(&stamp) => Warmth::Kept,
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
