//! Runs that are predicted on arrays which do not exist.

use serde_json::Value;

use crate::scene::Scene;

const PLAN: &str = "name = \"predicted\"\n[databases]\nfolders = [\"/mail/a\", \"/mail/b\"]\n\
    size = \"100GiB\"\n[workload]\nthreads = 3\n[test]\nduration = \"40s\"\nchecksum = false\n";

fn scene(name: &str) -> Scene {
    let scene = Scene::new(name);
    scene.write("plan.toml", PLAN.as_bytes());
    scene
}

#[test]
fn the_same_simulation_gives_the_same_journal_and_says_what_it_is() {
    let scene = scene("simulated");
    let simulate = |folder: &str| {
        scene.run(["simulate", "plan.toml", "--array", "shelf-15k", "-o", folder]).expect_code(0);
        scene.read(format!("{folder}/record.jsonl"))
    };
    assert!(simulate("one") == simulate("two"), "the journals differ");
    let report: Value = serde_json::from_slice(&scene.read("one/report.json")).unwrap();
    assert_eq!(report["verdict"], "simulated_pass", "{}", report["findings"]);
    assert!(report["simulated"]["stretch"].as_f64().unwrap() > 100.0);
    assert!(report["achieved_transactional_iops"].as_f64().unwrap() > 100.0);
    scene.run(["list", "."]).expect_out(&["Simulated pass"]);
    scene.run(["report", "one", "--format", "xml"]).expect_code(2);
    assert!(!scene.path("mail").exists(), "nothing was written but the report");
}

#[test]
fn arrays_are_ranked_and_one_without_a_write_cache_fails_by_its_log() {
    let scene = scene("what-if");
    let what_if = ["--what-if", "raid.level=10,5", "cache.mode=write-back,write-through"];
    let command = ["simulate", "plan.toml", "--array", "shelf-15k", "-o", "out"];
    scene.run(command.iter().chain(&what_if)).expect_code(0);
    let answer: Value = serde_json::from_slice(&scene.read("out/what-if.json")).unwrap();
    let found = |rank: usize, key: &str| &answer["predictions"][rank]["changes"][key];
    assert_eq!(
        (found(0, "raid.level"), found(0, "cache.mode")),
        (&"10".into(), &"write-back".into())
    );
    assert_eq!(
        (found(1, "raid.level"), found(1, "cache.mode")),
        (&"5".into(), &"write-back".into())
    );
    for rank in [2, 3] {
        let failed = &answer["predictions"][rank];
        assert_eq!(failed["verdict"], "simulated_fail", "{failed}");
        assert!(failed["objections"].as_str().unwrap().contains("Log write latency"), "{failed}");
    }
    let page = String::from_utf8(scene.read("out/what-if.html")).unwrap();
    assert!(page.contains("SIMULATED on the model"));
}

#[test]
fn what_cannot_be_simulated_is_refused_and_leaves_nothing() {
    let scene = scene("not-simulated");
    let refused = |more: &[&str], parts: &[&str]| {
        let command = ["simulate", "plan.toml", "-o", "out"];
        scene.run(command.iter().chain(more)).expect_refusal(parts);
        assert!(!scene.path("out").exists());
    };
    refused(&["--array", "nowhere"], &["nowhere: neither a file nor", "shelf-15k"]);
    refused(
        &["--array", "shelf-15k", "--what-if", "raid.levl=5,10"],
        &["shelf-15k", "`levl`", "`level`"],
    );
    refused(&["--array", "shelf-15k", "--what-if", "disk.rpm=1,2"], &["disk.rpm must be from"]);
    scene.write("array.toml", b"name = \"x\"\n[raid]\nlevel = 4\n");
    refused(&["--array", "array.toml"], &["array.toml:3:", "RAID 4 is not simulated"]);
    scene.write("plan.toml", PLAN.replace("100GiB", "9TiB").as_bytes());
    refused(&["--array", "shelf-15k"], &["/mail/a: the databases", "9.00 TiB"]);
}
