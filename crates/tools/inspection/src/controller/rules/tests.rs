use record::StorageRuling::{self, CannotJudge, Fail, Pass, Warn};

use super::super::known::KnownFact;
use super::super::{
    CacheBackup, Controller, DiskCaches, Health, LogicalDrive, PhysicalDisk, Tool, UnreadLine,
    WritePolicy,
};
use super::{leaves_open, not_understood, of_controller, silent, untold};
use crate::StoragePlace;
use crate::volume::tests::{disk, volume};

fn told<T: PartialEq>(value: T) -> KnownFact<T> {
    let mut known = KnownFact::default();
    known.learn(value);
    known
}

fn odd<T: PartialEq>() -> KnownFact<T> {
    let mut known = KnownFact::default();
    known.learn_words("Ripe", None);
    known
}

fn good() -> Controller {
    let drive = LogicalDrive {
        id: "7".to_owned(),
        level: told("RAID10".to_owned()),
        strip_bytes: told(256 << 10),
        writes: told(WritePolicy::Back),
        reads_ahead: told(false),
        disk_caches: told(DiskCaches::Off),
        disks: told(4),
        is_flash: told(false),
        state: told(Health::Ok),
        ..LogicalDrive::default()
    };
    Controller {
        backup: told(CacheBackup::Ready),
        caches_without_backup: told(false),
        drives: vec![drive],
        ..Controller::new(Tool::Storcli, Some("0"))
    }
}

/// Outcome and remedy of the check after a change.
fn check(
    name: &str,
    change: impl Fn(&mut Controller, &mut LogicalDrive),
) -> (StorageRuling, String) {
    let mut controller = good();
    let mut drive = controller.drives.remove(0);
    change(&mut controller, &mut drive);
    controller.drives.push(drive);
    let findings = of_controller(&controller);
    let found = findings.into_iter().find(|finding| finding.check == name).unwrap();
    (found.outcome, found.remedy.unwrap_or_default())
}

#[test]
fn a_controller_as_it_should_be_passes_everything() {
    let findings = of_controller(&good());
    assert!(findings.iter().all(|finding| finding.outcome == Pass), "{findings:#?}");
    assert_eq!(findings.len(), 9);
    assert!(!findings.iter().any(leaves_open));
}

#[test]
fn a_write_cache_must_be_on_and_kept() {
    let says = |writes, backup: CacheBackup| {
        check("controller-write-cache", move |controller, drive| {
            (drive.writes, controller.backup) = (told(writes), told(backup.clone()));
        })
    };
    let without = |writes| {
        check("controller-write-cache", move |controller, drive| {
            (drive.writes, controller.backup) = (told(writes), KnownFact::default());
        })
    };
    assert_eq!(says(WritePolicy::Back, CacheBackup::Ready).0, Pass);
    assert_eq!(without(WritePolicy::Back).0, CannotJudge);
    assert_eq!(says(WritePolicy::Back, CacheBackup::Absent).0, Fail);
    assert_eq!(says(WritePolicy::BackAlways, CacheBackup::Ready).0, Warn);
    assert_eq!(without(WritePolicy::BackAlways).0, Fail);
    assert_eq!(says(WritePolicy::BackPerhapsAlways, CacheBackup::Ready).0, CannotJudge);
    let through = says(WritePolicy::Through, CacheBackup::Ready);
    assert_eq!(through, (Fail, "storcli /c0/v7 set wrcache=wb".to_owned()));
    let flash = check("controller-write-cache", |_, drive| {
        (drive.writes, drive.is_flash) = (told(WritePolicy::Through), told(true));
    });
    assert_eq!(flash.0, Pass);
}

/// Configured as write back but writing through: the controller has fallen back, on flash as well.
#[test]
fn a_controller_that_has_fallen_back_fails() {
    for is_flash in [false, true] {
        let (outcome, remedy) = check("controller-write-cache", |_, drive| {
            (drive.writes, drive.is_flash) = (told(WritePolicy::Through), told(is_flash));
            drive.writes_set = told(WritePolicy::Back);
        });
        assert_eq!(outcome, Fail);
        assert!(remedy.contains("/c0/cv show all"), "{remedy}");
    }
    let unset = check("controller-write-cache", |controller, drive| {
        (drive.writes, drive.is_flash) = (told(WritePolicy::Through), told(true));
        controller.backup = KnownFact::default();
    });
    assert_eq!(unset.0, CannotJudge, "flash, and no word on whether it has fallen back");
}

#[test]
fn a_cache_that_is_off_fails_whatever_the_battery_says() {
    let says = |cache: KnownFact<Health>| {
        check("controller-write-cache", move |controller, _| {
            (controller.cache, controller.tells_cache) = (cache.clone(), true);
        })
        .0
    };
    assert_eq!(says(told(Health::Ok)), Pass);
    assert_eq!(says(told(Health::Bad("Permanently Disabled".to_owned()))), Fail);
    assert_eq!([says(KnownFact::default()), says(odd())], [CannotJudge, CannotJudge]);
}

/// Each fact of a rule in words that are not understood.
#[test]
fn no_rule_passes_on_words_that_are_not_understood() {
    let backup = check("cache-backup", |of, _| of.backup = odd());
    let writes = check("controller-write-cache", |_, of| of.writes = odd());
    let kept = check("controller-write-cache", |of, _| of.backup = odd());
    let without = check("cache-without-backup", |of, _| of.caches_without_backup = odd());
    let mode = check("controller-mode", |of, _| of.passes_disks_through = odd());
    let reads = check("controller-read-cache", |_, of| of.reads_ahead = odd());
    let caches = check("disk-cache", |_, of| of.disk_caches = odd());
    let strip = check("strip-size", |_, of| of.strip_bytes = odd());
    let level = check("raid-level", |_, of| of.level = odd());
    let disks = check("raid-level", |_, of| of.disks = odd());
    let state = check("drive-state", |_, of| of.state = odd());
    let own = check("controller-status", |of, _| of.status = odd());
    let share = check("cache-ratio", |of, _| of.read_percent = odd());
    let all = [
        backup, writes, kept, without, mode, reads, caches, strip, level, disks, state, own, share,
    ];
    assert!(all.iter().all(|(outcome, _)| *outcome == CannotJudge), "{all:?}");
    // Lesser checks do not leave the answer open, so a separate finding names the output.
    for change in [
        |of: &mut LogicalDrive| of.strip_bytes = odd(),
        |of: &mut LogicalDrive| of.disk_caches = odd(),
        |of: &mut LogicalDrive| of.level.learn("RAID6".to_owned()),
    ] {
        let mut controller = good();
        change(&mut controller.drives[0]);
        let findings = of_controller(&controller);
        assert!(findings.iter().any(leaves_open), "{findings:#?}");
    }
}

#[test]
fn remedies_are_commands_of_the_tool_that_told() {
    let through = |tool| {
        check("controller-write-cache", move |controller, drive| {
            (controller.tool, drive.writes) = (tool, told(WritePolicy::Through));
        })
        .1
    };
    assert_eq!(through(Tool::Ssacli), "ssacli ctrl slot=0 logicaldrive 7 modify caching=enable");
    assert_eq!(through(Tool::Arcconf), "arcconf setcache 0 logicaldrive 7 wbb");
    assert_eq!(through(Tool::Megacli), "MegaCli64 -LDSetProp WB -L7 -a0");
    assert_eq!(through(Tool::Storcli2), "storcli2 /c0/v7 set wrcache=wb");
    let unnumbered = check("controller-write-cache", |controller, drive| {
        (controller.tool, controller.id) = (Tool::Arcconf, None);
        drive.writes = told(WritePolicy::Through);
    });
    assert_eq!(unnumbered.1, "arcconf setcache N logicaldrive 7 wbb");
}

#[test]
fn reads_get_little_or_none_of_the_cache() {
    let share = |percent| check("cache-ratio", move |of, _| of.read_percent = told(percent)).0;
    assert_eq!([share(0), share(10), share(25), share(50)], [Pass, Warn, Warn, Fail]);
    assert_eq!(check("controller-read-cache", |_, of| of.reads_ahead = told(true)).0, Warn);
}

#[test]
fn caches_of_disks_are_off() {
    use DiskCaches::{Off, On};

    let (outcome, remedy) = check("disk-cache", |_, of| of.disk_caches = told(DiskCaches::On));
    assert_eq!((outcome, remedy.as_str()), (Fail, "storcli /c0/v7 set pdcache=off"));
    for none in [KnownFact::default(), told(DiskCaches::LeftToDisks)] {
        assert_eq!(check("disk-cache", |_, of| of.disk_caches = none.clone()).0, CannotJudge);
    }
    let each = |on: &[DiskCaches]| {
        let disk = |(at, cache): (usize, &DiskCaches)| PhysicalDisk {
            name: format!("device {at}"),
            cache: told(*cache),
            ..PhysicalDisk::default()
        };
        let disks = on.iter().enumerate().map(disk).collect();
        let findings = of_controller(&Controller { disks, ..good() });
        let found = findings.into_iter().rev().find(|of| of.check == "disk-cache").unwrap();
        (found.outcome, found.seen)
    };
    assert_eq!(each(&[On, Off, Off, Off]), (Fail, "on: device 0".to_owned()));
    assert_eq!(each(&[Off, Off, Off, Off]).0, Pass);
    assert_eq!(each(&[Off, Off, Off]).0, CannotJudge, "one of four is not described");
}

#[test]
fn strips_levels_batteries_modes_and_states_are_judged() {
    assert_eq!(check("strip-size", |_, of| of.strip_bytes = told(64 << 10)).0, Fail);
    let level = |level: &'static str, disks| {
        check("raid-level", move |_, of| {
            (of.level, of.disks) = (told(level.to_owned()), told(disks));
        })
        .0
    };
    assert_eq!([level("RAID5", 7), level("RAID5", 8), level("RAID 5", 8)], [Pass, Fail, Fail]);
    assert_eq!([level("RAID0", 1), level("RAID0", 2), level("RAID50", 12)], [Pass, Warn, Pass]);
    let failed = CacheBackup::NotReady("Failed".to_owned());
    assert_eq!(check("cache-backup", |of, _| of.backup = told(failed.clone())).0, Fail);
    assert_eq!(check("cache-backup", |of, _| of.backup = told(CacheBackup::Absent)).0, Fail);
    assert_eq!(check("cache-backup", |of, _| of.backup = KnownFact::default()).0, CannotJudge);
    assert_eq!(
        check("cache-without-backup", |of, _| of.caches_without_backup = told(true)).0,
        Fail
    );
    assert_eq!(check("controller-mode", |of, _| of.passes_disks_through = told(true)).0, Fail);
    let bad = Health::Bad("degraded".to_owned());
    assert_eq!(check("drive-state", |_, of| of.state = told(bad.clone())).0, Fail);
    assert_eq!(check("controller-status", |of, _| of.status = told(bad.clone())).0, Fail);
    assert_eq!(check("array-state", |of, _| of.arrays = told(bad.clone())).0, Fail);
    let findings = of_controller(&Controller { drives: Vec::new(), ..good() });
    assert_eq!(findings[0].outcome, CannotJudge);
}

#[test]
fn gaps_and_lines_that_were_not_understood_leave_the_answer_open() {
    let gap = Controller { gaps: vec!["drive 7 has no Strip Size".to_owned()], ..good() };
    let findings = of_controller(&gap);
    let open = findings.iter().filter(|finding| leaves_open(finding));
    let checks: Vec<&str> = open.map(|finding| finding.check.as_str()).collect();
    let of_several = ["cache-backup", "controller-write-cache", "drive-state"];
    assert_eq!(checks, [&of_several[..], &["controller-output"]].concat());
    assert_eq!(not_understood("file", &[]), None);
    let line = UnreadLine { number: 3, text: "x".repeat(200) };
    let found = not_understood("file", &[line]).unwrap();
    assert!(leaves_open(&found) && found.seen.starts_with("1 line was not understood: line 3:"));
}

#[test]
fn a_controller_that_no_tool_told_of_is_not_passed_over() {
    let volume = volume();
    let mut devices = [disk("sda")];
    let look = |devices: &[_], is_told| {
        untold(&[StoragePlace { name: "/mail", volume: &volume, devices }], is_told)
    };
    assert_eq!(look(&devices, false), None);
    devices[0].facts.model = Some("BROADCOM MR9560-16i".to_owned());
    assert_eq!(look(&devices, false).map(|found| found.outcome), Some(CannotJudge));
    assert_eq!(look(&devices, true), None);
    assert_eq!(silent("storcli", "needs root").outcome, CannotJudge);
}
