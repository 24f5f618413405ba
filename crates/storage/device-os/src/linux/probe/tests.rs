use std::fs;
use std::path::{Path, PathBuf};

use super::{Mount, chosen, disk, mount_of, whole_device};

const TABLE: &str = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
30 22 8:1 / /srv/mail\\040store rw,noatime - xfs /dev/sda1 rw,attr2
31 22 0:40 / /srv/mail\\040store/logs rw - nfs server:/logs rw,vers=4.2
nonsense
";

#[test]
fn the_longest_mount_point_above_the_path_holds_it() {
    let mount = mount_of(TABLE, Path::new("/srv/mail store/db1")).unwrap();
    assert_eq!(
        mount,
        Mount {
            point: "/srv/mail store".into(),
            file_system: "xfs".into(),
            source: "/dev/sda1".into(),
            options: "rw,noatime,attr2".into(),
        }
    );
    let of = |path: &str| mount_of(TABLE, Path::new(path)).unwrap().source;
    assert_eq!(of("/srv/mail store/logs"), "server:/logs");
    assert_eq!(of("/srv/mail storeroom"), "/dev/vda", "names are not prefixes");
}

/// A folder for the test, removed when dropped.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    pub(super) fn named(name: &str) -> Self {
        let name = format!("plimsoll-probe-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn put(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_disk_is_described_by_its_own_folder() {
    let scratch = Scratch::named("disk");
    scratch.put("sdq/size", "2048\n");
    scratch.put("sdq/device/vendor", "SEAGATE \n");
    scratch.put("sdq/device/model", "ST4000\n");
    scratch.put("sdq/queue/rotational", "1\n");
    scratch.put("sdq/queue/logical_block_size", "512\n");
    scratch.put("sdq/queue/physical_block_size", "4096\n");
    scratch.put("sdq/queue/write_cache", "write through\n");
    scratch.put("sdq/queue/scheduler", "none [mq-deadline] bfq\n");
    scratch.put("sdq/slaves/sdb/size", "1");
    scratch.put("sdq/sdq1/partition", "1\n");
    let folder = whole_device(scratch.0.join("sdq/sdq1"));
    let facts = disk(&folder);
    assert_eq!((facts.name.as_str(), facts.size_bytes), ("sdq", Some(1 << 20)));
    assert_eq!(facts.model.as_deref(), Some("SEAGATE ST4000"));
    assert_eq!((facts.logical_sector, facts.physical_sector), (512, 4_096));
    assert_eq!((facts.rotational, facts.volatile_cache), (Some(true), Some(false)));
    assert_eq!(facts.scheduler.as_deref(), Some("mq-deadline"));
    assert_eq!((facts.queue_depth, facts.members), (None, vec!["sdb".to_owned()]));
}

#[test]
fn the_scheduler_in_use_stands_in_brackets() {
    assert_eq!(chosen("none [mq-deadline] kyber"), "mq-deadline");
    assert_eq!(chosen("none"), "none");
}

#[test]
fn the_folder_of_this_test_has_a_file_system() {
    let facts = super::facts(Path::new(".")).unwrap();
    assert!(!facts.file_system.is_empty());
    assert!(facts.total_bytes >= facts.free_bytes && facts.free_bytes > 0);
    assert!(super::facts(Path::new("/no/such/folder")).is_err());
}
