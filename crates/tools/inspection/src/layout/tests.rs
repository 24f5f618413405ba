//! Checks that a server built as planned has nothing to fix, and that every single deviation is
//! found.

use std::collections::BTreeMap;

use device_os::probe::Platform;
use record::{StorageFinding, StorageRuling};
use serde_json::{Value, json};

use super::{LayoutLook, LayoutPlan, LayoutPlanError, LayoutRoots, SeenFolder, SeenVolume};

const TIB: u64 = 1 << 40;

fn volume(name: &str, purpose: &str, databases: &[&str]) -> Value {
    let bytes: u64 = 4 * TIB;
    json!({ "name": name, "disk": 1, "bytes": bytes, "for": purpose, "databases": databases })
}

/// An answer of `plan`: two identical servers, two volumes with two databases each, and a spare.
fn answer() -> Value {
    let volumes = json!([
        volume("ExVol01", "databases", &["DB01", "DB02"]),
        volume("ExVol02", "databases", &["DB03", "DB04"]),
        volume("ExVol03", "spare", &[]),
    ]);
    let servers = ["EX01", "EX02"]
        .map(|name| json!({ "name": name, "site": 1, "only_lagged": false, "volumes": volumes }));
    json!({
        "kind": "provision",
        "file_system": "ReFS",
        "disks": [{ "site": 1, "only_lagged": false, "pools": [] }],
        "groups": [{ "name": "DAG01", "servers": servers }],
    })
}

fn plan() -> LayoutPlan {
    LayoutPlan::of(&answer(), Some("ex01"), "").unwrap()
}

/// Paths as `AutoReseed` needs them, or folders directly on the volumes.
fn roots(reseeds: bool) -> LayoutRoots {
    LayoutRoots {
        volumes: "/vol".to_owned(),
        databases: reseeds.then(|| "/db".to_owned()),
        restore: None,
        platform: Platform::Linux,
    }
}

/// A folder of the volume that is mounted at `mount_point`.
fn folder(path: &str, mount_point: &str, number: u64, names: &[&str]) -> SeenFolder {
    SeenFolder {
        volume: SeenVolume {
            number,
            is_mounted_here: path == mount_point,
            mount_point: mount_point.to_owned(),
            file_system: "xfs".to_owned(),
            total_bytes: 4 * TIB - TIB / 50,
            disk: Some(format!("sd{number}")),
        },
        names: names.iter().map(|&name| name.to_owned()).collect(),
    }
}

type Seen = BTreeMap<String, SeenFolder>;

/// Everything as planned.
fn good(reseeds: bool) -> Seen {
    let mut seen = Seen::new();
    let mut add = |path: &str, mount: &str, number, names: &[&str]| {
        seen.insert(path.to_owned(), folder(path, mount, number, names));
    };
    add("/vol", "/", 0, &["ExVol01", "ExVol02", "ExVol03"]);
    add("/vol/ExVol01", "/vol/ExVol01", 1, &["DB01", "DB02"]);
    add("/vol/ExVol02", "/vol/ExVol02", 2, &["DB03", "DB04"]);
    add("/vol/ExVol03", "/vol/ExVol03", 3, &["lost+found"]);
    add("/db", "/", 0, &["DB01", "DB02", "DB03", "DB04"]);
    for (database, number) in [("DB01", 1), ("DB02", 1), ("DB03", 2), ("DB04", 2)] {
        let (volume, mount) = (format!("/vol/ExVol0{number}"), format!("/db/{database}"));
        add(&format!("{volume}/{database}"), &volume, number, &[]);
        if reseeds {
            add(&mount, &mount, number, &[]);
            add(&format!("{mount}/{database}.db"), &mount, number, &[]);
            add(&format!("{mount}/{database}.log"), &mount, number, &[]);
        }
    }
    seen
}

fn findings(reseeds: bool, seen: &Seen) -> Vec<StorageFinding> {
    LayoutLook { plan: &plan(), roots: &roots(reseeds), seen }.findings()
}

/// The only finding that did not pass.
fn wrong(reseeds: bool, change: impl Fn(&mut Seen)) -> StorageFinding {
    let mut seen = good(reseeds);
    change(&mut seen);
    let mut wrong = findings(reseeds, &seen);
    wrong.retain(|finding| finding.outcome != StorageRuling::Pass);
    assert_eq!(wrong.len(), 1, "{wrong:#?}");
    wrong.remove(0)
}

fn at<'a>(seen: &'a mut Seen, path: &str) -> &'a mut SeenFolder {
    seen.get_mut(path).unwrap()
}

#[test]
fn a_server_as_planned_passes_in_both_forms() {
    for reseeds in [false, true] {
        let found = findings(reseeds, &good(reseeds));
        let passes = found.iter().filter(|of| of.outcome == StorageRuling::Pass).count();
        assert_eq!((passes, found.len() > 15), (found.len(), true), "{found:#?}");
        let places = roots(reseeds).places(&plan());
        assert!(places.iter().all(|place| good(reseeds).contains_key(place)), "{places:?}");
    }
}

#[test]
fn every_way_of_not_being_as_planned_is_found_with_what_mends_it() {
    let missing = wrong(false, |seen| _ = seen.remove("/vol/ExVol02"));
    assert_eq!(missing.check, "layout-volume");
    let remedy = "mkdir -p '/vol/ExVol02' && mount LABEL='ExVol02' '/vol/ExVol02'";
    assert_eq!(missing.remedy.as_deref(), Some(remedy));

    let unmounted = wrong(false, |seen| {
        at(seen, "/vol/ExVol02").volume =
            SeenVolume { is_mounted_here: false, ..folder("", "/", 0, &[]).volume };
    });
    assert_eq!(
        (unmounted.check.as_str(), unmounted.outcome),
        ("layout-volume", StorageRuling::Fail)
    );
    assert!(unmounted.seen.contains("folder of the volume at /"), "{unmounted:?}");

    let small = wrong(false, |seen| at(seen, "/vol/ExVol01").volume.total_bytes = 3 * TIB);
    assert_eq!(small.check, "layout-size");
    let other = wrong(false, |seen| at(seen, "/vol/ExVol01").volume.file_system = "btrfs".into());
    assert_eq!(
        (other.check.as_str(), other.seen.as_str()),
        ("layout-file-system", "btrfs, planned XFS")
    );

    let same_disk = wrong(false, |seen| at(seen, "/vol/ExVol02").volume.disk = Some("sd1".into()));
    assert_eq!(
        (same_disk.check.as_str(), same_disk.seen.as_str()),
        ("layout-disks", "sd1 has ExVol01 and ExVol02")
    );
    let untold = wrong(false, |seen| at(seen, "/vol/ExVol02").volume.disk = None);
    assert_eq!(
        (untold.check.as_str(), untold.outcome),
        ("layout-disks", StorageRuling::CannotJudge)
    );

    let no_folder = wrong(false, |seen| _ = seen.remove("/vol/ExVol01/DB02"));
    assert_eq!(no_folder.remedy.as_deref(), Some("mkdir -p '/vol/ExVol01/DB02'"));
    let stranger = wrong(false, |seen| at(seen, "/vol/ExVol01").names.push("DB03".into()));
    assert_eq!(
        (stranger.check.as_str(), stranger.seen.as_str()),
        ("layout-copies", "DB03 (belongs on ExVol02)")
    );

    let used = wrong(false, |seen| at(seen, "/vol/ExVol03").names.push("mail.pst".into()));
    assert_eq!((used.check.as_str(), used.seen.as_str()), ("layout-spare", "holds mail.pst"));
    let beside = wrong(true, |seen| {
        at(seen, "/vol").names.push("Backup".into());
        seen.insert("/vol/Backup".into(), folder("/vol/Backup", "/vol/Backup", 9, &[]));
    });
    assert_eq!((beside.check.as_str(), beside.outcome), ("layout-unplanned", StorageRuling::Warn));
}

#[test]
fn two_places_that_are_one_volume_are_found() {
    let mut seen = good(false);
    at(&mut seen, "/vol/ExVol03").volume.number = 2;
    let found = findings(false, &seen);
    let apart = found.iter().find(|of| of.check == "layout-volumes-apart").unwrap();
    assert_eq!((apart.outcome, apart.seen.as_str()), (StorageRuling::Fail, "ExVol02 and ExVol03"));
}

#[test]
fn what_reseeding_needs_is_looked_for() {
    let not_mounted = wrong(true, |seen| _ = seen.remove("/db/DB04"));
    let remedy = "mkdir -p '/db/DB04' && mount --bind '/vol/ExVol02' '/db/DB04'";
    assert_eq!(not_mounted.remedy.as_deref(), Some(remedy));
    let no_log = wrong(true, |seen| _ = seen.remove("/db/DB01/DB01.log"));
    assert_eq!(no_log.remedy.as_deref(), Some("mkdir -p '/db/DB01/DB01.log'"));
    let elsewhere = wrong(true, |seen| at(seen, "/db/DB01/DB01.log").volume.number = 7);
    assert_eq!((elsewhere.check.as_str(), elsewhere.subject.as_str()), ("layout-database", "DB01"));
    // A spare with a database mounted from it is no longer a spare.
    let mut seen = good(true);
    at(&mut seen, "/db").names.push("DB99".into());
    seen.insert("/db/DB99".into(), folder("/db/DB99", "/db/DB99", 3, &[]));
    let found = findings(true, &seen);
    let spare = found.iter().find(|of| of.check == "layout-spare").unwrap();
    assert_eq!((spare.outcome, spare.seen.as_str()), (StorageRuling::Fail, "is mounted for DB99"));
}

#[test]
fn a_plan_without_spares_or_with_logs_apart_does_not_reseed() {
    for (purpose, outcome) in [("restore", StorageRuling::Warn), ("logs", StorageRuling::Fail)] {
        let mut answer = answer();
        answer["groups"][0]["servers"][0]["volumes"][2]["for"] = purpose.into();
        let plan = LayoutPlan::of(&answer, Some("EX01"), "").unwrap();
        let seen = good(true);
        let found = LayoutLook { plan: &plan, roots: &roots(true), seen: &seen }.findings();
        let reseed = found.iter().find(|of| of.check == "layout-reseed").unwrap();
        assert_eq!(reseed.outcome, outcome, "{purpose}");
    }
}

#[test]
fn commands_of_windows_quote_as_its_shell_does() {
    let roots = LayoutRoots {
        volumes: r"C:\ExchangeVolumes".to_owned(),
        platform: Platform::Windows,
        ..roots(false)
    };
    let path = roots.inside(&roots.volumes, "Bob's");
    let wanted = r"New-Item -ItemType Directory -Force -Path 'C:\ExchangeVolumes\Bob''s'; \
                   Get-Volume -FileSystemLabel 'Bob''s' | Get-Partition | \
                   Add-PartitionAccessPath -AccessPath 'C:\ExchangeVolumes\Bob''s'";
    let wanted: Vec<&str> = wanted.split_whitespace().filter(|word| *word != r"\").collect();
    assert_eq!(roots.mount("Bob's", &path).split_whitespace().collect::<Vec<_>>(), wanted);
}

#[test]
fn the_server_is_the_named_one_this_machine_or_the_only_one() {
    let of = |answer: &Value, asked, machine| LayoutPlan::of(answer, asked, machine);
    assert_eq!(of(&answer(), None, "ex02").unwrap().server, "EX02");
    let several = of(&answer(), None, "elsewhere").unwrap_err();
    assert!(several.to_string().contains("--server with one of EX01, EX02"), "{several}");
    let unknown = of(&answer(), Some("EX9"), "EX01").unwrap_err();
    assert_eq!(unknown.to_string(), "has no server EX9; name one of EX01, EX02");
    let mut one = answer();
    one["groups"][0]["servers"].as_array_mut().unwrap().pop();
    assert_eq!(of(&one, None, "elsewhere").unwrap().server, "EX01");
    for (value, lacks) in [
        (json!({ "kind": "space" }), "kind `provision`"),
        (json!({ "kind": "provision" }), "groups"),
    ] {
        assert_eq!(of(&value, None, ""), Err(LayoutPlanError::NotAPlan(lacks)));
    }
}
