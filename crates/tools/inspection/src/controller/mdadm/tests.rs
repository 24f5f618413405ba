use super::super::{Health, Output};
use super::{read_detail, read_status};

const DETAIL: &str = "/dev/md3:
           Version : 1.2
        Raid Level : raid1
      Raid Devices : 2
     Total Devices : 2
             State : clean
    Active Devices : 2
   Working Devices : 2
    Failed Devices : 0
     Spare Devices : 0

    Number   Major   Minor   RaidDevice State
       0       8        1        0      active sync   /dev/sda1
       1       8       17        1      active sync   /dev/sdb1
";

fn detail(text: &str) -> Output {
    read_detail(text).unwrap().unwrap()
}

#[test]
fn an_array_in_order_has_all_of_its_devices() {
    let output = detail(DETAIL);
    let controller = &output.controllers[0];
    let drive = &controller.drives[0];
    assert_eq!(drive.id, "/dev/md3");
    assert_eq!((drive.level.only().unwrap().as_str(), drive.disks.only()), ("RAID 1", Some(&2)));
    assert_eq!(drive.state.only(), Some(&Health::Ok));
    assert_eq!((controller.gaps.len(), output.unread.len()), (0, 0), "{output:?}");
}

#[test]
fn a_degraded_array_or_a_cut_output_is_none_in_order() {
    let bad = |text: &str| {
        let states = detail(text).controllers[0].drives[0].state.told().to_vec();
        states.iter().any(|state| matches!(state, Health::Bad(_)))
    };
    assert!(bad(&DETAIL.replace("clean", "clean, degraded, recovering")));
    assert!(bad(&DETAIL.replace("Active Devices : 2", "Active Devices : 1")));
    assert!(bad(&DETAIL.replace("active sync   /dev/sdb1", "removed")));
    assert!(bad(&DETAIL.replace("Failed Devices : 0", "Failed Devices : 1")));
    for cut in
        ["             State : clean\n", "    Active Devices : 2\n", "       1       8       17"]
    {
        let at = DETAIL.find(cut).unwrap();
        assert!(!detail(&DETAIL[..at]).controllers[0].gaps.is_empty(), "{cut}");
    }
}

const STATUS: &str = "Personalities : [raid1] [raid6] [raid5] [raid4]
md1 : active raid5 sdd1[3] sdc1[1] sdb1[0]
      1953258496 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/3] [UUU]
      bitmap: 0/8 pages [0KB], 65536KB chunk

md0 : active raid1 sdf1[1] sde1[0]
      976630464 blocks super 1.2 [2/2] [UU]

unused devices: <none>
";

fn states(text: &str) -> Vec<bool> {
    let output = read_status(text).unwrap().unwrap();
    let drives = &output.controllers[0].drives;
    let is_ok = |state: &Health| *state == Health::Ok;
    drives.iter().map(|drive| drive.state.only().is_some_and(is_ok)).collect()
}

#[test]
fn every_device_must_be_up() {
    assert_eq!(states(STATUS), [true, true]);
    let output = read_status(STATUS).unwrap().unwrap();
    assert_eq!((output.controllers[0].gaps.len(), output.unread.len()), (0, 0), "{output:?}");
    assert_eq!(output.controllers[0].drives[0].strip_bytes.only(), Some(&(512 << 10)));
    assert_eq!(states(&STATUS.replace("[3/3] [UUU]", "[3/2] [UU_]")), [false, true]);
    assert_eq!(states(&STATUS.replace("[2/2] [UU]", "[2/2] [U]")), [true, false]);
    let failed = read_status(&STATUS.replace("sde1[0]", "sde1[0](F)")).unwrap().unwrap();
    assert!(failed.controllers[0].drives[1].members.is_told());
    assert_eq!(states(&STATUS.replace("md0 : active", "md0 : inactive")), [true, false]);
    let rebuilt = "[UU]\n      [==>....]  recovery = 12.6% (1/8) finish=9.1min speed=1K/sec";
    assert_eq!(states(&STATUS.replace("[UU]", rebuilt)), [true, false]);
    let cut = STATUS.replace("unused devices: <none>\n", "");
    assert!(!read_status(&cut).unwrap().unwrap().controllers[0].gaps.is_empty());
}
