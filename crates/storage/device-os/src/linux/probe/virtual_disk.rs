//! Detects virtual disks, which report an arbitrary, meaningless rotation flag.

use std::path::Path;

/// Name prefixes of disks that are composed of something else.
const NAMES: [&str; 6] = ["vd", "xvd", "loop", "zram", "ram", "nbd"];

/// Substrings of the vendors and models of virtual disks.
const MODELS: [&str; 7] = ["QEMU", "VMware", "Virtual", "VBOX", "Msft", "PersistentDisk", "XEN"];

/// Whether the disk with this name and model is a virtual one.
fn is_virtual(name: &str, model: Option<&str>) -> bool {
    let mut numbers = NAMES.iter().filter_map(|prefix| name.strip_prefix(prefix));
    numbers.any(|number| number.starts_with(|c: char| c.is_ascii_alphanumeric()))
        || model.is_some_and(|model| MODELS.iter().any(|part| model.contains(part)))
}

/// Whether the disk in `folder` of `/sys/block`, or one of its components, is virtual.
pub(super) fn stands_on_virtual(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let model = super::model(&folder.join("device"));
    if is_virtual(&name, model.as_deref()) {
        return true;
    }
    let slaves = folder.join("slaves");
    super::names(&slaves).iter().any(|member| {
        let member = std::fs::canonicalize(slaves.join(member));
        member.is_ok_and(|member| stands_on_virtual(&super::whole_device(member)))
    })
}

#[cfg(test)]
mod tests {
    use super::is_virtual;

    #[test]
    fn virtual_disks_are_known_by_name_or_model() {
        for name in ["vda", "xvdb", "loop0", "zram0"] {
            assert!(is_virtual(name, None), "{name}");
        }
        assert!(is_virtual("sda", Some("VMware Virtual disk")));
        assert!(is_virtual("sda", Some("QEMU QEMU HARDDISK")));
        assert!(is_virtual("sda", Some("Msft Virtual Disk")));
        for (name, model) in [("sda", "SEAGATE ST4000"), ("nvme0n1", "Samsung 990"), ("dm-0", "")] {
            assert!(!is_virtual(name, Some(model)), "{name}");
        }
    }
}
