//! Whole outputs of each form: a good one, and copies of it with one fault each.

/// A form: its good output, and the changes that make it bad.
struct Form {
    name: &'static str,
    good: &'static str,
    bad: &'static [(&'static str, &'static str)],
}

/// Names and texts.
pub(super) fn all() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for Form { name, good, bad } in FORMS {
        all.push((format!("{name} good"), (*good).to_owned()));
        for (from, to) in *bad {
            assert!(good.contains(from), "{name}: {from}");
            all.push((format!("{name}: {to}"), good.replace(from, to)));
        }
    }
    all
}

const FORMS: &[Form] = &[
    Form {
        name: "ssacli",
        good: SSACLI,
        bad: &[
            ("Cache Status: OK", "Cache Status: Permanently Disabled"),
            ("Controller Status: OK", "Controller Status: Failed"),
            (
                "Battery/Capacitor Status: OK",
                "Battery/Capacitor Status: Failed (Replace Batteries)",
            ),
            ("0% Read / 100% Write", "50% Read / 50% Write"),
            ("No-Battery Write Cache: Disabled", "No-Battery Write Cache: Enabled"),
            ("Drive Write Cache: Disabled", "Drive Write Cache: Enabled"),
            ("Caching:  Enabled", "Caching:  Disabled"),
            ("Strip Size: 256 KB", "Strip Size: 64 KB"),
            ("Status: OK\n         Parity", "Status: Interim Recovery Mode\n         Parity"),
        ],
    },
    Form {
        name: "ssacli short",
        good: SSACLI_SHORT,
        bad: &[
            ("RAID 1, OK", "RAID 1, Recovering, 3% complete"),
            ("array A (SAS", "array A (Failed"),
            ("(5.7 TB, RAID 5", "(5.7 TB, RAID 0"),
        ],
    },
    Form {
        name: "arcconf",
        good: ARCCONF,
        bad: &[
            ("Controller Status                        : Optimal", "Controller Status : Degraded"),
            ("ZMM Optimal", "Failed"),
            ("Enabled (write-back) when protected by battery/ZMM", "Enabled (write-back)"),
            (
                "Write-cache mode                         : Enabled (write-back)",
                "Write-cache mode                         : Disabled (write-through)",
            ),
            ("256 KB", "64 KB"),
            (
                "Status of logical device                 : Optimal",
                "Status of logical device : Offline",
            ),
            ("Present (0,1)", "Missing"),
        ],
    },
    Form {
        name: "arcconf smart",
        good: ARCCONF_SMART,
        bad: &[
            (
                "Cache Status                               : Ok",
                "Cache Status : Permanently Disabled",
            ),
            ("Backup Power Status                        : Ok", "Backup Power Status : Charging"),
            (
                "No-Battery Write Cache                     : Disabled",
                "No-Battery Write Cache : Enabled",
            ),
            (
                "Configured Drives                          : Disabled",
                "Configured Drives : Enabled",
            ),
            ("Caching                                    : Enabled", "Caching : Disabled"),
        ],
    },
    Form {
        name: "megacli",
        good: MEGACLI,
        bad: &[
            ("Current Cache Policy: WriteBack", "Current Cache Policy: WriteThrough"),
            (
                "Current Cache Policy: WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU",
                "Current Cache Policy: WriteBack, ReadAheadNone, Direct, Write Cache OK if Bad BBU",
            ),
            ("State               : Optimal", "State               : Degraded"),
            ("Battery State: Optimal", "Battery State: Failed"),
            (
                "Battery Replacement required            : No",
                "Battery Replacement required            : Yes",
            ),
            ("256 KB", "64 KB"),
            ("Disk Cache Policy   : Disabled", "Disk Cache Policy   : Enabled"),
        ],
    },
    Form {
        name: "storcli text",
        good: STORCLI,
        bad: &[
            ("NRWBD", "NRWTD"),
            ("NRWBD", "NRAWBD"),
            ("RAID5 Optl", "RAID5 Dgrd"),
            ("CVPM02 Optimal", "CVPM02 Failed"),
            ("32:2      2 Onln", "32:2      2 Offln"),
            ("Controller Status = Optimal", "Controller Status = Needs Attention"),
            ("Memory Uncorrectable Errors = 0", "Memory Uncorrectable Errors = 3"),
            ("Strip Size = 256 KB", "Strip Size = 64 KB"),
            ("Disk Cache Policy = Disabled", "Disk Cache Policy = Enabled"),
        ],
    },
    Form {
        name: "storcli JSON",
        good: STORCLI_JSON,
        bad: &[
            ("\"NR,WB\",\n   \"DefaultCache\"", "\"NR,WT\",\n   \"DefaultCache\""),
            ("\"Status\": \"Optimal\"", "\"Status\": \"Failed\""),
            ("\"State\": \"Optl\"", "\"State\": \"Pdgd\""),
            ("\"Controller Status\": \"OK\"", "\"Controller Status\": \"Needs Attention\""),
        ],
    },
    Form {
        name: "mdadm",
        good: MDADM,
        bad: &[
            ("State : clean", "State : clean, degraded"),
            ("Active Devices : 2", "Active Devices : 1"),
            ("active sync   /dev/sdb1", "faulty   /dev/sdb1"),
        ],
    },
    Form {
        name: "mdstat",
        good: MDSTAT,
        bad: &[
            ("[2/2] [UU]", "[2/1] [U_]"),
            ("sdb1[1]", "sdb1[1](F)"),
            ("md1 : active", "md1 : inactive"),
        ],
    },
    Form {
        name: "nvme",
        good: NVME,
        bad: &[
            ("critical_warning                        : 0", "critical_warning : 0x2"),
            ("available_spare                         : 100%", "available_spare : 4%"),
            ("media_errors                            : 0", "media_errors : 7"),
        ],
    },
];

const SSACLI: &str = "
Smart Array T440 in Slot 1
   Bus Interface: PCI
   Slot: 1
   Serial Number: SV10001
   Controller Status: OK
   Cache Board Present: True
   Cache Status: OK
   Cache Ratio: 0% Read / 100% Write
   Drive Write Cache: Disabled
   Total Cache Size: 2.0 GB
   No-Battery Write Cache: Disabled
   Cache Backup Power Source: Capacitors
   Battery/Capacitor Count: 1
   Battery/Capacitor Status: OK

   Array: A
      Interface Type: SAS
      Status: OK

      Logical Drive: 1
         Size: 558.7 GB
         Fault Tolerance: 1
         Strip Size: 256 KB
         Status: OK
         Parity Initialization Status: Initialization Completed
         Caching:  Enabled
         Disk Name: /dev/sda
         Mirror Group 1:
            physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS HDD, 600 GB, OK)
         Mirror Group 2:
            physicaldrive 1I:1:2 (port 1I:box 1:bay 2, SAS HDD, 600 GB, OK)
";

const SSACLI_SHORT: &str = "
Smart Array T440 in Slot 1                (sn: SV10001)

   array A (SAS, Unused Space: 0  MB)

      logicaldrive 1 (558.9 GB, RAID 1, OK)
      physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS, 600 GB, OK)
      physicaldrive 1I:1:2 (port 1I:box 1:bay 2, SAS, 600 GB, OK)

   array B (SAS, Unused Space: 0  MB)

      logicaldrive 2 (5.7 TB, RAID 5, OK)
      physicaldrive 1I:1:3 (port 1I:box 1:bay 3, SAS, 3 TB, OK)
      physicaldrive 1I:1:4 (port 1I:box 1:bay 4, SAS, 3 TB, OK)
      physicaldrive 1I:1:5 (port 1I:box 1:bay 5, SAS, 3 TB, OK)
";

const ARCCONF: &str = "
Controllers found: 1
----------------------------------------------------------------------
Controller information
----------------------------------------------------------------------
   Controller Status                        : Optimal
   Controller Model                         : Test 71605
   Controller Serial Number                 : SV20001
   Installed memory                         : 1024 MB
   Logical devices/Failed/Degraded          : 1/0/0
   --------------------------------------------------------
   Controller ZMM Information
   --------------------------------------------------------
   Status                                   : ZMM Optimal

----------------------------------------------------------------------
Logical device information
----------------------------------------------------------------------
Logical device number 0
   RAID level                               : 10
   Status of logical device                 : Optimal
   Stripe-unit size                         : 256 KB
   Read-cache mode                          : Disabled
   Write-cache mode                         : Enabled (write-back)
   Write-cache setting                      : Enabled (write-back) when protected by battery/ZMM
   --------------------------------------------------------
   Logical device segment information
   --------------------------------------------------------
   Group 0, Segment 0                       : Present (0,0) A1
   Group 0, Segment 1                       : Present (0,1) B2

----------------------------------------------------------------------
Physical Device information
----------------------------------------------------------------------
      Device #0
         Device is a Hard drive
         State                              : Online
         Write Cache                        : Disabled (write-through)
      Device #1
         Device is a Hard drive
         State                              : Online
         Write Cache                        : Disabled (write-through)

Command completed successfully.
";

const ARCCONF_SMART: &str = "
Controllers found: 1
----------------------------------------------------------------------
Controller information
----------------------------------------------------------------------
   Controller Status                          : Optimal
   Controller Mode                            : RAID (Hide RAW)
   Controller Model                           : Test Smart 3154-16i
   --------------------------------------------------------
   Cache Properties
   --------------------------------------------------------
   Cache Status                               : Ok
   Cache memory                               : 3856 MB
   Read Cache Percentage                      : 0 percent
   Write Cache Percentage                     : 100 percent
   No-Battery Write Cache                     : Disabled
   --------------------------------------------------------
   Green Backup Information
   --------------------------------------------------------
   Backup Power Status                        : Ok
   Battery/Capacitor Pack Count               : 1
   --------------------------------------------------------
   Physical Drive Write Cache Policy Information
   --------------------------------------------------------
   Configured Drives                          : Disabled

----------------------------------------------------------------------
Logical device information
----------------------------------------------------------------------
Logical Device number 0
   Logical Device name                        : DATA
   Disk Name                                  : /dev/sdb
   RAID level                                 : 6
   Status of Logical Device                   : Optimal
   Stripe-unit size                           : 256 KB
   Caching                                    : Enabled
   --------------------------------------------------------
   Array Physical Device Information
   --------------------------------------------------------
   Device 4                                   : Present (15259648MB, SAS, HDD, Connector:1) S1
   Device 5                                   : Present (15259648MB, SAS, HDD, Connector:1) S2
   Device 6                                   : Present (15259648MB, SAS, HDD, Connector:1) S3
   Device 7                                   : Present (15259648MB, SAS, HDD, Connector:1) S4
";

const MEGACLI: &str = "
Adapter 0 -- Virtual Drive Information:
Virtual Drive: 0 (Target Id: 0)
Name                :Mail
RAID Level          : Primary-5, Secondary-0, RAID Level Qualifier-3
Size                : 2.180 TB
Sector Size         : 512
State               : Optimal
Strip Size          : 256 KB
Number Of Drives    : 5
Span Depth          : 1
Default Cache Policy: WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU
Current Cache Policy: WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU
Default Access Policy: Read/Write
Disk Cache Policy   : Disabled
Encryption Type     : None

Exit Code: 0x00

BBU status for Adapter: 0

BatteryType: iBBU
Battery State: Optimal
BBU Firmware Status:
  Charging Status              : None
  Learn Cycle Active                      : No
  Battery Pack Missing                    : No
  Battery Replacement required            : No
  Remaining Capacity Low                  : No

Exit Code: 0x00
";

const STORCLI: &str = "
CLI Version = 007.1705.0000.0000 Mar 31, 2021
Operating system = Linux 6.1
Controller = 0
Status = Success
Description = None

Basics :
======
Controller = 0
Model = Test 9460
Serial Number = SV30001

Status :
======
Controller Status = Optimal
Memory Correctable Errors = 0
Memory Uncorrectable Errors = 0
Any Offline VD Cache Preserved = No

Virtual Drives = 1

VD LIST :
=======

--------------------------------------------------------------
DG/VD TYPE  State Access Consist Cache Cac sCC     Size Name
--------------------------------------------------------------
0/3   RAID5 Optl  RW     Yes     NRWBD -   ON  1.745 TB Mail
--------------------------------------------------------------

Physical Drives = 3

PD LIST :
=======

-----------------------------------------------------------------------------
EID:Slt DID State DG       Size Intf Med SED PI SeSz Model           Sp Type
-----------------------------------------------------------------------------
32:0      0 Onln   0 893.750 GB SATA HDD N   N  512B ACME TEST 960   U  -
32:1      1 Onln   0 893.750 GB SATA HDD N   N  512B ACME TEST 960   U  -
32:2      2 Onln   0 893.750 GB SATA HDD N   N  512B ACME TEST 960   U  -
-----------------------------------------------------------------------------

Cachevault_Info :
===============

------------------------------------
Model  State   Temp Mode MfgDate
------------------------------------
CVPM02 Optimal 28C  -    2019/07/06
------------------------------------

VD3 Properties :
==============
Strip Size = 256 KB
Span Depth = 1
Number of Drives Per Span = 3
Write Cache(initial setting) = WriteBack
Disk Cache Policy = Disabled
OS Drive Name = /dev/sdb
";

const STORCLI_JSON: &str = r#"{
"Controllers": [
 {
  "Command Status": {
   "CLI Version": "008.0004.0000.0022 Apr 28, 2023",
   "Controller": "0",
   "Status": "Success",
   "Description": "None"
  },
  "Response Data": {
   "Product Name": "Test 96",
   "Serial Number": "SV40001",
   "Status": {
   "Controller Status": "OK"
   },
   "VD LIST": [
   {
   "DG/VD": "0/1",
   "TYPE": "RAID1",
   "State": "Optl",
   "CurrentCache": "NR,WB",
   "DefaultCache": "NR,WB",
   "Size": "893.137 GiB"
   }
   ],
   "PD LIST": [
   { "EID:Slt": "2:0", "State": "Conf", "Status": "Online", "DG": 0,
     "Size": "893.137 GiB", "Med": "HDD" },
   { "EID:Slt": "2:1", "State": "Conf", "Status": "Online", "DG": 0,
     "Size": "893.137 GiB", "Med": "HDD" }
   ],
   "Energy Pack Info": [
   {
   "Type": "Supercap",
   "Status": "Optimal"
   }
   ],
   "VD1 Properties": {
   "Strip Size": "256 KiB",
   "Number of Drives Per Span": 2,
   "Disk Cache Policy": "Disabled"
   }
  }
 }
]
}
"#;

const MDADM: &str = "/dev/md3:
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

const MDSTAT: &str = "Personalities : [raid1] [raid6] [raid5] [raid4]
md1 : active raid5 sdd1[3] sdc1[1] sdb1[0]
      1953258496 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/3] [UUU]
      bitmap: 0/8 pages [0KB], 65536KB chunk

md0 : active raid1 sdb1[1] sda1[0]
      976630464 blocks super 1.2 [2/2] [UU]

unused devices: <none>
";

const NVME: &str = "NVME Identify Controller:
vid       : 0x1234
sn        : SV50001
mn        : Test Flash 960
vwc       : 0x6

Smart Log for NVME device:nvme1n1 namespace-id:ffffffff
critical_warning                        : 0
temperature                             : 35 C
available_spare                         : 100%
available_spare_threshold               : 10%
percentage_used                         : 3%
media_errors                            : 0
num_err_log_entries                     : 12
";
