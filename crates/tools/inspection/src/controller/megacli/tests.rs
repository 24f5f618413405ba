use super::super::{CacheBackup, Controller, DiskCaches, Health, WritePolicy};
use super::read;

fn controller(text: &str) -> Controller {
    read(text).unwrap().unwrap().controllers.remove(0)
}

const DRIVES: &str = "
Adapter 0 -- Virtual Drive Information:
Virtual Drive: 0 (Target Id: 0)
Name                :Mail
RAID Level          : Primary-1, Secondary-0, RAID Level Qualifier-0
Size                : 3.637 TB
State               : Optimal
Strip Size          : 256 KB
Number Of Drives per span:2
Span Depth          : 2
Default Cache Policy: WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU
Current Cache Policy: WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU
Disk Cache Policy   : Disabled

Exit Code: 0x00
";

const BATTERY: &str = "
BBU status for Adapter: 0

BatteryType: iBBU
Voltage: 4028 mV
Battery State: Optimal
BBU Firmware Status:
  Charging Status              : None
  Learn Cycle Active                      : No
  Battery Pack Missing                    : No
  Battery Replacement required            : No
  Remaining Capacity Low                  : No

Exit Code: 0x00
";

#[test]
fn drives_are_read_with_their_policies() {
    let output = read(DRIVES).unwrap().unwrap();
    let drive = &output.controllers[0].drives[0];
    assert_eq!((drive.level.only().unwrap().as_str(), drive.disks.only()), ("RAID10", Some(&4)));
    assert_eq!(
        (drive.writes.only(), drive.reads_ahead.only()),
        (Some(&WritePolicy::Back), Some(&false))
    );
    assert_eq!(
        (drive.disk_caches.only(), drive.state.only()),
        (Some(&DiskCaches::Off), Some(&Health::Ok))
    );
    assert_eq!((output.unread.len(), &output.controllers[0].gaps), (0, &Vec::new()));
}

#[test]
fn a_fallen_back_drive_and_one_that_ignores_its_battery_are_told() {
    let fallen =
        DRIVES.replace("Current Cache Policy: WriteBack", "Current Cache Policy: WriteThrough");
    let drive = &controller(&fallen).drives[0];
    assert_eq!(drive.writes.only(), Some(&WritePolicy::Through));
    assert_eq!(drive.writes_set.only(), Some(&WritePolicy::Back));
    let always = DRIVES.replace("No Write Cache if Bad BBU", "Write Cache OK if Bad BBU");
    assert_eq!(controller(&always).drives[0].writes.only(), Some(&WritePolicy::BackAlways));
}

#[test]
fn a_battery_is_of_the_adapter_in_its_headline() {
    let both = controller(&format!("{DRIVES}{BATTERY}"));
    assert_eq!(both.backup.only(), Some(&CacheBackup::Ready));
    assert_eq!(both.drives.len(), 1);
    let learning =
        BATTERY.replace("Learn Cycle Active                      : No", "Learn Cycle Active : Yes");
    assert_eq!(controller(&learning).backup.told().len(), 2);
    let other = format!("{DRIVES}{}", BATTERY.replace("Adapter: 0", "Adapter: 1"));
    assert_eq!(read(&other).unwrap().unwrap().controllers.len(), 2);
    let none = "Adapter 0: Get BBU Status Failed.\nFW error description:\n  \
                The required hardware is not present.\n\nExit Code: 0x22\n";
    assert_eq!(controller(none).backup.only(), Some(&CacheBackup::Absent));
}

#[test]
fn an_output_without_its_end_or_a_line_has_a_gap() {
    for line in
        ["Exit Code: 0x00\n", "Strip Size          : 256 KB\n", "State               : Optimal\n"]
    {
        assert_eq!(controller(&DRIVES.replace(line, "")).gaps.len(), 1, "{line}");
    }
    let wrapped = DRIVES.replace(
        "Direct, No Write Cache if Bad BBU\nDisk",
        "Direct, No Write\nCache if Bad BBU\nDisk",
    );
    assert_eq!(controller(&wrapped), controller(DRIVES));
}

#[test]
fn adapters_and_disks_are_read() {
    let adapter = "
Adapter #0

==============================================================================
                    Versions
                ================
Product Name    : Array 9000
Serial No       : SV4711
                Status
                ================
Memory Correctable Errors   : 0
Memory Uncorrectable Errors : 2
Any Offline VD Cache Preserved   : Yes

Exit Code: 0x00
";
    let controller = controller(adapter);
    assert_eq!(
        (controller.model.as_str(), controller.serial.as_deref()),
        ("Array 9000", Some("SV4711"))
    );
    assert!(controller.memory.told().len() == 2 && controller.preserved_cache.only().is_some());
    let disks = "
Adapter #0

Enclosure Device ID: 32
Slot Number: 0
Media Error Count: 0
Firmware state: Online, Spun Up

Enclosure Device ID: 32
Slot Number: 1
Firmware state: Failed

Exit Code: 0x00
";
    let output = read(disks).unwrap().unwrap();
    let states: Vec<_> = output.controllers[0].disks.iter().map(|disk| disk.state.only()).collect();
    assert_eq!(states, [Some(&Health::Ok), Some(&Health::Bad("Failed".to_owned()))]);
}
