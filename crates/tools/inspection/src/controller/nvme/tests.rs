use super::super::{Controller, DiskCaches, Health};
use super::read;

fn device(text: &str) -> Controller {
    read(text).unwrap().unwrap().controllers.remove(0)
}

const IDENTITY: &str = "NVME Identify Controller:
vid       : 0x1234
sn        : SV0099
mn        : Test Flash 960
vwc       : 0x7
";

#[test]
fn a_volatile_cache_is_present_or_not_and_on_or_off() {
    let cache = |text: &str| device(text).disk_caches.only().copied();
    assert_eq!(cache(IDENTITY), Some(DiskCaches::LeftToDisks));
    assert_eq!(cache(&IDENTITY.replace("0x7", "0x6")), Some(DiskCaches::Off));
    assert_eq!(cache(&IDENTITY.replace("0x7", "seven")), None);
    let feature = "get-feature:0x06 (Volatile Write Cache), Current value:0x00000000\n\
                   \tVolatile Write Cache Enable (WCE): Disabled\n";
    assert_eq!(cache(&format!("{IDENTITY}\n{feature}")), Some(DiskCaches::Off));
    let cut = device(&IDENTITY.replace("vwc       : 0x7\n", ""));
    assert_eq!(cut.gaps.len(), 1);
    assert_eq!(device(IDENTITY).serial.as_deref(), Some("SV0099"));
}

const HEALTH: &str = "Smart Log for NVME device:nvme1n1 namespace-id:ffffffff
critical_warning                        : 0
temperature                             : 35 C
available_spare                         : 100%
available_spare_threshold               : 10%
percentage_used                         : 3%
media_errors                            : 0
num_err_log_entries                     : 12
";

#[test]
fn a_device_reports_its_health() {
    let states = |text: &str| device(text).status.told().to_vec();
    assert_eq!(states(HEALTH), [Health::Ok]);
    let is_bad = |text: &str| states(text).iter().any(|state| *state != Health::Ok);
    assert!(is_bad(&HEALTH.replace("warning                        : 0", "warning : 0x4")));
    assert!(is_bad(&HEALTH.replace("100%", "4%")));
    assert!(is_bad(&HEALTH.replace(": 3%", ": 104%")));
    assert_eq!(device(HEALTH).id.as_deref(), Some("nvme1n1"));
}

#[test]
fn a_list_names_devices_and_tells_nothing_of_them() {
    let list = "Node             SN       Model          Namespace Usage          Format   FW Rev\n\
                ---------------- -------- -------------- --------- -------------- -------- ------\n\
                /dev/nvme0n1     SV0001   Test Flash     1         1 GB / 2 GB    512 B    A1\n";
    let device = device(list);
    assert_eq!((device.id.as_deref(), device.serial.as_deref()), (Some("nvme0n1"), Some("SV0001")));
}
