use serde_json::json;

use super::super::{
    CacheBackup, Controller, ControllerError, DiskCaches, Health, OutputSource, Tool, WritePolicy,
    merged,
};
use super::{read_json, read_text};

fn read(text: &str) -> Result<Vec<Controller>, ControllerError> {
    read_json(text).map(|output| output.controllers)
}

fn answer(data: &serde_json::Value) -> String {
    let status = json!({ "Controller": 0, "Status": "Success", "Description": "None" });
    json!({ "Controllers": [{ "Command Status": status, "Response Data": data }] }).to_string()
}

fn overview() -> String {
    answer(&json!({
        "Basics": { "Model": "Array 9999i" },
        "HwCfg": { "BBU": "Present", "On Board Memory Size": "4096MB" },
        "Defaults": { "Cache When BBU Bad": "Off" },
        "TOPOLOGY": [
            { "DG": 0, "Arr": "-", "PDC": "dsbl" },
            { "DG": 1, "Arr": "-", "PDC": "enbl" },
        ],
        "VD LIST": [
            { "DG/VD": "0/238", "TYPE": "RAID10", "State": "Optl", "Cache": "NRWBD" },
            { "DG/VD": "1/239", "TYPE": "RAID0", "State": "Dgrd", "Cache": "RWTD" },
        ],
        "PD LIST": [
            { "EID:Slt": "8:0", "DG": 0, "Med": "HDD" },
            { "EID:Slt": "8:1", "DG": 0, "Med": "HDD" },
            { "EID:Slt": "8:2", "DG": 1, "Med": "SSD" },
            { "EID:Slt": "8:3", "DG": "-", "Med": "HDD" },
        ],
        "Cachevault_Info": [{ "Model": "CV", "State": "Optimal" }],
    }))
}

#[test]
fn an_overview_tells_policies_and_members() {
    let controllers = read(&overview()).unwrap();
    let controller = &controllers[0];
    assert_eq!(
        (controller.id.as_deref().unwrap(), controller.model.as_str()),
        ("0", "Array 9999i")
    );
    assert_eq!(controller.cache_bytes.only(), Some(&(4 << 30)));
    assert_eq!(controller.backup.only(), Some(&CacheBackup::Ready));
    assert_eq!(controller.caches_without_backup.only(), Some(&false));
    let [first, second] = &controller.drives[..] else {
        panic!("{:?}", controller.drives);
    };
    assert_eq!((first.id.as_str(), first.writes.only()), ("238", Some(&WritePolicy::Back)));
    assert_eq!(
        (first.reads_ahead.only(), first.disk_caches.only()),
        (Some(&false), Some(&DiskCaches::Off))
    );
    assert_eq!(
        (first.disks.only(), first.is_flash.only(), first.state.only()),
        (Some(&2), Some(&false), Some(&Health::Ok))
    );
    assert_eq!(
        (second.writes.only(), second.disk_caches.only()),
        (Some(&WritePolicy::Through), Some(&DiskCaches::On))
    );
    assert_eq!(second.is_flash.only(), Some(&true));
    assert_eq!(second.state.only(), Some(&Health::Bad("Dgrd".to_owned())));
}

#[test]
fn details_of_drives_and_disks_add_to_the_overview() {
    let drives = answer(&json!({
        "/c0/v238": [{ "DG/VD": "0/238", "TYPE": "RAID10", "State": "Optl", "Cache": "NRWBD" }],
        "VD238 Properties": {
            "Strip Size": "256 KB", "Span Depth": 2, "Number of Drives Per Span": 2,
            "Disk Cache Policy": "Disabled", "OS Drive Name": "/dev/sdb",
        },
    }));
    let disks = answer(&json!({
        "Drive /c0/e8/s0 - Detailed Information": {
            "Drive /c0/e8/s0 Device attributes": { "Write Cache": "Enabled" },
            "Drive /c0/e8/s0 State": { "Shield Counter": 0 },
        },
    }));
    let texts = [overview(), drives, disks];
    let controllers = texts.iter().flat_map(|text| read(text).unwrap()).collect();
    let all = merged(vec![OutputSource { source: "one".to_owned(), controllers }]);
    assert_eq!(all.len(), 1);
    let first = &all[0].drives[0];
    assert_eq!((first.strip_bytes.only(), first.disks.told()), (Some(&(256 << 10)), &[2, 4][..]));
    assert_eq!(first.device.as_deref(), Some("/dev/sdb"));
    let disk = all[0].disks.iter().find(|disk| disk.name == "/c0/e8/s0").unwrap();
    assert_eq!(disk.cache.only(), Some(&DiskCaches::On));
    assert_eq!(all[0].drives.len(), 2);
}

#[test]
fn a_battery_is_ready_not_ready_or_absent() {
    let backup = |data: serde_json::Value| read(&answer(&data)).unwrap()[0].backup.only().cloned();
    assert_eq!(backup(json!({ "BBU_Info": [{ "State": "Optimal" }] })), Some(CacheBackup::Ready));
    let failed = Some(CacheBackup::NotReady("Failed".to_owned()));
    assert_eq!(backup(json!({ "BBU_Info": [{ "State": "Failed" }] })), failed);
    assert_eq!(backup(json!({ "HwCfg": { "BBU": "Absent" } })), Some(CacheBackup::Absent));
    assert_eq!(backup(json!({ "HwCfg": { "BBU": "Present" } })), None);
}

#[test]
fn what_is_no_answer_of_a_controller_says_so() {
    assert_eq!(read("{}"), Err(ControllerError::NotOfControllers));
    let failed = json!({ "Controllers": [{ "Command Status":
        { "Status": "Failure", "Description": "No Controller found" } }] });
    let error = read(&failed.to_string()).unwrap_err();
    assert_eq!(error, ControllerError::Failed("No Controller found".to_owned()));
    assert!(matches!(read("{\"Controllers\": ["), Err(ControllerError::Syntax(_))));
}

fn disk(slot: u32) -> serde_json::Value {
    json!({
        "EID:Slt": format!("2:{slot}"), "State": "Conf", "Status": "Online", "DG": 0,
        "Size": "800 GiB", "Med": "SSD",
    })
}

fn later() -> String {
    answer(&json!({
        "Basics": { "Product Name": "Array 96 Front", "Serial Number": "SV96" },
        "Status": { "Controller Status": "OK" },
        "VD LIST": [{
            "DG/VD": "0/1", "TYPE": "RAID6", "State": "Optl", "Size": "1.5 TiB",
            "CurrentCache": "NR,WT", "DefaultCache": "NR,WB",
        }],
        "PD LIST": [
            disk(0),
            disk(1),
            disk(2),
            disk(3),
        ],
        "Energy Pack Info": [{ "Type": "Supercap", "Status": "Failed" }],
        "Virtual Drives": [{
            "VD Info": {
                "DG/VD": "0/1", "TYPE": "RAID6", "State": "Optl", "CurrentCache": "NR,WT",
            },
            "VD Properties": { "Strip Size": "64 KiB", "Disk Cache Policy": "Disabled" },
        }],
    }))
    .replace("\"Controller\":0", "\"Controller\":\"0\",\"CLI Version\":\"008.0004.0000.0022\"")
}

#[test]
fn the_next_generation_has_other_names_for_the_same() {
    let controller = &read(&later()).unwrap()[0];
    assert_eq!((controller.tool, controller.id.as_deref()), (Tool::Storcli2, Some("0")));
    assert_eq!(controller.model, "Array 96 Front");
    let failed = CacheBackup::NotReady("Failed".to_owned());
    assert_eq!(controller.backup.only(), Some(&failed));
    assert_eq!(controller.status.only(), Some(&Health::Ok));
    let [drive] = &controller.drives[..] else {
        panic!("{:?}", controller.drives);
    };
    assert_eq!(drive.writes.only(), Some(&WritePolicy::Through));
    assert_eq!(drive.writes_set.only(), Some(&WritePolicy::Back));
    assert_eq!((drive.strip_bytes.only(), drive.disks.only()), (Some(&(64 << 10)), Some(&4)));
    assert_eq!(controller.gaps, Vec::<String>::new());
}

#[test]
fn a_row_that_is_missing_is_noticed_by_the_size_of_the_drive() {
    let row =
        r#"{"DG":0,"EID:Slt":"2:3","Med":"SSD","Size":"800 GiB","State":"Conf","Status":"Online"}"#;
    let without = later().replace(&format!(",{row}"), "");
    assert_ne!(without, later(), "{without}");
    assert_eq!(read(&without).unwrap()[0].drives[0].disks.only(), None);
}

#[test]
fn the_state_of_the_controller_is_read() {
    let status = |data: serde_json::Value| {
        let status = json!({ "Status": data });
        read(&answer(&status)).unwrap().remove(0)
    };
    let whole = status(json!({
        "Controller Status": "Needs Attention", "Memory Correctable Errors": 4,
        "Memory Uncorrectable Errors": 3, "Any Offline VD Cache Preserved": "Yes",
    }));
    assert_eq!(whole.status.only(), Some(&Health::Bad("Needs Attention".to_owned())));
    assert_eq!(whole.memory.told().len(), 2);
    assert!(matches!(whole.preserved_cache.only(), Some(Health::Bad(_))));
    let cut = status(json!({ "Controller Status": "Optimal", "Memory Correctable Errors": 0 }));
    assert_eq!(cut.gaps.len(), 2, "{:?}", cut.gaps);
    let unknown = status(json!({ "Controller Status": "Ripe" }));
    assert!(unknown.status.only().is_none() && unknown.status.doubt().is_some());
}

const TEXT: &str = "
[root@ex01 ~]# storcli64 /c0/vall show all nolog
CLI Version = 007.1705.0000.0000 Mar 31, 2021
Operating system = Linux 6.1
Controller = 0
Status = Success
Description = None


/c0/v3 :
======

------------------------------------------------------------------
DG/VD TYPE   State Access Consist Cache Cac sCC       Size Name
------------------------------------------------------------------
0/3   RAID10 Optl  RW     Yes     NRWBD -   ON  1.745 TB Mail store
------------------------------------------------------------------

EID=Enclosure Device ID|Slt=Slot No|DID=Device ID|DG=DriveGroup


PDs for VD 3 :
============

-----------------------------------------------------------------------------
EID:Slt DID State DG       Size Intf Med SED PI SeSz Model           Sp Type
-----------------------------------------------------------------------------
32:0      0 Onln   0 893.750 GB SATA HDD N   N  512B ACME TEST 960   U  -
32:1      1 Onln   0 893.750 GB SATA HDD N   N  512B ACME TEST 960   U  -
32:2      2 Onln   0 893.750 GB SATA HDD N   N  512B ACME TEST 960   U  -
32:3      3 Rbld   0 893.750 GB SATA HDD N   N  512B ACME TEST 960   U  -
-----------------------------------------------------------------------------


VD3 Properties :
==============
Strip Size = 256 KB
Number of Blocks = 3749052416
Span Depth = 2
Number of Drives Per Span = 2
Write Cache(initial setting) = WriteBack
Disk Cache Policy = Disabled
OS Drive Name = /dev/sdb
";

fn text(text: &str) -> (Controller, usize) {
    let output = read_text(text).unwrap().unwrap();
    (output.controllers[0].clone(), output.unread.len())
}

#[test]
fn text_tells_the_same_as_its_json() {
    let (controller, unread) = text(TEXT);
    assert_eq!((unread, &controller.gaps), (0, &Vec::new()));
    let drive = &controller.drives[0];
    assert_eq!((drive.id.as_str(), drive.writes.only()), ("3", Some(&WritePolicy::Back)));
    assert_eq!((drive.strip_bytes.only(), drive.disks.only()), (Some(&(256 << 10)), Some(&4)));
    assert_eq!((drive.is_flash.only(), drive.device.as_deref()), (Some(&false), Some("/dev/sdb")));
    let bad = controller.disks.iter().filter(|disk| disk.state.only() != Some(&Health::Ok));
    assert_eq!(bad.count(), 1);
}

#[test]
fn a_text_that_is_cut_or_has_lost_a_row_has_gaps() {
    for at in ["0/3   RAID10", "32:1      1", "Strip Size", "Disk Cache Policy"] {
        let cut = &TEXT[..TEXT.find(at).unwrap() + 6];
        assert!(!text(cut).0.gaps.is_empty(), "{at}");
    }
    let columns = "EID:Slt DID State DG       Size Intf Med SED PI SeSz Model           Sp Type\n";
    assert!(!text(&TEXT.replace(columns, "")).0.gaps.is_empty());
    let row = "32:3      3 Rbld   0 893.750 GB SATA HDD N   N  512B ACME TEST 960   U  -\n";
    assert!(!text(&TEXT.replace(row, "")).0.gaps.is_empty());
}

#[test]
fn several_controllers_follow_each_other() {
    let two = format!("{TEXT}\n{}", TEXT.replace("Controller = 0", "Controller = 1"));
    let output = read_text(&two).unwrap().unwrap();
    let ids: Vec<_> = output.controllers.iter().map(|of| of.id.as_deref().unwrap()).collect();
    assert_eq!(ids, ["0", "1"]);
}
