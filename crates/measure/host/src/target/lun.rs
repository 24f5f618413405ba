//! LUNs of iSCSI targets as raw devices. Each is a connection of this program's own: no system
//! attaches it.

use std::rc::Rc;

use device::{Device, OpenMode};
use device_net::{IscsiAddress, Lun, connect_lun};
use device_os::World;
use device_os::probe::{
    BlockDevice, Caching, DiskFacts, DurableWrites, OwnCache, Transport, VolumeFacts,
};

use super::error::TargetError;
use super::login::initiator;

/// Replaces the kernel's statement on caches.
const OUT_OF_SIGHT: &str = "what a target does with requests cannot be seen from here";
/// Source of a logical unit's report on its write cache.
const CACHING_PAGE: &str = "SCSI mode page 08h";

/// Logs in to a logical unit, whatever is on it.
pub(super) fn open(
    address: &IscsiAddress,
    name: &str,
    world: &World,
    mode: OpenMode,
) -> Result<Rc<dyn Device>, TargetError> {
    Ok(connect_lun(
        address,
        name,
        &initiator(&address.portal, address.user.as_deref())?,
        mode,
        world.remote(),
    )?)
}

/// Logs in and identifies it.
pub(super) fn attach(address: &IscsiAddress, name: &str) -> Result<Lun, TargetError> {
    Ok(Lun::attach(address, name, &initiator(&address.portal, address.user.as_deref())?)?)
}

/// Facts about a logical unit called `name`, with `free_bytes` free.
pub(super) fn facts(name: &str, lun: &Lun, free_bytes: u64) -> VolumeFacts {
    VolumeFacts {
        mount_point: name.to_owned(),
        file_system: "none, LUN of an iSCSI target".to_owned(),
        source: name.to_owned(),
        options: "none".to_owned(),
        free_bytes,
        total_bytes: lun.capacity().bytes(),
        caching: Caching::Unknown(OUT_OF_SIGHT.to_owned()),
        disk: Some(disk(name, lun)),
        durable_writes: DurableWrites::Lun,
        kernel: "unknown: the target's own".to_owned(),
        allocation_unit_bytes: None,
        marks: Vec::new(),
        bitlocker: None,
        io_limits: Vec::new(),
        space_limits: Vec::new(),
    }
}

/// The logical unit as a device to be judged.
pub(super) fn device(name: &str, lun: &Lun) -> BlockDevice {
    BlockDevice {
        facts: DiskFacts { volatile_cache: None, ..disk(name, lun) },
        is_unattached: true,
        transport: Some(Transport::Iscsi),
        own_cache: match lun.caching().write_cache {
            Some(true) => OwnCache::On(CACHING_PAGE),
            Some(false) => OwnCache::Off(CACHING_PAGE),
            None => OwnCache::Untold("it has no mode page on caching".to_owned()),
        },
        ..BlockDevice::default()
    }
}

fn disk(name: &str, lun: &Lun) -> DiskFacts {
    let (identity, capacity) = (lun.identity(), lun.capacity());
    let model = format!("{} {} {}", identity.vendor, identity.product, identity.revision);
    DiskFacts {
        name: name.to_owned(),
        model: Some(model),
        logical_sector: capacity.block_bytes,
        physical_sector: capacity.physical_bytes,
        volatile_cache: lun.caching().write_cache,
        size_bytes: Some(capacity.bytes()),
        ..DiskFacts::default()
    }
}
