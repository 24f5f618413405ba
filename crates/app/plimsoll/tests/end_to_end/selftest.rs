//! `selftest` on sound storage, on storage that loses bytes, and where there is none.

use serde_json::Value;

use crate::mount::fault_volume;
use crate::scene::{Ran, Scene};

/// What became of each part, by its name, and of all.
fn outcomes(ran: &Ran) -> (Vec<(String, String)>, String) {
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let part = |part: &Value| (text(&part["part"]), text(&part["outcome"]));
    let parts = answer["parts"].as_array().unwrap().iter().map(part).collect();
    (parts, text(&answer["outcome"]))
}

#[test]
fn sound_storage_passes_every_part_and_is_left_as_it_was() {
    let scene = Scene::new("selftest");
    let ran = scene.run(["selftest", ".", "--json"]);
    ran.expect_code(0);
    let (parts, outcome) = outcomes(&ran);
    assert_eq!(outcome, "pass");
    let held = |part: &str| (part.to_owned(), "held".to_owned());
    assert_eq!(parts, ["backend", "alignment", "databases"].map(held));
    assert_eq!(scene.listing(), []);
}

#[test]
fn pages_that_are_dropped_fail_the_storage_and_stay_for_a_look() {
    let Some((volume, scene)) = fault_volume("selftest-lies") else {
        return;
    };
    volume.set(vec!["database write drop from=5".parse().unwrap()]);
    let ran = scene.run(["selftest", "disk"]);
    ran.expect_code(1).expect_out(&["databases: BROKEN: ", "Plimsoll00", "FAIL: do not trust"]);
    ran.expect_err(&["The files stay in "]);
    assert!(volume.injected() > 0, "the fault never came");
}

#[test]
fn a_folder_that_is_not_there_is_refused() {
    let scene = Scene::new("selftest-none");
    scene.write("file", b"");
    scene.run(["selftest", "none"]).expect_refusal(&["none", "no such folder"]);
    scene.run(["selftest", "file"]).expect_refusal(&["file", "Not a directory"]);
}
