//! Several processes prepare the same databases at the same time.

use crate::scene::{Ran, Scene};

/// One round in twenty went wrong.
const ROUNDS: usize = 30;
const PROCESSES: usize = 3;

#[test]
fn preparing_an_interrupted_fill_twice_at_the_same_time_leaves_it_whole() {
    let scene = Scene::prepared("race");
    let files = ["Plimsoll001", "Plimsoll002"];
    for round in 0..ROUNDS {
        for file in files {
            let name = format!("{file}.manifest.json");
            let manifest = String::from_utf8(scene.read(&name)).unwrap();
            let manifest = manifest.replace("\"complete\"", "\"filling\" ");
            scene.write(&name, manifest.as_bytes());
            scene.change(&format!("{file}.edb"), |bytes| bytes.truncate(1 << 20));
        }
        let started: Vec<_> =
            (0..PROCESSES).map(|_| scene.start(["prepare", "plan.toml", "--quiet"])).collect();
        let ended: Vec<Ran> =
            started.into_iter().map(|child| Ran::of(&child.wait_with_output().unwrap())).collect();
        let words: Vec<&str> = ended.iter().map(|ran| ran.err.as_str()).collect();
        assert!(ended.iter().any(|ran| ran.code == Some(0)), "{words:?}");
        for ran in ended.iter().filter(|ran| ran.code != Some(0)) {
            ran.expect_refusal(&["another plimsoll process"]);
        }
        for file in files {
            let manifest = scene.read(format!("{file}.manifest.json"));
            let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
            assert_eq!(manifest["state"], "complete", "round {round}: {words:?}");
            let length = scene.read(format!("{file}.edb")).len();
            assert_eq!(manifest["file_bytes"], length, "round {round}: {words:?}");
        }
        scene.run(["check", "Plimsoll001.edb", "Plimsoll002.edb"]).expect_code(0);
    }
}
