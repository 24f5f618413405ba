//! Exports compared with the published ones, and with names that try to break out of their quotes.

mod powershell;

use super::{Kind, export, fleet};
use crate::pool::Pool;
use crate::tests::{every, two_sites};
use crate::{MetaCacheDisks, Provision, Purpose, TestPlan, provision};
use plan::deployment::Raid;
use units::Bytes;

fn small() -> Provision {
    provision(two_sites(2, 4)).unwrap()
}

fn text(provision: &Provision, kind: Kind, name: &str) -> String {
    let documents = export(provision, kind);
    let found = documents.into_iter().find(|document| document.name == name);
    found.unwrap().text
}

#[test]
fn the_fleet_plan_has_every_server_and_the_copies_in_their_order() {
    let provision = small();
    let test = TestPlan { server: None, root: "/mnt".to_owned(), scale: 1.0, databases: None };
    let documents = fleet(&provision, &test).unwrap();
    let servers = provision.groups.iter().flat_map(|group| &group.servers);
    let names: Vec<String> = servers.map(|server| format!("{}.toml", server.name)).collect();
    let written: Vec<&str> = documents.iter().map(|document| document.name.as_str()).collect();
    assert_eq!(written[0], "FLEET.toml");
    assert_eq!(written[1..], names);
    let text = &documents[0].text;
    for name in &names {
        assert!(text.contains(&format!("plan = \"{name}\"")), "{text}");
    }
    let database = &provision.groups[0].databases[0];
    let copies: Vec<String> =
        database.copies.iter().map(|copy| format!("\"{}\"", copy.server)).collect();
    let expected = format!("name = \"{}\"\ncopies = [{}]", database.name, copies.join(", "));
    assert!(text.contains(&expected), "{expected} not in {text}");
}

/// The rows of a table, keyed by column name.
fn rows(table: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let row = |record: csv::StringRecord| {
        headers
            .iter()
            .zip(record.iter())
            .map(|(name, field)| (name.to_owned(), field.to_owned()))
            .collect()
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

/// `Servers.csv` of the public production example (E2): the map of its first server.
#[test]
fn the_published_map_of_a_server() {
    let mut needs = two_sites(4, 72);
    needs.names.database = "DAG-nn-DB".to_owned();
    let provision = provision(needs).unwrap();
    let rows = rows(&text(&provision, Kind::Tables, "Servers.csv"));
    assert_eq!(rows[0]["ServerName"], "VersionNumber");
    assert_eq!(
        (rows[1]["DbPerVolume"].as_str(), rows[1]["AutoReseedVolumes"].as_str()),
        ("4", "1")
    );
    let published = "01,04,05,07,09,10,13,16,17,19,21,22,25,28,29,31,33,34,37,40,41,43,45,46,49,52,\
                     53,55,57,58,61,64,65,67,69,70";
    let expected: Vec<String> =
        published.split(',').map(|number| format!("DAG-nn-DB{number}")).collect();
    assert_eq!(rows[1]["DbMap"], expected.join(","));
    assert_eq!(rows.len(), 9);
}

/// `MailboxDatabaseCopies.csv` of the public example of four servers: preference 4 lags 7 days.
#[test]
fn the_copies_behind_the_first() {
    let rows = rows(&text(&small(), Kind::Tables, "MailboxDatabaseCopies.csv"));
    assert_eq!(rows.len(), 1 + 4 * 3);
    let late = &rows[3];
    assert_eq!(late["Name"], "DB01");
    assert_eq!((late["Server"].as_str(), late["ActivationPreference"].as_str()), ("EX04", "4"));
    assert_eq!(late["ReplayLagTime"], "7.00:00:00");
    assert_eq!(rows[1]["ReplayLagTime"], "0.00:00:00");
}

/// Version 7 renamed a column, which broke every reader of version 6.
#[test]
fn both_generations_of_the_path() {
    let path = "C:\\ExchangeDatabases\\DB01\\DB01.db\\DB01.edb";
    for (kind, column, version) in
        [(Kind::Tables, "EDBFilePath", "7.6"), (Kind::TablesV6, "DBFilePath", "6.6")]
    {
        let rows = rows(&text(&small(), kind, "MailboxDatabases.csv"));
        assert_eq!(rows[0][column], version);
        assert_eq!(rows[1][column], path);
        assert_eq!(rows[1].len(), 26);
    }
}

#[test]
fn the_table_of_groups() {
    let rows = rows(&text(&small(), Kind::Tables, "DAGInfo.csv"));
    let group = &rows[1];
    assert_eq!(group.len(), 25);
    assert_eq!(group["Site1Servers"], "EX01,EX02");
    assert_eq!(group["Site2Servers"], "EX03,EX04");
    assert_eq!(group["DAGIps"], "255.255.255.255");
    assert_eq!(
        (group["DACMode"].as_str(), group["ReplicationPort"].as_str()),
        ("DagOnly", "64327")
    );
}

#[test]
fn scripts_as_they_were_read_by_people() {
    let mut raid = two_sites(2, 4);
    let databases = Pool {
        level: Raid::Raid5,
        groups: 2,
        data_disks: 5,
        redundant_disks: 1,
        raw: Bytes(600_000_000_000),
        formatted: Bytes(600_000_000_000),
        disk_iops: 180.0,
    };
    let restore = Pool { groups: 1, data_disks: 2, ..databases };
    raid.pools = every(vec![(Purpose::Databases, databases), (Purpose::Restore, restore)]);
    raid.build.file_system = "ext4".to_owned();
    let raid = provision(raid).unwrap();
    for (provision, kind, name, golden) in [
        (&small(), Kind::Diskpart, "EX01-diskpart.txt", include_str!("golden/EX01-diskpart.txt")),
        (&small(), Kind::Diskpart, "EX01-volumes.ps1", include_str!("golden/EX01-volumes.ps1")),
        (&small(), Kind::PowerShell, "DAG01.ps1", include_str!("golden/DAG01.ps1")),
        (&small(), Kind::Linux, "EX01-linux.sh", include_str!("golden/EX01-linux.sh")),
        (&raid, Kind::Linux, "EX01-linux.sh", include_str!("golden/EX01-linux-raid.sh")),
    ] {
        let text = text(provision, kind, name).replace('\r', "");
        assert_eq!(text, golden, "{name} differs; if that is right, replace its golden file");
    }
}

/// Six database disks and two SSDs on each of four servers.
fn with_ssds() -> Provision {
    let mut needs = two_sites(2, 24);
    needs.wish.databases_per_volume = 4;
    needs.metacache = Some(MetaCacheDisks { ssds: 2, ssd: Bytes(1_920_000_000_000) });
    provision(needs).unwrap()
}

/// Only the vendor's script creates volumes on SSDs.
#[test]
fn ssds_are_left_to_the_script_of_the_product() {
    let (with, mut needs) = (with_ssds(), two_sites(2, 24));
    needs.wish.databases_per_volume = 4;
    let without = provision(needs).unwrap();
    let script = text(&with, Kind::PowerShell, "DAG01-metacache.ps1").replace('\r', "");
    assert_eq!(script, include_str!("golden/DAG01-metacache.ps1"));
    assert_eq!(export(&without, Kind::PowerShell).len(), 1);
    for (kind, name) in [
        (Kind::PowerShell, "DAG01.ps1"),
        (Kind::Linux, "EX01-linux.sh"),
        (Kind::Diskpart, "EX01-volumes.ps1"),
    ] {
        assert_eq!(text(&with, kind, name), text(&without, kind, name));
    }
    let disks = text(&with, Kind::Diskpart, "EX01-diskpart.txt");
    let before = text(&without, Kind::Diskpart, "EX01-diskpart.txt");
    let more = disks.strip_prefix(&before).expect("a remark more");
    assert!(more.lines().all(|line| line.is_empty() || line.starts_with("rem ")), "{more}");
    assert!(more.contains("stay empty"), "{more}");
}

/// Every character that a prefix may contain stays inside its quotes.
#[test]
fn odd_names_stay_in_their_quotes() {
    let mut needs = two_sites(2, 4);
    needs.names.database = ODD.to_owned();
    let odd = provision(needs).unwrap();
    let shell = text(&odd, Kind::Linux, "EX01-linux.sh");
    assert!(shell.contains("'D'\\''B;$(x) &`01'"), "{shell}");
    let rows = rows(&text(&odd, Kind::Tables, "MailboxDatabases.csv"));
    assert_eq!(rows[1]["Name"], format!("{ODD}01"));
}

/// An apostrophe, a space, and characters that shells expand.
const ODD: &str = "D'B;$(x) &`";

/// Parses each line of a `PowerShell` script as the shell does, as far as these scripts need: a
/// known command, parameters with a value each, and strings that end as intended.
#[test]
fn powershell_reads_what_was_meant() {
    let mut needs = two_sites(2, 4);
    needs.names.database = ODD.to_owned();
    needs.names.server = "E X'".to_owned();
    needs.names.group = "D G'".to_owned();
    needs.build.encryption = "BitLocker".to_owned();
    needs.metacache = Some(MetaCacheDisks { ssds: 1, ssd: Bytes(960_000_000_000) });
    let odd = provision(needs).unwrap();
    let scripts = [Kind::PowerShell, Kind::Diskpart].map(|kind| export(&odd, kind));
    let scripts = scripts.iter().flatten();
    let scripts = scripts.filter(|script| script.name.contains(".ps1"));
    let (mut commands, mut databases) = (0, 0);
    for script in scripts {
        for line in script.text.lines() {
            let words = powershell::words(line).unwrap_or_else(|why| panic!("{why}: {line}"));
            let Some(command) = words.first() else {
                continue;
            };
            commands += 1;
            assert!(powershell::is_known(command), "{command} in {line}");
            let named = words.iter().any(|word| *word == format!("{ODD}01"));
            databases += usize::from(named);
        }
    }
    // Made, mounted, three copies, circular; by hand.
    assert_eq!(databases, 6);
    assert!(commands > 40, "{commands}");
}

/// Each string of a diskpart script is in double quotes and contains none, and every disk is named
/// once.
#[test]
fn diskpart_reads_what_was_meant() {
    let mut needs = two_sites(2, 4);
    needs.names.database = ODD.to_owned();
    let odd = provision(needs).unwrap();
    let script = text(&odd, Kind::Diskpart, "EX01-diskpart.txt");
    let mut disks = Vec::new();
    for line in script.lines().filter(|line| !line.starts_with("rem ")) {
        let quotes = line.matches('"').count();
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb {
            "assign" => {
                let path = rest.strip_prefix("mount=\"C:\\").unwrap();
                assert!(quotes == 2 && path.ends_with('"'), "{line}");
            }
            "format" => assert!(quotes == 2 && rest.contains("K label=\""), "{line}"),
            "select" => disks.push(rest.to_owned()),
            "attributes" | "online" | "clean" | "convert" | "create" | "" => {}
            _ => panic!("{line}"),
        }
    }
    let named = disks.len();
    disks.sort();
    disks.dedup();
    assert_eq!((disks.len(), named), (3, 3));
}

/// No folder is the mount point of two volumes, whether or not logs are separate.
#[test]
fn logs_apart_are_mounted_apart() {
    let mut needs = two_sites(2, 8);
    needs.log_volume = Some(Bytes::from_gib(100));
    let apart = provision(needs).unwrap();
    let script = text(&apart, Kind::Diskpart, "EX01-diskpart.txt");
    let mut mounts: Vec<&str> = script.lines().filter(|line| line.starts_with("assign")).collect();
    let count = mounts.len();
    mounts.sort_unstable();
    mounts.dedup();
    assert_eq!(mounts.len(), count, "{script}");
    let rows = rows(&text(&apart, Kind::Tables, "MailboxDatabases.csv"));
    assert_eq!(rows[1]["LogFolderPath"], "C:\\ExchangeLogs\\DB01\\DB01.log");
}

#[test]
fn without_copies_nothing_speaks_of_groups() {
    let mut needs = two_sites(2, 4);
    needs.copies = false;
    let alone = provision(needs).unwrap();
    assert_eq!(export(&alone, Kind::Tables).len(), 2);
    assert!(!text(&alone, Kind::PowerShell, "DAG01.ps1").contains("AvailabilityGroup"));
}

/// Of two files with the same name only the second would survive.
#[test]
fn no_name_is_given_twice() {
    for kind in Kind::ALL {
        let names: Vec<String> = export(&small(), kind).into_iter().map(|file| file.name).collect();
        let mut distinct = names.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), names.len());
    }
}

/// Every script begins with the assumption, below the line that names its interpreter; the tables
/// have the columns of the official ones and no place for it.
#[test]
fn scripts_and_plans_of_a_design_name_the_assumption() {
    let said = "ASSUMPTION: 9 figures are those of Exchange 2016";
    let mut needs = two_sites(2, 4);
    needs.assumption = Some(said.to_owned());
    let provision = provision(needs).unwrap();
    let test = TestPlan { server: None, root: "/mnt".to_owned(), scale: 1.0, databases: None };
    let mut all = fleet(&provision, &test).unwrap();
    for kind in [Kind::Diskpart, Kind::PowerShell, Kind::Linux] {
        all.extend(export(&provision, kind));
    }
    for document in &all {
        let begins = document.text.lines().take(8).any(|line| line.contains(said));
        assert!(begins, "{}: {}", document.name, document.text);
    }
    let script = text(&provision, Kind::Linux, "EX01-linux.sh");
    assert!(script.starts_with("#!/usr/bin/env bash\n# ASSUMPTION"), "{script}");
    let plan = plan::Plan::parse("plan.toml", &test.to_toml(&provision).unwrap()).unwrap();
    assert_eq!(plan::deployment::assumption_in(&plan.description), Some(said));
}
