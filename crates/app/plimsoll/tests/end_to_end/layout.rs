//! `inspect layout`: a server of mounted volumes against the plan that it was built by.

use std::fs;

use serde_json::{Value, json};

use crate::mount::{Mount, text};
use crate::scene::{Ran, Scene};

const DEPLOYMENT: &str = "name = \"small office\"\n\
    [[tier]]\nmailboxes = 200\nmessages_per_day = 100\nsize_limit = \"1GiB\"\n\
    [availability]\nservers_per_site = 2\ncopies = 2\n\
    [data]\nlargest_database = \"200GiB\"\n";

fn volume(name: &str, purpose: &str, databases: &[&str]) -> Value {
    let bytes: u64 = 32 << 20;
    json!({ "name": name, "disk": 1, "bytes": bytes, "for": purpose, "databases": databases })
}

/// An answer of `plan` for one server: a volume with two databases, and a spare.
fn answer() -> Value {
    let volumes =
        [volume("ExVol01", "databases", &["DB01", "DB02"]), volume("ExVol02", "spare", &[])];
    let server = json!({ "name": "EX01", "site": 1, "only_lagged": false, "volumes": volumes });
    json!({
        "kind": "provision",
        "file_system": "tmpfs",
        "disks": [{ "site": 1, "only_lagged": false, "pools": [] }],
        "groups": [{ "name": "DAG01", "servers": [server] }],
    })
}

/// The outcome of each check that did not pass, and of what.
fn objections(ran: &Ran) -> Vec<String> {
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(told["kind"], "inspection");
    let findings = told["findings"].as_array().unwrap().iter();
    let wrong = findings.filter(|of| of["outcome"] != "pass");
    wrong
        .map(|of| {
            let [check, outcome] = ["check", "outcome"].map(|member| of[member].as_str().unwrap());
            format!("{check} {outcome}")
        })
        .collect()
}

#[test]
fn mounted_volumes_are_held_against_the_plan() {
    let scene = Scene::new("layout");
    scene.write("provision.json", answer().to_string().as_bytes());
    for folder in ["vol", "db"] {
        fs::create_dir(scene.path(folder)).unwrap();
    }
    let tmpfs = ["-t", "tmpfs", "-o", "size=32m", "tmpfs"];
    let Some(first) = Mount::of(&scene, "vol/ExVol01", &tmpfs) else {
        return;
    };
    let spare = Mount::of(&scene, "vol/ExVol02", &tmpfs).unwrap();
    for folder in ["DB01", "DB01/DB01.db", "DB01/DB01.log", "DB02"] {
        fs::create_dir(first.0.join(folder)).unwrap();
    }
    let words = ["inspect", "layout", "provision.json", "--volumes-root", "vol", "--json"];
    // The disks under these are unknown.
    assert_eq!(objections(scene.run(words).expect_code(0)), ["layout-disks cannot_judge"]);
    scene.write("vol/ExVol02/mail.pst", b"");
    let wrong = ["layout-spare fail", "layout-disks cannot_judge"];
    assert_eq!(objections(scene.run(words).expect_code(1)), wrong);
    drop(spare);
    let wrong = ["layout-volume fail", "layout-disks cannot_judge"];
    assert_eq!(objections(scene.run(words).expect_code(1)), wrong);
    // As AutoReseed needs it: the same volume once more below the folder of databases.
    let reseeding: Vec<&str> = words.into_iter().chain(["--databases-root", "db"]).collect();
    let ran = scene.run(&reseeding);
    let wrong = objections(ran.expect_code(1));
    assert!(wrong.iter().filter(|of| *of == "layout-database fail").count() == 2, "{wrong:?}");
    let bound = Mount::of(&scene, "db/DB01", &["--bind", &text(&first.0.join("DB01"))]).unwrap();
    let ran = scene.run(&reseeding);
    let wrong = objections(ran.expect_code(1));
    assert!(wrong.iter().filter(|of| *of == "layout-database fail").count() == 1, "{wrong:?}");
    drop(bound);
}

#[test]
fn a_deployment_is_a_plan_too_and_what_is_none_is_refused() {
    let scene = Scene::new("layout-deployment");
    scene.write("deployment.toml", DEPLOYMENT.as_bytes());
    fs::create_dir(scene.path("disks")).unwrap();
    let words = "inspect layout deployment.toml --server EX01 --volumes-root disks -o page.html";
    let ran = scene.run(words.split(' '));
    ran.expect_code(1).expect_out(&["Volume of the plan", "there is no ", "-> mkdir -p "]);
    let page = String::from_utf8(scene.read("page.html")).unwrap();
    assert!(page.contains("Problems found") && page.contains("against the plan of EX01"));
    let without = "inspect layout deployment.toml --volumes-root disks";
    scene.run(without.split(' ')).expect_refusal(&["deployment.toml", "--server", "EX01, EX02"]);
    let nowhere = "inspect layout deployment.toml --server EX01 --volumes-root none";
    scene.run(nowhere.split(' ')).expect_refusal(&["none", "no such folder", "--volumes-root"]);
    scene.write("other.json", b"{\"kind\": \"space\"}");
    scene.write("cut.json", b"{\"kind\"");
    for (name, part) in [("other.json", "no layout"), ("cut.json", "no whole JSON"), ("none", "")] {
        let refused = scene.run(["inspect", "layout", name, "--volumes-root", "disks"]);
        refused.expect_refusal(&[name, part]);
    }
    scene.run(["inspect", "layout"]).expect_code(64);
    // The answer of `plan` says the same as the deployment.
    scene.run("plan deployment.toml -o out".split(' ')).expect_code(0);
    let kept = "inspect layout out/provision.json --server EX01 --volumes-root disks --json";
    let again = "inspect layout deployment.toml --server EX01 --volumes-root disks --json";
    let [kept, again] =
        [kept, again].map(|words| objections(scene.run(words.split(' ')).expect_code(1)));
    assert_eq!(kept, again);
}
