//! Tests of `alike`.

use plan::Plan;
use simdisk::ArrayDescription;

use super::Alike;
use crate::simulate::SimulatedStorage;

fn alike(is_each_folder: bool, databases: &str) -> Alike {
    let text = include_str!("../../../../../../../arrays/shelf-15k.toml");
    let array = ArrayDescription::parse("shelf", text, &[]).expect("an array that ships");
    let plan = format!("[databases]\nsize = \"64GiB\"\n{databases}");
    let plan = Plan::parse("test", &plan).expect("a valid plan");
    Alike::of(&SimulatedStorage { array, is_each_folder }, &plan)
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
