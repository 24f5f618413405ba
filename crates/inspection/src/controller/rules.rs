//! What the settings of a controller mean for mail stores. Sources: Microsoft's page on storage
//! options for Exchange (disks attached directly: a protected cache, 75 to 100 % of it for writes;
//! strips of 256 KiB or more; caches of disks off; RAID 5 of at most seven disks), and the practice
//! of giving all of the cache to writes. What a write cache is worth is from a published test of
//! one disk with it and without: 300 and 50 IOPS, a file of 40 GB in 8 minutes and in 4 hours.

use record::StorageFinding;
use units::Bytes;

use super::{CacheBackup, Controller, LogicalDrive, Tool, WritePolicy};
use crate::StoragePlace;
use crate::draft::{Check, mended_by};

/// Strips below this split one request over two disks.
const LEAST_STRIP_BYTES: u64 = 256 << 10;
/// A rebuild reads every other disk: more of them make the next loss likely.
const MOST_RAID5_DISKS: u32 = 7;
/// A share of the cache that reads may have at most.
const MOST_READ_PERCENT: u32 = 25;

/// What is right and wrong with a controller and its logical drives.
pub fn of_controller(controller: &Controller) -> Vec<StorageFinding> {
    let mut findings = vec![mode(controller), backup(controller)];
    findings.extend(without_backup(controller));
    findings.extend(read_share(controller));
    for drive in &controller.drives {
        let subject = controller.name_of(drive);
        findings.push(writes(controller, drive, &subject));
        findings.extend(reads_ahead(controller, drive, &subject));
        findings.push(disk_caches(controller, drive, &subject));
        findings.extend(strip(drive, &subject));
        findings.extend(level(drive, &subject));
        findings.extend(state(drive, &subject));
    }
    findings.extend(each_disk(controller));
    findings
}

impl Controller {
    fn name(&self) -> String {
        let place = match self.tool {
            Tool::Storcli | Tool::Arcconf => "controller",
            Tool::Ssacli => "slot",
        };
        format!("{place} {} ({})", self.id, self.model)
    }

    fn name_of(&self, drive: &LogicalDrive) -> String {
        let device = drive.device.as_ref().map_or_else(String::new, |name| format!(", {name}"));
        format!("{}, drive {}{device}", self.name(), drive.id)
    }

    /// The command that sets what the arguments for each tool say, on a drive.
    fn command(&self, drive: &LogicalDrive, storcli: &str, ssacli: &str, arcconf: &str) -> String {
        let (id, number) = (&self.id, &drive.id);
        match self.tool {
            Tool::Storcli => format!("storcli /c{id}/v{number} set {storcli}"),
            Tool::Ssacli => format!("ssacli ctrl slot={id} logicaldrive {number} modify {ssacli}"),
            Tool::Arcconf => format!("arcconf setcache {id} logicaldrive {number} {arcconf}"),
        }
    }
}

fn mode(controller: &Controller) -> StorageFinding {
    let draft = Check::new(("controller-mode", "Disks behind the controller"), controller.name());
    match controller.passes_disks_through {
        Some(true) => mended_by(
            draft.fail("handed through (HBA mode)", "every write waits for a disk: no cache helps"),
            "make each disk a RAID 0 of its own behind the cache, before there is data on it; \
             handing through is right for Storage Spaces only",
        ),
        _ if controller.drives.is_empty() => draft.unknown(
            "no logical drive is described",
            "disks that are handed through have no cache, and this output lists none that is not",
        ),
        _ => draft.pass("logical drives", "the controller's cache serves them"),
    }
}

fn backup(controller: &Controller) -> StorageFinding {
    let draft =
        Check::new(("cache-backup", "Battery or capacitor of the cache"), controller.name());
    match &controller.backup {
        CacheBackup::Ready => draft.pass("in order", "the cache keeps its writes without power"),
        CacheBackup::NotReady(words) => mended_by(
            draft.fail(words, "writes in the cache are lost with power, or the cache is bypassed"),
            "let it charge, or replace it, and look again",
        ),
        CacheBackup::Absent => mended_by(
            draft.fail("none", "a write cache that power empties must be off, and is no help then"),
            "add the battery or capacitor module of this controller",
        ),
        CacheBackup::Untold => draft.unknown("not told", "this output does not describe it"),
    }
}

/// Whether the cache goes on when nothing keeps it. Only a finding where that is told.
fn without_backup(controller: &Controller) -> Option<StorageFinding> {
    let name = ("cache-without-backup", "Write cache while nothing keeps it");
    let draft = Check::new(name, controller.name());
    Some(if controller.caches_without_backup? {
        let id = &controller.id;
        let remedy = match controller.tool {
            Tool::Storcli => format!("storcli /c{id}/vall set wrcache=wb"),
            Tool::Ssacli => format!("ssacli ctrl slot={id} modify nobatterywritecache=disable"),
            Tool::Arcconf => format!("arcconf setcache {id} logicaldrive all wbb"),
        };
        let reason = "acknowledged mail is lost when power fails while the battery is flat";
        mended_by(draft.fail("on", reason), remedy)
    } else {
        draft.pass("off", "without its battery the cache writes through")
    })
}

fn read_share(controller: &Controller) -> Option<StorageFinding> {
    let percent = controller.read_percent?;
    let draft = Check::new(("cache-ratio", "Share of the cache for reads"), controller.name());
    let seen = format!("{percent} % for reads, {} % for writes", 100_u32.saturating_sub(percent));
    let reason = "a mail store finds its reads in its own memory; the cache is for writes";
    let remedy = format!("ssacli ctrl slot={} modify cacheratio=0/100", controller.id);
    Some(match percent {
        0 => draft.pass(seen, reason),
        1..=MOST_READ_PERCENT => mended_by(draft.warn(seen, reason), remedy),
        _ => mended_by(draft.fail(seen, reason), remedy),
    })
}

fn writes(controller: &Controller, drive: &LogicalDrive, subject: &str) -> StorageFinding {
    let draft = Check::new(("controller-write-cache", "Write cache of the controller"), subject);
    let turn_on = controller.command(drive, "wrcache=wb", "caching=enable", "wbb");
    match (drive.writes, &controller.backup) {
        (WritePolicy::Through, _) if drive.is_flash == Some(true) => {
            draft.pass("write through", "flash behind a controller is as fast without its cache")
        }
        (WritePolicy::Through, _) => {
            let reason = "log writes wait for a disk: one made 50 IOPS so, and 300 with the cache";
            mended_by(draft.fail("write through", reason), turn_on)
        }
        (WritePolicy::BackAlways, CacheBackup::Ready) => mended_by(
            draft.warn("write back, even without battery", "the battery is in order; it may fail"),
            turn_on,
        ),
        (WritePolicy::BackAlways, _) => mended_by(
            draft.fail("write back, even without battery", "power takes acknowledged mail with it"),
            turn_on,
        ),
        (WritePolicy::Back, CacheBackup::Ready) => {
            draft.pass("write back, protected", "log writes are answered by the cache")
        }
        (WritePolicy::Back, CacheBackup::Untold) => draft.unknown(
            "write back",
            "whether something keeps the cache without power is not told: add that output",
        ),
        (WritePolicy::Back, _) => draft.fail(
            "write back is set, and nothing keeps the cache",
            "the controller writes through until its battery or capacitor is in order",
        ),
        (WritePolicy::Untold, _) => draft.unknown("not told", "the output has no policy for it"),
    }
}

fn reads_ahead(
    controller: &Controller,
    drive: &LogicalDrive,
    subject: &str,
) -> Option<StorageFinding> {
    let draft = Check::new(("controller-read-cache", "Read cache of the controller"), subject);
    Some(if drive.reads_ahead? {
        let reason = "reads of a mail store are random: reading ahead takes cache from writes";
        let remedy = controller.command(drive, "rdcache=nora", "caching=enable", "roff");
        mended_by(draft.warn("on, or reading ahead", reason), remedy)
    } else {
        draft.pass("off", "all of the cache is for writes")
    })
}

fn disk_caches(controller: &Controller, drive: &LogicalDrive, subject: &str) -> StorageFinding {
    let draft = Check::new(("disk-cache", "Caches of the disks themselves"), subject);
    match drive.disk_caches {
        Some(false) => draft.pass("off", "only the controller keeps writes, and it keeps them"),
        Some(true) => {
            let remedy = match controller.tool {
                Tool::Ssacli => format!("ssacli ctrl slot={} modify dwc=disable", controller.id),
                Tool::Storcli => controller.command(drive, "pdcache=off", "", ""),
                Tool::Arcconf => format!("arcconf setcache {} deviceall disable", controller.id),
            };
            let reason = "the controller counts as written what power takes from a disk's cache";
            mended_by(draft.fail("on", reason), remedy)
        }
        None => {
            let seen = "left to the disks, or not told";
            let unknown = draft.unknown(seen, "what a disk does by itself is not in this output");
            match controller.tool {
                Tool::Storcli => {
                    mended_by(unknown, controller.command(drive, "pdcache=off", "", ""))
                }
                Tool::Ssacli | Tool::Arcconf => unknown,
            }
        }
    }
}

fn strip(drive: &LogicalDrive, subject: &str) -> Option<StorageFinding> {
    let bytes = drive.strip_bytes?;
    let draft = Check::new(("strip-size", "Strip on each disk"), subject);
    let seen = Bytes(bytes).to_string();
    Some(if bytes < LEAST_STRIP_BYTES {
        let reason = "requests of a backup or of maintenance, 256 KiB, keep several disks busy";
        mended_by(draft.fail(seen, reason), "make the drive anew with strips of 256 KiB or 512 KiB")
    } else {
        draft.pass(seen, "one request keeps one disk busy")
    })
}

fn level(drive: &LogicalDrive, subject: &str) -> Option<StorageFinding> {
    let disks = drive.disks?;
    let digits: String = drive.level.chars().filter(char::is_ascii_digit).collect();
    let draft = Check::new(("raid-level", "RAID level"), subject);
    let seen = format!("{} of {disks} disks", drive.level);
    Some(match digits.as_str() {
        "5" if disks > MOST_RAID5_DISKS => mended_by(
            draft.fail(seen, "a second disk is likely to be lost while the first is rebuilt"),
            "use RAID 10, or RAID 5 of at most seven disks",
        ),
        "0" if disks > 1 => mended_by(
            draft.warn(seen, "any one disk takes all of the drive with it"),
            "one disk per RAID 0, and three copies or more of each database",
        ),
        "0" => draft.pass(seen, "one disk behind the cache; copies of databases are the safety"),
        _ => draft.pass(seen, "a lost disk loses no mail"),
    })
}

fn state(drive: &LogicalDrive, subject: &str) -> Option<StorageFinding> {
    let draft = Check::new(("drive-state", "State of the logical drive"), subject);
    let trouble = drive.trouble.as_ref()?;
    Some(draft.fail(trouble, "a run would measure its repair, and the next lost disk may be mail"))
}

/// Disks whose own caches are on, where each is told of.
fn each_disk(controller: &Controller) -> Option<StorageFinding> {
    let draft = Check::new(("disk-cache", "Caches of the disks themselves"), controller.name());
    let on: Vec<&str> =
        controller.disks.iter().filter(|(_, on)| *on).map(|(name, _)| name.as_str()).collect();
    if controller.disks.is_empty() {
        return None;
    }
    Some(if on.is_empty() {
        draft.pass("off on every disk", "only the controller keeps writes")
    } else {
        let reason = "the controller counts as written what power takes from a disk's cache";
        draft.fail(format!("on: {}", on.join(", ")), reason)
    })
}

/// Parts of the models under which controllers show their logical drives.
const MODELS: [&str; 10] = [
    "AVAGO",
    "Adaptec",
    "BROADCOM",
    "DELL PERC",
    "HPE LOGICAL VOLUME",
    "HP LOGICAL VOLUME",
    "LSI MR",
    "MegaRAID",
    "PRAID",
    "ServeRAID",
];

/// A tool that is installed and told nothing.
pub fn silent(tool: &str, why: &str) -> StorageFinding {
    let draft = Check::new(("controller-tool", "Tool of the controller"), tool);
    mended_by(
        draft.unknown(why, "what the controller does with writes decides log latency"),
        "run as root, or pass a saved output with --controller FILE",
    )
}

/// Disks that a controller shows while no tool has told of it.
pub fn untold(places: &[StoragePlace<'_>], is_told: bool) -> Option<StorageFinding> {
    if is_told {
        return None;
    }
    let devices = places.iter().flat_map(|place| place.devices);
    let (device, model) = devices
        .filter_map(|device| Some((device, device.facts.model.as_deref()?)))
        .find(|(_, model)| MODELS.iter().any(|part| model.contains(part)))?;
    let draft = Check::new(("controller-tool", "Tool of the controller"), &device.facts.name);
    Some(mended_by(
        draft.unknown(
            format!("{model}, a drive of a RAID controller"),
            "no tool of its maker is installed: its cache, battery and strips are not known",
        ),
        "install its tool, or pass a saved output of storcli, ssacli or arcconf: --controller FILE",
    ))
}

#[cfg(test)]
mod tests {
    use record::StorageRuling::{self, CannotJudge, Fail, Pass, Warn};

    use super::super::{CacheBackup, Controller, LogicalDrive, Tool, WritePolicy};
    use super::{of_controller, silent, untold};
    use crate::StoragePlace;
    use crate::volume::tests::{disk, volume};

    fn good() -> Controller {
        let drive = LogicalDrive {
            id: "7".to_owned(),
            level: "RAID10".to_owned(),
            strip_bytes: Some(256 << 10),
            writes: WritePolicy::Back,
            reads_ahead: Some(false),
            disk_caches: Some(false),
            disks: Some(4),
            is_flash: Some(false),
            ..LogicalDrive::default()
        };
        Controller {
            id: "0".to_owned(),
            backup: CacheBackup::Ready,
            caches_without_backup: Some(false),
            drives: vec![drive],
            ..Controller::default()
        }
    }

    /// What the check says, and its remedy, after a change.
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
        assert_eq!(findings.len(), 8);
    }

    #[test]
    fn a_write_cache_must_be_on_and_kept() {
        let says = |writes, backup: CacheBackup| {
            check("controller-write-cache", move |controller, drive| {
                (drive.writes, controller.backup) = (writes, backup.clone());
            })
        };
        assert_eq!(says(WritePolicy::Back, CacheBackup::Ready).0, Pass);
        assert_eq!(says(WritePolicy::Back, CacheBackup::Untold).0, CannotJudge);
        assert_eq!(says(WritePolicy::Back, CacheBackup::Absent).0, Fail);
        assert_eq!(says(WritePolicy::BackAlways, CacheBackup::Ready).0, Warn);
        assert_eq!(says(WritePolicy::BackAlways, CacheBackup::Untold).0, Fail);
        assert_eq!(says(WritePolicy::Untold, CacheBackup::Ready).0, CannotJudge);
        let through = says(WritePolicy::Through, CacheBackup::Ready);
        assert_eq!(through, (Fail, "storcli /c0/v7 set wrcache=wb".to_owned()));
        let flash = check("controller-write-cache", |_, drive| {
            (drive.writes, drive.is_flash) = (WritePolicy::Through, Some(true));
        });
        assert_eq!(flash.0, Pass);
    }

    #[test]
    fn remedies_are_commands_of_the_tool_that_told() {
        let through = |tool| {
            check("controller-write-cache", move |controller, drive| {
                (controller.tool, drive.writes) = (tool, WritePolicy::Through);
            })
            .1
        };
        assert_eq!(
            through(Tool::Ssacli),
            "ssacli ctrl slot=0 logicaldrive 7 modify caching=enable"
        );
        assert_eq!(through(Tool::Arcconf), "arcconf setcache 0 logicaldrive 7 wbb");
    }

    #[test]
    fn reads_get_little_or_none_of_the_cache() {
        let share = |percent| check("cache-ratio", move |of, _| of.read_percent = Some(percent)).0;
        assert_eq!([share(0), share(10), share(25), share(50)], [Pass, Warn, Warn, Fail]);
        assert_eq!(check("controller-read-cache", |_, of| of.reads_ahead = Some(true)).0, Warn);
    }

    #[test]
    fn caches_of_disks_are_off() {
        let (outcome, remedy) = check("disk-cache", |_, of| of.disk_caches = Some(true));
        assert_eq!((outcome, remedy.as_str()), (Fail, "storcli /c0/v7 set pdcache=off"));
        assert_eq!(check("disk-cache", |_, of| of.disk_caches = None).0, CannotJudge);
        let findings = of_controller(&Controller {
            disks: vec![("device 0".to_owned(), true), ("device 1".to_owned(), false)],
            ..good()
        });
        let last = findings.last().unwrap();
        assert_eq!((last.outcome, last.seen.as_str()), (Fail, "on: device 0"));
    }

    #[test]
    fn strips_levels_batteries_modes_and_states_are_judged() {
        assert_eq!(check("strip-size", |_, of| of.strip_bytes = Some(64 << 10)).0, Fail);
        let level = |level: &'static str, disks| {
            check("raid-level", move |_, of| {
                (of.level, of.disks) = (level.to_owned(), Some(disks));
            })
            .0
        };
        assert_eq!([level("RAID5", 7), level("RAID5", 8), level("RAID 5", 8)], [Pass, Fail, Fail]);
        assert_eq!([level("RAID0", 1), level("RAID0", 2), level("RAID50", 12)], [Pass, Warn, Pass]);
        let failed = CacheBackup::NotReady("Failed".to_owned());
        assert_eq!(check("cache-backup", |of, _| of.backup = failed.clone()).0, Fail);
        assert_eq!(check("cache-backup", |of, _| of.backup = CacheBackup::Absent).0, Fail);
        assert_eq!(check("cache-backup", |of, _| of.backup = CacheBackup::Untold).0, CannotJudge);
        assert_eq!(
            check("cache-without-backup", |of, _| of.caches_without_backup = Some(true)).0,
            Fail
        );
        assert_eq!(check("controller-mode", |of, _| of.passes_disks_through = Some(true)).0, Fail);
        assert_eq!(check("drive-state", |_, of| of.trouble = Some("degraded".to_owned())).0, Fail);
        let findings = of_controller(&Controller { drives: Vec::new(), ..good() });
        assert_eq!(findings[0].outcome, CannotJudge);
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
}
