//! SSDs for `MetaCache` databases: how many, how large, whose copies, and what forbids them.

use std::collections::BTreeMap;

use crate::size;
use crate::{Provision, Purpose, Requirements, provision};
use plan::Deployment;
use sizing::{Key, Severity, Sizing};

/// Values for the figures that were never published for Exchange 2019.
const FIGURES: &str = "[figures]\nactive_megacycles_per_message = 0.0597\n\
                       client_access_share = 0.5\nclient_access_part = 0.3\n\
                       cache_mb_per_message = 0.048\ncontent_index_memory_gb = 0\n\
                       content_index_bytes_per_active_item = 0\n\
                       content_index_bytes_per_passive_item = 0\nbaseline_spec_per_core = 33.75\n\
                       baseline_megacycles_per_core = 2000\n";

/// Four servers with 18 copies each, three on a disk of 4 TB: six disks, or 24 TB, per server.
fn with(more: &str) -> (Deployment, Sizing) {
    let text = format!(
        "product = \"2019\"\n[[tier]]\nmailboxes = 4000\nmessages_per_day = 100\n\
         size_limit = \"2GiB\"\n[availability]\nservers_per_site = 4\ncopies = 3\n[data]\n\
         databases = 24\n{FIGURES}{more}"
    );
    let deployment = Deployment::parse("d.toml", &text).unwrap_or_else(|why| panic!("{why}"));
    let sizing = size(&deployment);
    (deployment, sizing)
}

fn built((deployment, sizing): &(Deployment, Sizing)) -> Provision {
    let needs = Requirements::of(deployment, &sizing.sheet, sizing.architecture).expect("a layout");
    provision(needs).expect("names")
}

/// Severity and text of each finding under `key`.
fn found(sizing: &Sizing, key: Key) -> Vec<(Severity, &str)> {
    let found = sizing.findings.iter().filter(|finding| finding.key == key);
    found.map(|finding| (finding.severity, finding.text.as_str())).collect()
}

#[test]
fn one_ssd_for_three_disks_and_a_part_of_it_for_each_copy() {
    let (_, sizing) = with("[metacache]\nssd_size = \"960GB\"\n");
    let expected = [
        (Key::MetaCacheDisksPerServer, 6.0),
        (Key::MetaCacheDiskGbPerServer, 24_000.0),
        (Key::MetaCacheSsdsPerServer, 2.0),
        (Key::MetaCacheSsdShare, 0.08),
        (Key::MetaCacheLeastSsdGb, 600.0),
        (Key::MetaCacheCopiesPerServer, 18.0),
        (Key::MetaCacheGbPerCopy, 0.95 * 1920.0 * 1e9 / f64::from(1 << 30) / 18.0),
        (Key::MetaCacheSsdsAll, 8.0),
    ];
    for (key, value) in expected {
        let found = sizing.number(key).expect("a number");
        assert!((found - value).abs() < 1e-9 * value, "{key}: {found}, not {value}");
        let fact = sizing.sheet.fact(key).expect("a fact");
        assert!(!fact.formula.is_empty() && !fact.source.is_empty(), "{key}");
    }
    let source = &sizing.sheet.fact(Key::MetaCacheSsdsPerServer).unwrap().source;
    assert!(source.starts_with("S-MCDB"), "{source}");
    assert!(sizing.is_workable(), "{:?}", sizing.findings);
}

/// The effect of the cache on disks, memory and processors is unknown, so nothing else in a sizing
/// changes.
#[test]
fn everything_else_stays_as_it_is() {
    let facts = |more| {
        let (_, sizing) = with(more);
        let facts = sizing.sheet.facts().iter().cloned();
        let facts = facts.map(|fact| (fact.key.name().into_owned(), fact));
        facts.collect::<BTreeMap<_, _>>()
    };
    let (without, mut with) = (facts(""), facts("[metacache]\nssd_size = \"960GB\"\n"));
    let added = |name: &String| name.starts_with("mcdb.") || name.starts_with("metacache.");
    assert_eq!(with.keys().filter(|name| added(name)).count(), 10);
    with.retain(|name, _| !added(name));
    assert_eq!(with, without);
}

#[test]
fn ssds_that_are_too_small_forbid_the_design() {
    let (_, sizing) = with("[metacache]\nssd_size = \"480GB\"\n");
    let said = "the SSDs of a server have 4 % of the capacity of its databases' disks and \
                need 5 %: each 600 GB or more";
    let expected = [(Severity::Violation, said)];
    assert_eq!(found(&sizing, Key::MetaCacheSsdShare), expected);
    assert!(!sizing.is_workable());
    for (size, percent) in [("600GB", 5), ("1.44TB", 12)] {
        let more = format!("[metacache]\nssd_size = \"{size}\"\ncapacity_percent = {percent}\n");
        let (_, sizing) = with(&more);
        assert_eq!(found(&sizing, Key::MetaCacheSsdShare), [], "{size}");
    }
    let (_, sizing) = with("[metacache]\nssd_size = \"1.92TB\"\n");
    let [(Severity::Remark, said)] = found(&sizing, Key::MetaCacheSsdShare)[..] else {
        panic!("{:?}", sizing.findings);
    };
    assert!(said.contains("have 16 %"), "{said}");
}

#[test]
fn fewer_ssds_than_one_for_three_disks_are_a_warning() {
    let (_, sizing) = with("[metacache]\nssd_size = \"1.92TB\"\nssds_per_server = 1\n");
    let [(Severity::Warning, said)] = found(&sizing, Key::MetaCacheSsdsPerServer)[..] else {
        panic!("{:?}", sizing.findings);
    };
    assert!(said.contains("an SSD for every 6 disks"), "{said}");
    assert!(sizing.is_workable());
}

/// The product rebuilds caches only by `AutoReseed`, which needs spare volumes.
#[test]
fn without_spare_volumes_there_are_no_caches() {
    let metacache = "[metacache]\nssd_size = \"960GB\"\n";
    for storage in ["autoreseed_volumes = 0", "build = \"raid\"", "consider_jbod = false"] {
        let text = format!("[storage]\n{storage}\n{metacache}");
        let (deployment, sizing) = with(&text);
        let spares = built(&(deployment, sizing.clone())).needs.spare_volumes.first;
        assert_eq!(spares, 0, "{storage}");
        let said = sizing.findings.iter().any(|finding| {
            finding.severity == Severity::Violation && finding.text.contains("need AutoReseed")
        });
        assert!(said, "{storage}: {:?}", sizing.findings);
        assert!(sizing.sheet.facts().iter().all(|fact| match fact.value {
            sizing::Value::Number(value) => value.is_finite(),
            sizing::Value::Decision(_) => true,
        }));
    }
}

/// All servers of a group have the same SSDs: as many as the one with most disks needs.
#[test]
fn the_fullest_server_decides() {
    let (_, sizing) = with(
        "[metacache]\nssd_size = \"1.92TB\"\n[second_site]\nmodel = \"active/passive\"\n\
         copies = 1\n[second_site.disks]\ndatabase = { size = \"16TB\" }\n\
         [storage]\nbuild = \"jbod\"\n",
    );
    let disks = |key| sizing.number(key).expect("a number");
    let first = disks(Key::VolumeDbVolumes(sizing::ServerKind::First)).ceil();
    let second = disks(Key::VolumeDbVolumes(sizing::ServerKind::Second)).ceil();
    let most = disks(Key::MetaCacheDisksPerServer);
    assert!((most - first.max(second)).abs() < 1e-9, "{first} and {second}, not {most}");
    let capacity = disks(Key::MetaCacheDiskGbPerServer);
    assert!((capacity - (first * 4000.0).max(second * 16_000.0)).abs() < 1e-6, "{capacity}");
}

#[test]
fn every_copy_has_its_cache_on_one_ssd_behind_the_disks() {
    let provision = built(&with("[metacache]\nssd_size = \"960GB\"\n"));
    for server in provision.groups.iter().flat_map(|group| &group.servers) {
        let mut copies: Vec<&str> = server.databases().map(|(name, _)| name).collect();
        let ssds = &server.metacache;
        let cached = ssds.iter().flat_map(|ssd| &ssd.databases);
        let mut cached: Vec<&str> = cached.map(String::as_str).collect();
        copies.sort_unstable();
        cached.sort_unstable();
        assert_eq!((cached.len(), cached), (18, copies));
        let last = server.volumes.iter().map(|volume| volume.disk).max();
        let disks: Vec<usize> = ssds.iter().map(|ssd| ssd.disk).collect();
        let last = last.expect("disks");
        assert_eq!(disks, [last + 1, last + 2]);
        assert!(ssds.iter().all(|ssd| ssd.purpose == Purpose::MetaCache));
        // A failed SSD affects the copies on three disks, and no others.
        for volume in &server.volumes {
            let mut holders = ssds.iter().filter(|ssd| {
                let mut databases = volume.databases.iter();
                databases.any(|name| ssd.databases.contains(name))
            });
            let _ = holders.next();
            assert_eq!(holders.next(), None, "{}", volume.name);
        }
    }
    let text = provision.to_markdown();
    assert!(text.contains("2 empty SSDs of "), "{text}");
    assert!(text.contains("C:\\ExchangeMetaCacheDbs\\DATABASE"), "{text}");
    assert!(text.contains("| MCDBVol01 | "), "{text}");
}
