use super::super::{CacheBackup, DiskCaches, Health, Output, WritePolicy};
use super::read;

fn output(text: &str) -> Output {
    read(text).unwrap().unwrap()
}

const OUTPUT: &str = "
Array Controller X1 in Slot 3 (Embedded)
   Slot: 3
   Cache Board Present: True
   Cache Status: OK
   Cache Ratio: 25% Read / 75% Write
   Drive Write Cache: Enabled
   Total Cache Size: 4.0 GB
   No-Battery Write Cache: Disabled
   Battery/Capacitor Count: 1
   Battery/Capacitor Status: Failed (Replace Batteries)

   Array: A
  Status: OK

  Logical Drive: 1
     Size: 2 TB
     Fault Tolerance: 1+0
     Strip Size: 128 KB
     Status: Interim Recovery Mode
     Caching:  Enabled
     Disk Name: /dev/sdc
     Mirror Group 0:
        physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS, 600 GB, OK)
     Mirror Group 1:
        physicaldrive 1I:1:2 (port 1I:box 1:bay 2, SAS, 600 GB, OK)
     LD Acceleration Method: Controller Cache

  Logical Drive: 2
     Fault Tolerance: 0
     Caching:  Disabled

  physicaldrive 1I:1:1
     Status: Failed
     Rotational Speed: 10000

Array Controller X2 in Slot 4
   Controller Mode: HBA
   Cache Board Present: False
";

#[test]
fn controllers_and_their_drives_are_told_apart() {
    assert!(read("nothing in Slots").is_none());
    let controllers = output(OUTPUT).controllers;
    let [first, second] = &controllers[..] else {
        panic!("{controllers:?}");
    };
    assert_eq!((first.id.as_deref().unwrap(), first.model.as_str()), ("3", "Array Controller X1"));
    assert_eq!(
        (first.read_percent.only(), first.cache_bytes.only()),
        (Some(&25), Some(&(4 << 30)))
    );
    let failed = CacheBackup::NotReady("Failed (Replace Batteries)".to_owned());
    assert_eq!(first.backup.only(), Some(&failed));
    assert_eq!(
        (first.disk_caches.only(), first.caches_without_backup.only()),
        (Some(&DiskCaches::On), Some(&false))
    );
    let [one, two] = &first.drives[..] else {
        panic!("{:?}", first.drives);
    };
    assert_eq!(
        (one.level.only().unwrap().as_str(), one.strip_bytes.only()),
        ("RAID 1+0", Some(&(128 << 10)))
    );
    assert_eq!(
        (one.writes.only(), one.disks.only(), one.disk_caches.only()),
        (Some(&WritePolicy::Back), Some(&2), Some(&DiskCaches::On))
    );
    assert_eq!(one.state.only(), Some(&Health::Bad("Interim Recovery Mode".to_owned())));
    assert_eq!(one.device.as_deref(), Some("/dev/sdc"));
    assert_eq!(
        (two.id.as_str(), two.writes.only(), two.state.only()),
        ("2", Some(&WritePolicy::Through), None)
    );
    assert_eq!(
        (second.id.as_deref().unwrap(), second.passes_disks_through.only()),
        ("4", Some(&true))
    );
    assert_eq!(second.backup.only(), Some(&CacheBackup::Absent));
}

/// HPE's tool prints the changed line if the capacitor is good but the cache is not.
#[test]
fn the_state_of_the_cache_is_apart_from_the_battery() {
    let text = OUTPUT.replace("Cache Status: OK", "Cache Status: Permanently Disabled");
    let first = &output(&text).controllers[0];
    assert_eq!(first.cache.only(), Some(&Health::Bad("Permanently Disabled".to_owned())));
    assert!(first.backup.only().is_some());
}

#[test]
fn wrapped_lines_are_one_detail_and_nothing_after_them_is_lost() {
    let wrapped = "Cache Status Details: The cache had data\nwhen it was reset.  \
                   No action\nis needed.\n   Cache Ratio";
    let output = output(&OUTPUT.replace("Cache Ratio", wrapped));
    let first = &output.controllers[0];
    let words = "The cache had data when it was reset.  No action is needed.";
    assert_eq!(first.cache_details, [words]);
    assert_eq!((first.read_percent.only(), &output.unread), (Some(&25), &Vec::new()));
}

const SHORT: &str = "
Array Controller X3 in Slot 5 (Embedded)  (sn: SV777)

   Array A (SAS, Unused Space: 0  MB)

      logicaldrive 1 (1.6 TB, RAID 5, OK)

      physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS HDD, 900 GB, OK)
      physicaldrive 1I:1:2 (port 1I:box 1:bay 2, SAS HDD, 900 GB, OK)
      physicaldrive 1I:1:3 (port 1I:box 1:bay 3, SAS HDD, 900 GB, OK)
      physicaldrive 1I:1:4 (port 1I:box 1:bay 4, SAS HDD, 900 GB, OK, spare)

   Array B (Failed)

      logicaldrive 2 (838.1 GB, RAID 0, Interim Recovery Mode)

      physicaldrive 1I:1:5 (port 1I:box 1:bay 5, SAS HDD, 900 GB, Failed)

   SEP (Vendor ID ACME, Model X) 380 (WWID: 5001, Port: Unknown)
";

#[test]
fn the_short_form_tells_states_levels_and_disks() {
    let output = output(SHORT);
    let controller = &output.controllers[0];
    assert_eq!(controller.serial.as_deref(), Some("SV777"));
    let [one, two] = &controller.drives[..] else {
        panic!("{:?}", controller.drives);
    };
    assert_eq!((one.disks.only(), one.state.only()), (Some(&3), Some(&Health::Ok)));
    assert_eq!(two.state.only(), Some(&Health::Bad("Interim Recovery Mode".to_owned())));
    assert_eq!(controller.arrays.only(), Some(&Health::Bad("Failed".to_owned())));
    let bad = |disk: &&super::super::PhysicalDisk| disk.state.only() != Some(&Health::Ok);
    assert_eq!(controller.disks.iter().filter(bad).count(), 1);
    assert_eq!(output.unread, []);
}

#[test]
fn a_row_that_is_missing_is_noticed_by_the_size() {
    let row = "      physicaldrive 1I:1:3 (port 1I:box 1:bay 3, SAS HDD, 900 GB, OK)\n";
    let controller = &output(&SHORT.replace(row, "")).controllers[0];
    assert_eq!(controller.drives[0].disks.only(), None);
}

#[test]
fn a_ratio_without_numbers_is_not_understood() {
    let text = OUTPUT.replace("25% Read / 75% Write", "25% Read / 7% Write");
    assert_eq!(output(&text).controllers[0].read_percent.only(), None);
}
