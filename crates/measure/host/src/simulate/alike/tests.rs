//! Tests of `alike`.

use plan::Plan;
use record::{Checksum, DatabaseInterval, Event, Interval, Phase};
use simdisk::ArrayDescription;

use super::Alike;
use crate::simulate::SimulatedStorage;

fn storage(is_each_folder: bool) -> SimulatedStorage {
    let text = include_str!("../../../../../../arrays/shelf-15k.toml");
    let array = ArrayDescription::parse("shelf", text, &[]).expect("an array that ships");
    SimulatedStorage { array, is_each_folder }
}

fn plan(databases: &str) -> Plan {
    let text = format!("[databases]\nsize = \"64GiB\"\n{databases}");
    Plan::parse("test", &text).expect("a valid plan")
}

fn alike(is_each_folder: bool, databases: &str) -> Alike {
    Alike::of(&storage(is_each_folder), &plan(databases))
}

#[test]
fn one_of_alike_folders_is_simulated_for_all() {
    let folders = "folders = [\"/a\", \"/b\", \"/c\"]\ncount = 6\n";
    let found = alike(true, folders);
    assert_eq!((found.simulated.len(), found.like.len()), (2, 6), "{found:?}");
    assert_eq!(found.counts(), [3, 3]);
    assert!(found.words().is_some_and(|words| words.contains("once: 2 of 6")));
    let shared = alike(false, folders);
    assert_eq!((shared.simulated.len(), shared.words()), (6, None), "they share one array");
}

#[test]
fn folders_that_differ_or_are_shared_by_logs_are_told_apart() {
    let seven = alike(true, "folders = [\"/a\", \"/b\", \"/c\"]\ncount = 7\n");
    assert_eq!(seven.simulated.len(), 3 + 2, "{seven:?}: the first folder has three");
    let one_log = "folders = [\"/a\", \"/b\"]\ncount = 2\nlog_folders = [\"/l\"]\n";
    assert_eq!(alike(true, one_log).simulated.len(), 2, "both logs are on one array");
    let own_logs = "folders = [\"/a\", \"/b\"]\ncount = 2\nlog_folders = [\"/l\", \"/m\"]\n";
    assert_eq!(alike(true, own_logs).simulated.len(), 1);
    let weights = "folders = [\"/a\", \"/b\"]\ncount = 2\nweights = [1.0, 2.0]\n";
    assert_eq!(alike(true, weights).simulated.len(), 2, "one has twice the load");
}

#[test]
fn a_search_that_sums_up_databases_needs_all_of_them_in_the_engine() {
    let folders = "folders = [\"/a\", \"/b\"]\n[workload]\n";
    let simulated = |load: &str| {
        let plan = plan(&format!("{folders}{load}"));
        Alike::of_engine(&storage(true), &plan).simulated.len()
    };
    assert_eq!(simulated("target_iops = 200\nthreads = 2\n"), 1);
    assert_eq!(simulated("threads = \"auto\"\n"), 1);
    assert_eq!(simulated("target_iops = 200\nthreads = \"auto\"\n"), 2);
}

#[test]
fn events_of_one_database_are_those_of_all_that_are_like_it() {
    let plan = plan("folders = [\"/a\", \"/b\", \"/c\"]\ncount = 6\n");
    let alike = Alike::of(&storage(true), &plan);
    let first = plan.databases[alike.simulated[0]].index;
    let checksum = Checksum { database: first, seen_pages: 9, ..Checksum::default() };
    let of_all = alike.of_all(&plan, Event::Checksum(checksum));
    let indexes: Vec<u32> = of_all
        .iter()
        .map(|event| match event {
            Event::Checksum(of) if of.seen_pages == 9 => of.database,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(indexes.len(), 3, "{alike:?}");
    let sampled = |index| DatabaseInterval { index, ..DatabaseInterval::default() };
    let interval = Interval {
        phase: Phase::Measure,
        from_ns: 0,
        to_ns: 1,
        databases: alike.simulated.iter().map(|&at| sampled(plan.databases[at].index)).collect(),
        host: None,
        processors: None,
        flash_cache: None,
    };
    let Some(Event::Interval(all)) = alike.of_all(&plan, Event::Interval(interval)).pop() else {
        panic!("an interval");
    };
    let indexes: Vec<u32> = all.databases.iter().map(|of| of.index).collect();
    assert_eq!(indexes, [0, 1, 2, 3, 4, 5]);
}
