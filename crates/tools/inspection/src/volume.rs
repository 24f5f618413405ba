//! Volumes and the devices below them, compared with the needs of mail stores. Sources: Microsoft's
//! page on storage options for Exchange, and the cost of flushes and partial writes on each kind of
//! device.

mod cache;
mod device;
mod file_system;
mod limits;

use device_os::probe::{BlockDevice, VolumeFacts};
use record::StorageFinding;

use crate::draft::FindingDraft;

/// A folder planned for databases or logs.
#[derive(Clone, Copy, Debug)]
pub struct StoragePlace<'a> {
    /// Name of the place in findings.
    pub name: &'a str,
    /// The volume that holds the folder.
    pub volume: &'a VolumeFacts,
    /// The devices below the volume, the mounted one first.
    pub devices: &'a [BlockDevice],
}

/// Findings on a place, good and bad.
fn of_place(place: &StoragePlace<'_>) -> Vec<StorageFinding> {
    let mut findings = file_system::findings(place);
    for device in place.devices {
        findings.extend(device::findings(device));
        findings.extend(cache::findings(device));
    }
    findings.extend(device::single_path(place.devices));
    findings
}

/// Findings on several places together. Anything they share is reported once.
pub fn together(places: &[StoragePlace<'_>]) -> Vec<StorageFinding> {
    let mut findings: Vec<StorageFinding> = Vec::new();
    for finding in places.iter().flat_map(of_place) {
        if !findings.contains(&finding) {
            findings.push(finding);
        }
    }
    findings.extend(sectors(places));
    findings
}

/// Copies of a database must not be on disks with different sector kinds. Which volumes hold copies
/// of one database is not known here.
fn sectors(places: &[StoragePlace<'_>]) -> Option<StorageFinding> {
    let devices = places.iter().filter_map(|place| place.devices.first());
    let mut kinds: Vec<(u32, u32)> =
        devices.map(|device| (device.facts.logical_sector, device.facts.physical_sector)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let names: Vec<String> =
        kinds.iter().map(|(logical, physical)| format!("{logical}/{physical}")).collect();
    let draft = FindingDraft::new(("sectors", "Logical and physical sectors"), "all volumes");
    match kinds.len() {
        0 => None,
        1 => Some(
            draft.pass(format!("{} bytes", names[0]), "all volumes have sectors of the same kind"),
        ),
        _ => Some(draft.warn(
            format!("{} bytes", names.join(" and ")),
            "copies of one database on disks of different kinds are not supported",
        )),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use device_os::probe::{
        BlockDevice, Caching, DiskFacts, DurableWrites, OwnCache, Transport, VolumeFacts,
    };
    use record::{StorageFinding, StorageRuling};

    use super::{StoragePlace, together};

    /// A good volume on ext4.
    pub(crate) fn volume() -> VolumeFacts {
        VolumeFacts {
            mount_point: "/mail".to_owned(),
            file_system: "ext4".to_owned(),
            source: "/dev/sda1".to_owned(),
            options: "rw,noatime,rw".to_owned(),
            free_bytes: 1 << 40,
            total_bytes: 2 << 40,
            caching: Caching::None,
            disk: None,
            durable_writes: DurableWrites::Flag,
            kernel: "6.1".to_owned(),
            allocation_unit_bytes: None,
            marks: Vec::new(),
            bitlocker: None,
            io_limits: Vec::new(),
            space_limits: Vec::new(),
        }
    }

    /// A good disk behind a controller.
    pub(crate) fn disk(name: &str) -> BlockDevice {
        BlockDevice {
            facts: DiskFacts {
                name: name.to_owned(),
                rotational: Some(true),
                logical_sector: 512,
                physical_sector: 4096,
                volatile_cache: Some(false),
                scheduler: Some("mq-deadline".to_owned()),
                queue_depth: Some(256),
                ..DiskFacts::default()
            },
            transport: Some(Transport::Sas),
            own_cache: OwnCache::Off("mode page"),
            misalignment_bytes: Some(0),
            ..BlockDevice::default()
        }
    }

    /// The finding of the check named `check`.
    pub(crate) fn found<'a>(findings: &'a [StorageFinding], check: &str) -> &'a StorageFinding {
        let of_check: Vec<_> = findings.iter().filter(|found| found.check == check).collect();
        assert_eq!(of_check.len(), 1, "{check}: {findings:#?}");
        of_check[0]
    }

    #[test]
    fn a_good_volume_passes_and_what_volumes_share_is_found_once() {
        let (volume, devices) = (volume(), [disk("sda")]);
        let place = StoragePlace { name: "/mail", volume: &volume, devices: &devices };
        let findings = together(&[place, place]);
        assert!(findings.iter().all(|found| found.outcome == StorageRuling::Pass), "{findings:#?}");
        assert!(findings.len() > 5);
        found(&findings, "write-cache");
    }

    #[test]
    fn sectors_of_two_kinds_do_not_go_together() {
        let (volume, one, mut two) = (volume(), [disk("sda")], [disk("sdb")]);
        two[0].facts.logical_sector = 4096;
        let places = [("/a", &one), ("/b", &two)].map(|(name, devices)| StoragePlace {
            name,
            volume: &volume,
            devices,
        });
        let findings = together(&places);
        let sectors = found(&findings, "sectors");
        assert_eq!(sectors.outcome, StorageRuling::Warn);
        assert_eq!(sectors.seen, "512/4096 and 4096/4096 bytes");
        assert!(together(&[]).is_empty());
    }
}
