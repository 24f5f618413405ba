use super::super::{CacheBackup, Controller, DiskCaches, Health, WritePolicy};
use super::read;

fn controller(text: &str) -> Controller {
    read(text).unwrap().unwrap().controllers.remove(0)
}

const OUTPUT: &str = "
Controllers found: 1
----------------------------------------------------------------------
Controller information
----------------------------------------------------------------------
   Controller Status                        : Optimal
   Controller Model                         : Model 71605
   Installed memory                         : 1024 MB
   --------------------------------------------------------
   Controller ZMM Information
   --------------------------------------------------------
   Status                                   : ZMM Optimal

----------------------------------------------------------------------
Logical device information
----------------------------------------------------------------------
Logical device number 0
   RAID level                               : 10
   Status of logical device                 : Degraded
   Stripe-unit size                         : 64 KB
   Read-cache mode                          : Disabled
   Write-cache mode                         : Enabled (write-back)
   Write-cache setting                      : Enabled (write-back) when protected by battery/ZMM
   --------------------------------------------------------
   Logical device segment information
   --------------------------------------------------------
   Group 0, Segment 0                       : Present (0,0) A
   Group 0, Segment 1                       : Present (0,1) B
Logical Device number 1
   RAID level                               : 0
   Write-cache mode                         : Enabled (write-back)
   Write-cache setting                      : Enabled (write-back)

----------------------------------------------------------------------
Physical Device information
----------------------------------------------------------------------
  Device #0
     Device is a Hard drive
     Write Cache                        : Enabled (write-back)
  Device #1
     Write Cache                        : Disabled (write-through)
";

#[test]
fn policies_in_force_and_disks_are_read() {
    let controller = controller(OUTPUT);
    assert_eq!(controller.id.as_deref(), Some("1"));
    assert_eq!(
        (controller.model.as_str(), controller.backup.only()),
        ("Model 71605", Some(&CacheBackup::Ready))
    );
    assert_eq!(controller.cache_bytes.only(), Some(&(1 << 30)));
    let [first, second] = &controller.drives[..] else {
        panic!("{:?}", controller.drives);
    };
    assert_eq!(
        (first.level.only().unwrap().as_str(), first.strip_bytes.only()),
        ("RAID 10", Some(&(64 << 10)))
    );
    assert_eq!(
        (first.writes.only(), first.reads_ahead.only()),
        (Some(&WritePolicy::Back), Some(&false))
    );
    assert_eq!((first.disks.only(), first.state.told().len()), (Some(&2), 1));
    assert_eq!((second.id.as_str(), second.writes.only()), ("1", Some(&WritePolicy::BackAlways)));
    let caches: Vec<_> = controller.disks.iter().map(|disk| disk.cache.only()).collect();
    assert_eq!(caches, [Some(&DiskCaches::On), Some(&DiskCaches::Off)]);
}

/// Output format of releases from 7.9 on.
const LATER: &str = "
Controller information
   Controller Model     : Model 8805
   ----
   Controller Cache Backup Unit Information
   ----

Overall Backup Unit Status : BACKUP

     Supercap Status : Ready
   Connector information
Logical device information
Logical Device number 0
   RAID level : 10
   Write-cache setting : SETTING
   Write-cache status : On
   Logical Device segment information
   Group 0, Segment 0 : Present (A)
Physical Device information
  Device #0
     Write Cache : Disabled
  Device Phy Information
     Phy #0
  Device #1
     Write Cache : Enabled (write-back)
";

#[test]
fn later_releases_are_read_too() {
    let told = |backup: &str, setting: &str| {
        controller(&LATER.replace("BACKUP", backup).replace("SETTING", setting))
    };
    let protected = "On when protected by battery/ZMM";
    let ready = told("Ready", protected);
    assert_eq!(ready.backup.only(), Some(&CacheBackup::Ready));
    assert_eq!(ready.drives[0].writes.only(), Some(&WritePolicy::Back));
    assert_eq!(ready.drives[0].disks.only(), Some(&1));
    let caches: Vec<_> = ready.disks.iter().map(|disk| disk.cache.only()).collect();
    assert_eq!(caches, [Some(&DiskCaches::Off), Some(&DiskCaches::On)]);
    let always = told("Ready", "On").drives[0].writes.only().copied();
    assert_eq!(always, Some(WritePolicy::BackAlways));
    let not_ready = CacheBackup::NotReady("Not Ready".to_owned());
    assert_eq!(told("Not Ready", protected).backup.only(), Some(&not_ready));
    assert_eq!(told("Not Present", protected).backup.only(), Some(&CacheBackup::Absent));
}

#[test]
fn headings_in_capitals_are_headings() {
    let capitals: String = OUTPUT
        .lines()
        .map(|line| {
            let is_heading = line.to_ascii_lowercase().ends_with("information");
            if is_heading { line.to_ascii_uppercase() + "\n" } else { line.to_owned() + "\n" }
        })
        .collect();
    assert_eq!(controller(&capitals), controller(OUTPUT));
}

/// Only the command `getconfig 2` in front gives the number; its output does not.
#[test]
fn the_number_of_a_controller_is_not_made_up() {
    let two = OUTPUT.replace("Controllers found: 1", "Controllers found: 2");
    assert_eq!(controller(&two).id, None);
    let asked = format!("C:\\tools> arcconf getconfig 2\n{two}");
    assert_eq!(controller(&asked).id.as_deref(), Some("2"));
    assert_eq!(controller(&OUTPUT.replace("Controllers found: 1", "")).id, None);
}

const SMART: &str = "
Controllers found: 1
Controller information
   Controller Status : Optimal
   Controller Mode : Mixed
   Controller Model : Smart 3000-8i
   --------------------------------------------------------
   Cache Properties
   --------------------------------------------------------
   Cache Status : Ok
   Cache memory : 2048 MB
   Read Cache Percentage : 25 percent
   Write Cache Percentage : 75 percent
   No-Battery Write Cache : Enabled
   --------------------------------------------------------
   Green Backup Information
   --------------------------------------------------------
   Backup Power Status : Charging
Logical device information
Logical Device number 3
   RAID level : 5
   Status of Logical Device : Interim Recovery Mode
   Strip-unit size : 128 KB
   Caching : Enabled
   --------------------------------------------------------
   Array Physical Device Information
   --------------------------------------------------------
   Device 0 : Present (900185MB, SAS, HDD, Connector:0) S1
   Device 1 : Missing
";

#[test]
fn the_current_generation_is_read() {
    let controller = controller(SMART);
    let charging = CacheBackup::NotReady("Charging".to_owned());
    assert_eq!(controller.backup.only(), Some(&charging));
    assert_eq!(
        (controller.read_percent.only(), controller.cache.only()),
        (Some(&25), Some(&Health::Ok))
    );
    assert_eq!(controller.caches_without_backup.only(), Some(&true));
    let drive = &controller.drives[0];
    assert_eq!((drive.id.as_str(), drive.disks.only()), ("3", Some(&2)));
    assert_eq!((drive.writes.only(), controller.tells_cache), (Some(&WritePolicy::Back), true));
    assert!(drive.state.told().contains(&Health::Bad("Interim Recovery Mode".to_owned())));
}

#[test]
fn the_oldest_spelling_says_drive() {
    let old = OUTPUT
        .replace("Logical device information", "Logical drive information")
        .replace("Logical device number", "Logical drive number")
        .replace(
            "Status of logical device                 : Degraded",
            "Status of logical drive : Offline",
        )
        .replace("ZMM Optimal", "Okay");
    let controller = controller(&old);
    assert_eq!(controller.drives[0].state.told()[0], Health::Bad("Offline".to_owned()));
    assert_eq!(controller.backup.only(), Some(&CacheBackup::Ready));
}
