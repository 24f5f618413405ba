//! The block devices below a file system, from the mounted one down to disks, each with the facts
//! that decide how it writes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use device::DeviceError;

use super::super::{errors, own_cache};
use super::{disk, folder_of, mount_of, names, number_in, read, whole_device};
use crate::probe::{BlockDevice, Makeup, OwnCache, Partition, SoftwareArray, Transport};

/// Maximum depth of devices to follow: more are a cycle.
const MOST_LAYERS: u32 = 8;

/// The devices under `path`, the mounted one first.
pub(crate) fn devices(path: &Path) -> Result<Vec<BlockDevice>, DeviceError> {
    let name = path.display().to_string();
    let wrong = |error: std::io::Error| errors::of(&error, &name, "probe", 0);
    let path = fs::canonicalize(path).map_err(wrong)?;
    let found = File::open(&path).and_then(|file| file.metadata()).map_err(wrong)?;
    let number = super::device_number(&found);
    let table = fs::read_to_string("/proc/self/mountinfo").map_err(wrong)?;
    let mount = mount_of(&table, &path).unwrap_or_default();
    let mut found = Vec::new();
    if let Some(folder) = folder_of(Path::new("/sys"), number, &mount.source) {
        collect(&folder, 0, &mut found);
    }
    for device in &mut found {
        let plain = device.makeup == Makeup::Plain;
        // The kernel writes `!` in names for a `/` in the node's path: cciss!c0d0.
        let node = Path::new("/dev").join(device.facts.name.replace('!', "/"));
        device.own_cache = if plain {
            own_cache::of(&node, device.transport == Some(Transport::Nvme))
        } else {
            OwnCache::Untold("it is made of other devices".to_owned())
        };
    }
    Ok(found)
}

/// The device in `folder`, a partition or a whole one, and its components.
pub(super) fn collect(folder: &Path, layer: u32, found: &mut Vec<BlockDevice>) {
    let whole = whole_device(folder.to_owned());
    let members: Vec<PathBuf> = names(&whole.join("slaves"))
        .iter()
        .filter_map(|member| fs::canonicalize(whole.join("slaves").join(member)).ok())
        .collect();
    let facts = disk(&whole);
    if layer >= MOST_LAYERS || found.iter().any(|known| known.facts.name == facts.name) {
        return;
    }
    let makeup = makeup(&whole, &members);
    found.push(BlockDevice {
        transport: transport(&whole).filter(|_| makeup == Makeup::Plain),
        misalignment_bytes: read(&folder.join("alignment_offset"))
            .and_then(|text| text.parse().ok()),
        partition: folder.join("partition").exists().then(|| partition(folder)),
        makeup,
        facts,
        own_cache: OwnCache::default(),
        ..BlockDevice::default()
    });
    for member in members {
        collect(&member, layer + 1, found);
    }
}

/// The kernel counts in 512-byte sectors here, regardless of the device's sector size.
fn partition(folder: &Path) -> Partition {
    let begin = read(&folder.join("start")).and_then(|text| text.parse::<u64>().ok());
    let number = read(&folder.join("dev"));
    Partition {
        begin_bytes: begin.unwrap_or(0) * 512,
        scheme: number.and_then(|number| scheme(Path::new("/run/udev/data"), &number)),
    }
}

/// Partition scheme according to udev's record of the partition with this device number.
fn scheme(database: &Path, number: &str) -> Option<String> {
    let noted = fs::read_to_string(database.join(format!("b{number}"))).ok()?;
    let mut lines = noted.lines();
    lines.find_map(|line| line.strip_prefix("E:ID_PART_ENTRY_SCHEME=")).map(str::to_owned)
}

fn makeup(folder: &Path, members: &[PathBuf]) -> Makeup {
    if folder.join("bcache").exists() {
        return Makeup::Cached;
    }
    if folder.join("md").exists() {
        return Makeup::Array(array(&folder.join("md")));
    }
    let kind = read(&folder.join("dm/uuid")).unwrap_or_default();
    let kind = kind.split('-').next().unwrap_or_default();
    match kind {
        "mpath" => {
            let states = members.iter().map(|path| read(&path.join("device/state")));
            let running =
                states.filter(|state| matches!(state.as_deref(), Some("running" | "live")));
            Makeup::Multipath {
                paths: u32::try_from(members.len()).unwrap_or(u32::MAX),
                running: u32::try_from(running.count()).unwrap_or(u32::MAX),
            }
        }
        "CRYPT" => Makeup::Encrypted,
        _ if !members.is_empty() || folder.join("dm").exists() => Makeup::Mapped,
        _ => Makeup::Plain,
    }
}

/// See the kernel's Documentation/admin-guide/md.rst. An array without redundancy does not count
/// lost disks.
fn array(folder: &Path) -> SoftwareArray {
    SoftwareArray {
        level: read(&folder.join("level")).unwrap_or_default(),
        // "4", or "4 (3)" while it is being reshaped.
        disks: read(&folder.join("raid_disks"))
            .and_then(|text| text.split(' ').next()?.parse().ok())
            .unwrap_or(0),
        missing: number_in(&folder.join("degraded")).unwrap_or(0),
        chunk_bytes: number_in(&folder.join("chunk_size")).filter(|&bytes| bytes > 0),
    }
}

/// A device's bus path is part of its location in the kernel's device tree.
fn transport(folder: &Path) -> Option<Transport> {
    let place = folder.to_string_lossy();
    if has_numbered(&place, "nvme") || place.contains("/nvme-subsystem/") {
        Some(Transport::Nvme)
    } else if has_numbered(&place, "session") {
        Some(Transport::Iscsi)
    } else if place.contains("/rport-") {
        Some(Transport::FibreChannel)
    } else if place.contains("/end_device-") || place.contains("/sas_") {
        Some(Transport::Sas)
    } else if has_numbered(&place, "ata") {
        Some(Transport::Ata)
    } else if has_numbered(&place, "usb") {
        Some(Transport::Usb)
    } else if has_numbered(&place, "virtio") {
        Some(Transport::Virtio)
    } else {
        None
    }
}

/// Whether a part of the path is `prefix` and a number.
fn has_numbered(place: &str, prefix: &str) -> bool {
    let mut rests = place.split('/').filter_map(|part| part.strip_prefix(prefix));
    rests.any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::super::tests::Scratch;
    use super::{collect, scheme, transport};
    use crate::probe::{Makeup, SoftwareArray, Transport};

    #[test]
    fn the_way_to_a_disk_is_read_from_its_place() {
        let of = |place: &str| transport(Path::new(place));
        let scsi = "target0:0:0/0:0:0:0/block/sda";
        for (place, way) in [
            ("pci0000:00/0000:00:1d.0/0000:01:00.0/nvme/nvme0/nvme0n1", Some(Transport::Nvme)),
            ("platform/host3/session1/target3:0:0/3:0:0:1/block/sdb", Some(Transport::Iscsi)),
            ("pci0/host7/rport-7:0-2/target7:0:0/7:0:0:0/block/sdc", Some(Transport::FibreChannel)),
            ("pci0/host0/port-0:0/end_device-0:0/target0:0:0/block/sdd", Some(Transport::Sas)),
            ("pci0/0000:00:1f.2/ata1/host0/target0:0:0/block/sde", Some(Transport::Ata)),
            ("pci0/usb2/2-1/host6/target6:0:0/block/sdf", Some(Transport::Usb)),
            ("pci0/virtio1/block/vda", Some(Transport::Virtio)),
            (&format!("pci0/host0/{scsi}"), None),
        ] {
            assert_eq!(of(&format!("/sys/devices/{place}")), way, "{place}");
        }
    }

    #[test]
    fn devices_are_followed_down_to_disks() {
        let scratch = Scratch::named("stack");
        scratch.put("dm-0/dm/uuid", "LVM-abc\n");
        scratch.put("md0/md/level", "raid5\n");
        scratch.put("md0/md/raid_disks", "3 (2)\n");
        scratch.put("md0/md/degraded", "1\n");
        scratch.put("md0/md/chunk_size", "524288\n");
        for disk in ["sda", "sdb"] {
            scratch.put(&format!("{disk}/{disk}1/partition"), "1\n");
            scratch.put(&format!("{disk}/{disk}1/start"), "2048\n");
            scratch.put(&format!("{disk}/{disk}1/alignment_offset"), "0\n");
            std::fs::create_dir_all(scratch.0.join("md0/slaves")).unwrap();
            let target = scratch.0.join(format!("{disk}/{disk}1"));
            symlink(target, scratch.0.join(format!("md0/slaves/{disk}1"))).unwrap();
        }
        std::fs::create_dir_all(scratch.0.join("dm-0/slaves")).unwrap();
        symlink(scratch.0.join("md0"), scratch.0.join("dm-0/slaves/md0")).unwrap();
        let mut found = Vec::new();
        collect(&scratch.0.join("dm-0"), 0, &mut found);
        let names: Vec<&str> = found.iter().map(|device| device.facts.name.as_str()).collect();
        assert_eq!(names, ["dm-0", "md0", "sda", "sdb"]);
        assert_eq!(found[0].makeup, Makeup::Mapped);
        let level = "raid5".to_owned();
        let array = SoftwareArray { level, disks: 3, missing: 1, chunk_bytes: Some(512 << 10) };
        assert_eq!(found[1].makeup, Makeup::Array(array));
        let partition = found[3].partition.clone().unwrap();
        assert_eq!((partition.begin_bytes, found[3].misalignment_bytes), (1 << 20, Some(0)));
    }

    #[test]
    fn paths_and_encryption_are_told_by_the_mapper() {
        let scratch = Scratch::named("mapper");
        scratch.put("dm-1/dm/uuid", "mpath-3600\n");
        for (disk, state) in [("sda", "running"), ("sdb", "offline")] {
            scratch.put(&format!("dm-1/slaves/{disk}/device/state"), state);
        }
        scratch.put("dm-2/dm/uuid", "CRYPT-LUKS2-x\n");
        let makeup = |name: &str| {
            let mut found = Vec::new();
            collect(&scratch.0.join(name), 0, &mut found);
            found[0].makeup.clone()
        };
        assert_eq!(makeup("dm-1"), Makeup::Multipath { paths: 2, running: 1 });
        assert_eq!(makeup("dm-2"), Makeup::Encrypted);
    }

    #[test]
    fn the_kind_of_partition_table_is_what_udev_noted() {
        let scratch = Scratch::named("udev");
        scratch.put("b8:1", "S:disk/by-id/x\nE:ID_PART_ENTRY_SCHEME=gpt\nE:ID_FS_TYPE=xfs\n");
        assert_eq!(scheme(&scratch.0, "8:1").as_deref(), Some("gpt"));
        assert_eq!(scheme(&scratch.0, "8:2"), None);
    }
}
