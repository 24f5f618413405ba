//! `inspect --controller`: outputs of every tool as people save them. What they do not say, say in
//! unknown words or contradict each other in never passes.

use serde_json::{Value, json};

use crate::scene::{Ran, Scene};

fn inspected(name: &str, files: &[(&str, &str)]) -> Ran {
    let scene = Scene::new(name);
    for (file, text) in files {
        scene.write(file, text.as_bytes());
    }
    scene.run(["inspect", "--controller"].into_iter().chain(files.iter().map(|(file, _)| *file)))
}

/// Exit and parts of the answer, however its lines were folded.
#[track_caller]
fn says(ran: &Ran, code: i32, parts: &[&str]) {
    ran.expect_code(code);
    let told = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(told.contains(part), "`{part}` is not in:\n{}", ran.out);
    }
}

/// An answer of storcli with a battery, a policy and a serial number.
fn storcli(serial: &str, cache: &str, battery: &str) -> String {
    let status = json!({ "Controller": 0, "Status": "Success", "Description": "None" });
    let data = json!({
        "Basics": { "Model": "Test 755", "Serial Number": serial },
        "VD LIST": [{ "DG/VD": "0/9", "TYPE": "RAID10", "State": "Optl", "Cache": cache }],
        "BBU_Info": [{ "Model": "BBU", "State": battery }],
    });
    json!({ "Controllers": [{ "Command Status": status, "Response Data": data }] }).to_string()
}

/// Both call their controller 0: the second was hidden behind the first.
#[test]
fn outputs_of_two_servers_are_two_controllers_in_either_order() {
    let good = storcli("SV1001", "NRWBD", "Optimal");
    let bad = storcli("SV1002", "NRWTD", "Failed");
    for files in [[("a.json", &good), ("b.json", &bad)], [("b.json", &bad), ("a.json", &good)]] {
        let ran = inspected("ctrl-two-servers", &files.map(|(name, text)| (name, text.as_str())));
        says(
            &ran,
            1,
            &[
                "2 problems",
                "controller 0 (Test 755, serial number SV1002)",
                "write back, protected",
            ],
        );
    }
    let nameless = [storcli("0000", "NRWBD", "Optimal"), storcli("0000", "NRWBD", "Failed")];
    let files = [("a.json", nameless[0].as_str()), ("b.json", nameless[1].as_str())];
    says(&inspected("ctrl-nameless", &files), 1, &["(Test 755, b.json)"]);
}

const SSACLI: &str = "
Smart Array T440 in Slot 0 (Embedded)
   Slot: 0
   Serial Number: SV2001
   Controller Status: OK
   Cache Board Present: True
   Cache Status: OK
   Cache Ratio: 0% Read / 100% Write
   Drive Write Cache: Disabled
   Total Cache Size: 2.0 GB
   No-Battery Write Cache: Disabled
   Battery/Capacitor Count: 1
   Battery/Capacitor Status: OK

   Array: A
      Status: OK

      Logical Drive: 1
         Fault Tolerance: 1
         Strip Size: 256 KB
         Status: OK
         Caching:  Enabled
         Disk Name: /dev/sda
";

#[test]
fn a_battery_in_order_does_not_hide_a_cache_that_is_off() {
    inspected("ctrl-in-order", &[("a.txt", SSACLI)]).expect_code(0);
    let off = SSACLI.replace("Cache Status: OK", "Cache Status: Permanently Disabled");
    says(
        &inspected("ctrl-cache-off", &[("a.txt", &off)]),
        1,
        &["the cache is Permanently Disabled", "State of the cache"],
    );
}

#[test]
fn lines_after_wrapped_ones_are_read() {
    let wrapped = SSACLI.replace(
        "   Cache Ratio: 0% Read / 100% Write",
        "   Cache Status Details: The cache had valid data when it was\n\
         reset.  No action is needed until the next\npower cycle.\n   \
         Cache Ratio: 25% Read / 75% Write",
    );
    let ran = inspected("ctrl-wrapped", &[("a.txt", &wrapped)]);
    says(
        &ran,
        0,
        &["Warning", "25 % for reads", "No action is needed until the next power cycle."],
    );
}

#[test]
fn an_output_that_ends_in_the_middle_is_incomplete() {
    let cut = &SSACLI[..SSACLI.find("         Status: OK\n         Caching").unwrap()];
    let ran = inspected("ctrl-cut", &[("a.txt", cut)]);
    says(&ran, 2, &["incomplete", "drive 1 has no Status"]);
}

#[test]
fn lines_and_words_that_are_not_understood_are_shown() {
    let text = SSACLI
        .replace("   Slot: 0\n", "   Slot: 0\n\n   frobnicated beyond measure\n\n")
        .replace("Controller Status: OK", "Controller Status: Ripe");
    let ran = inspected("ctrl-unknown", &[("a.txt", &text)]);
    says(
        &ran,
        2,
        &[
            "1 line was not understood: line 5: \"frobnicated beyond measure\"",
            "\"Ripe\" is not understood",
        ],
    );
}

#[test]
fn the_short_form_has_a_failed_array() {
    let text = "
Smart Array T410 in Slot 1                (sn: SV2002)

   array A (SAS, Unused Space: 0  MB)

      logicaldrive 1 (558.9 GB, RAID 1, OK)
      physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS, 600 GB, OK)

   array B (Failed)

      logicaldrive 2 (2.2 TB, RAID 5, Interim Recovery Mode)
      physicaldrive 1I:1:3 (port 1I:box 1:bay 3, SAS, 1 TB, Failed)
";
    says(
        &inspected("ctrl-short", &[("a.txt", text)]),
        1,
        &[
            "slot 1 (Smart Array T410), drive 2: Interim Recovery Mode",
            "State of the arrays",
            "disk 1I:1:3: Failed",
        ],
    );
}

#[test]
fn the_state_of_the_controller_itself_is_read() {
    let text = storcli("SV1001", "NRWBD", "Optimal").replace(
        "\"VD LIST\"",
        "\"Status\": { \"Controller Status\": \"Needs Attention\", \
         \"Memory Correctable Errors\": 0, \"Memory Uncorrectable Errors\": 3, \
         \"Any Offline VD Cache Preserved\": \"Yes\" }, \"VD LIST\"",
    );
    says(
        &inspected("ctrl-attention", &[("a.json", &text)]),
        1,
        &[
            "Needs Attention",
            "3 uncorrectable memory errors",
            "writes of an offline drive are preserved",
        ],
    );
}

const MEGACLI: &str = "
Adapter 0 -- Virtual Drive Information:
Virtual Drive: 0 (Target Id: 0)
Name                :
RAID Level          : Primary-1, Secondary-0, RAID Level Qualifier-0
State               : Optimal
Strip Size          : 256 KB
Number Of Drives    : 2
Span Depth          : 1
Default Cache Policy: WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU
Current Cache Policy: WriteThrough, ReadAheadNone, Direct, No Write Cache if Bad BBU
Disk Cache Policy   : Disabled

Exit Code: 0x00
";

#[test]
fn megacli_is_read_and_a_fallen_back_controller_named() {
    says(
        &inspected("ctrl-megacli", &[("a.txt", MEGACLI)]),
        1,
        &["fallen back to write through", "-> MegaCli64 -AdpBbuCmd -GetBbuStatus -a0"],
    );
    let always = MEGACLI
        .replace("WriteThrough", "WriteBack")
        .replace("No Write Cache if Bad BBU", "Write Cache OK if Bad BBU");
    says(
        &inspected("ctrl-megacli-always", &[("a.txt", &always)]),
        1,
        &["write back, even without battery", "-> MegaCli64 -LDSetProp NoCachedBadBBU -L0 -a0"],
    );
}

#[test]
fn the_text_of_storcli_is_read_as_far_as_it_goes() {
    let text = "
Controller = 0
Status = Success
Description = None


Virtual Drives :
==============

-------------------------------------------------------------
DG/VD TYPE  State Access Consist Cache Cac sCC     Size Name
-------------------------------------------------------------
0/1   RAID1 Optl  RW     Yes     NRWBD -   ON  3.637 TB Mail
-------------------------------------------------------------
";
    let ran = inspected("ctrl-text", &[("a.txt", text)]);
    says(&ran, 2, &["write back", "Battery or capacitor", "not told"]);
    let through = text.replace("NRWBD", "NRWTD");
    says(
        &inspected("ctrl-text-through", &[("a.txt", &through)]),
        1,
        &["-> storcli /c0/v1 set wrcache=wb"],
    );
}

#[test]
fn the_next_generation_of_storcli_is_read() {
    let status = json!({ "CLI Version": "008.0004.0000.0022", "Controller": "0",
        "Status": "Success", "Description": "None" });
    let data = json!({
        "Basics": { "Product Name": "Test 965" },
        "VD LIST": [{ "DG/VD": "0/1", "TYPE": "RAID6", "State": "Optl",
            "CurrentCache": "NR,WT", "DefaultCache": "NR,WB" }],
        "PD LIST": [{ "EID:Slt": "2:0", "State": "Conf", "DG": 0, "Med": "SSD" }],
        "Energy Pack Info": [{ "Type": "Battery", "Status": "Failed" }],
    });
    let text = json!({ "Controllers": [{ "Command Status": status, "Response Data": data }] });
    says(
        &inspected("ctrl-next", &[("a.json", &text.to_string())]),
        1,
        &[
            "controller 0 (Test 965)",
            "Battery or capacitor of the cache - controller 0 (Test 965): Failed",
            "fallen back to write through",
            "-> storcli2 /c0/ep show all",
        ],
    );
}

const ARCCONF: &str = "
Controllers found: 2
----------------------------------------------------------------------
CONTROLLER INFORMATION
----------------------------------------------------------------------
   Controller Status                        : Okay
   Controller Model                         : Test 71605
   --------------------------------------------------------
   CONTROLLER BATTERY INFORMATION
   --------------------------------------------------------
   Status                                   : Okay
----------------------------------------------------------------------
LOGICAL DRIVE INFORMATION
----------------------------------------------------------------------
Logical drive number 1
   RAID level                               : 5
   Status of logical drive                  : Offline
   Write-cache mode                         : Disabled (write-through)
   Number of segments                       : 3
";

/// In capitals, in the oldest words, and of a controller whose number it does not say.
#[test]
fn arcconf_of_another_controller_advises_nothing_for_the_first() {
    let ran = inspected("ctrl-arcconf", &[("a.txt", ARCCONF)]);
    let battery = "Battery or capacitor of the cache - controller (Test 71605): in order";
    says(&ran, 1, &["Offline", "-> arcconf setcache N logicaldrive 1 wbb", battery]);
    assert!(!ran.out.contains("setcache 1"), "{}", ran.out);
    let asked = format!("C:\\tools> arcconf getconfig 2\n{ARCCONF}");
    says(
        &inspected("ctrl-arcconf-2", &[("a.txt", &asked)]),
        1,
        &["-> arcconf setcache 2 logicaldrive 1 wbb"],
    );
}

#[test]
fn software_raid_and_nvme_are_read() {
    let status = "Personalities : [raid1]
md0 : active raid1 sdb1[1] sda1[0](F)
      976630464 blocks super 1.2 [2/1] [_U]

unused devices: <none>
";
    says(&inspected("ctrl-mdstat", &[("mdstat", status)]), 1, &["degraded: [2/1] [_U]"]);
    let health = "Smart Log for NVME device:nvme0n1 namespace-id:ffffffff
critical_warning                        : 0x4
available_spare                         : 100%
available_spare_threshold               : 10%
percentage_used                         : 3%
media_errors                            : 0
";
    says(
        &inspected("ctrl-nvme", &[("smart", health)]),
        1,
        &["critical warning 0x4: its reliability is degraded"],
    );
}

#[test]
fn what_a_shell_put_around_an_output_is_left_out() {
    let scene = Scene::new("ctrl-noise");
    let text = storcli("SV1001", "NRWTD", "Optimal");
    let prompted =
        format!("[root@ex01 ~]# storcli64 /call show all J\r\n{text}\r\n[root@ex01 ~]#\r\n");
    let wide: Vec<u8> = prompted.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [
        prompted.clone().into_bytes(),
        [&[0xFF, 0xFE], &wide[..]].concat(),
        [b"\xEF\xBB\xBF", prompted.as_bytes()].concat(),
    ] {
        scene.write("a.json", &bytes);
        let ran = scene.run(["inspect", "--controller", "a.json"]);
        says(&ran, 1, &["-> storcli /c0/v9 set wrcache=wb"]);
    }
}

#[test]
fn the_age_of_a_saved_output_is_shown() {
    let scene = Scene::new("ctrl-age");
    scene.write("a.txt", SSACLI.as_bytes());
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(9 * 24 + 1);
    let file = std::fs::File::options().write(true).open(scene.path("a.txt")).unwrap();
    file.set_modified(old).unwrap();
    drop(file);
    scene.run(["inspect", "--controller", "a.txt"]).expect_code(0).expect_out(&["9 days ago"]);
    let ran = scene.run(["inspect", "--controller", "a.txt", "--json"]);
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(told["outputs"][0]["file"], "a.txt");
    assert_eq!(told["outputs"][0]["not_understood"], json!([]));
    assert!(told["outputs"][0]["saved"].is_string());
}
