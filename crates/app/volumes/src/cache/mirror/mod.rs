//! Shared by the server of a mirrored volume and its operators: keys and subjects on the NATS
//! server, and their contents.

mod values;

use std::time::Duration;

use carrier::{Bucket, Carrier, CarrierError, KeyAnswer};
use plan::MirroredVolume;

pub(super) use values::{LeaseValue, VolumeValue, host_at};

/// Bucket of the volumes' configurations.
const VOLUMES: &str = "plimsoll-volumes";

/// Bucket of their leases, which expire on the server.
const LEASES: &str = "plimsoll-volume-leases";

/// Buckets of all volumes; each volume has a key in both.
pub(super) struct VolumeKeys {
    pub(super) volumes: Bucket,
    pub(super) leases: Bucket,
}

impl VolumeKeys {
    /// Opens the buckets; `lease` must be the same for all volumes of a server.
    pub(super) fn open(carrier: &Carrier, lease: Duration) -> Result<Self, CarrierError> {
        let volumes = carrier.bucket(VOLUMES, None)?;
        Ok(Self { volumes, leases: carrier.bucket(LEASES, Some(lease))? })
    }
}

/// Opens only the configurations, for readers that do not know the length of a lease.
pub(super) fn configurations(carrier: &Carrier) -> Result<Bucket, CarrierError> {
    carrier.bucket(VOLUMES, None)
}

/// The value of a volume; `None` if the server knows no such volume.
pub(super) fn volume_value(
    carrier: &Carrier,
    bucket: &Bucket,
    volume: &str,
) -> Result<Option<VolumeValue>, CarrierError> {
    Ok(match carrier.read_key(bucket, volume)? {
        KeyAnswer::Present { value, .. } => VolumeValue::decode(&value),
        KeyAnswer::Stored(_) | KeyAnswer::Absent => None,
    })
}

/// Subject of the peer's messages to the server of `volume` on `host`.
pub(super) fn messages(volume: &str, host: &str) -> String {
    format!("plimsoll.v1.mirror.{volume}.{host}.peer")
}

/// Subject of operators' orders to the server of `volume` on `host`.
pub(super) fn orders(volume: &str, host: &str) -> String {
    format!("plimsoll.v1.mirror.{volume}.{host}.order")
}

/// The part of a volume's document that both hosts must agree on.
pub(super) fn identity(document: &MirroredVolume) -> String {
    format!(
        "{} of {} and {}, {} bytes in blocks of {}, {}",
        document.volume,
        document.hosts[0],
        document.hosts[1],
        document.size.0,
        document.block.0,
        if document.device.is_some() { "with a device behind it" } else { "on flash alone" }
    )
}

/// The name of a volume's owner.
pub(super) fn owner(value: &VolumeValue) -> &str {
    &value.hosts[values::index(value.config.owner)]
}

/// Index of the owner in the list of a volume's hosts.
pub(super) const fn owner_index(config: &mirror::Config) -> usize {
    values::index(config.owner)
}
