//! `inspect`: findings of paths and controllers, their page, and their way into records, reports
//! and comparisons.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::fault_volume::Rule;
use testkit::samples;

use crate::mount::{EXT4, Mount, fault_volume, text};
use crate::scene::{Ran, Scene};
use crate::signals::send;

/// What a controller with this cache policy says to `storcli /call show all J`.
fn output(cache: &str) -> String {
    let status = json!({ "Controller": 0, "Status": "Success", "Description": "None" });
    let data = json!({
        "Basics": { "Model": "Test 9000" },
        "VD LIST": [{ "DG/VD": "0/3", "TYPE": "RAID10", "State": "Optl", "Cache": cache }],
        "Cachevault_Info": [{ "State": "Optimal" }],
    });
    json!({ "Controllers": [{ "Command Status": status, "Response Data": data }] }).to_string()
}

fn told(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap()
}

fn finding<'a>(told: &'a Value, check: &str) -> &'a Value {
    let findings = told["findings"].as_array().unwrap();
    findings.iter().find(|of| of["check"] == check).unwrap_or_else(|| panic!("{check}: {told:#}"))
}

#[test]
fn a_saved_output_is_judged_with_the_command_that_mends_it() {
    let scene = Scene::new("inspect-saved");
    scene.write("through.json", output("NRWTD").as_bytes());
    scene.write("back.json", output("NRWBD").as_bytes());
    let ran = scene.run(["inspect", "--controller", "through.json"]);
    ran.expect_code(1).expect_out(&["write through", "-> storcli /c0/v3 set wrcache=wb"]);
    scene.run(["inspect", "--controller", "back.json"]).expect_code(0);
    let ran = scene.run(["inspect", ".", "--controller", "back.json", "--json"]);
    let told = told(ran.expect_code(0));
    assert_eq!(finding(&told, "controller-write-cache")["outcome"], "pass");
    assert_eq!(finding(&told, "unbuffered")["subject"], ".");
    assert_eq!(told["tally"]["fail"], 0);
    assert!(told["paths"][0]["mount_point"].is_string());
}

#[test]
fn what_is_no_output_of_a_controller_is_refused_with_what_to_save() {
    let scene = Scene::new("inspect-no-output");
    for (name, bytes, part) in [
        ("words.txt", &b"hello"[..], "ssacli ctrl all show config detail"),
        ("other.json", b"{\"a\": 1}", "no member Controllers"),
        ("cut.json", b"{\"Controllers\": [{", "is no whole JSON"),
        ("bytes.bin", b"\xff\xfe\x00\x01", "is no output of storcli"),
    ] {
        scene.write(name, bytes);
        scene.run(["inspect", "--controller", name]).expect_refusal(&[name, part]);
    }
    scene.run(["inspect", "--controller", "missing"]).expect_refusal(&["missing"]);
    scene.run(["inspect"]).expect_code(64);
}

#[test]
fn a_page_is_written_and_no_other_file_is_replaced() {
    let scene = Scene::new("inspect-page");
    scene.write("through.json", output("NRWTD").as_bytes());
    let words = ["inspect", "--controller", "through.json", "--html", "page.html"];
    scene.run(words).expect_code(1);
    let page = String::from_utf8(scene.read("page.html")).unwrap();
    assert!(page.contains("Problems found") && page.contains("storcli /c0/v3 set wrcache=wb"));
    scene.run(words).expect_refusal(&["page.html", "--force"]);
    scene.run(words.into_iter().chain(["--force"])).expect_code(1);
    let over = ["inspect", "--controller", "through.json", "-o", "through.json", "--force"];
    scene.run(over).expect_refusal(&["through.json"]);
    assert_eq!(scene.read("through.json"), output("NRWTD").as_bytes());
}

/// A program named as a controller's tool that prints what one would.
fn install(scene: &Scene, cache: &str) -> String {
    fs::create_dir_all(scene.path("bin")).unwrap();
    scene.write("answer.json", output(cache).as_bytes());
    let script = format!("#!/bin/sh\ncat '{}'\n", text(&scene.path("answer.json")));
    let program = scene.path("bin/storcli64");
    scene.write("bin/storcli64", script.as_bytes());
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", text(&scene.path("bin")), std::env::var("PATH").unwrap_or_default())
}

/// A short run while a controller's cache is set so.
fn run_with(scene: &Scene, cache: &str, folder: &str) {
    let path = install(scene, cache);
    let words = ["run", "plan.toml", "--duration", "4s", "--target-iops", "100", "-o", folder];
    let ran = scene.command(words).env("PATH", path).output().unwrap();
    assert!(ran.status.code().is_some(), "{ran:?}");
}

#[test]
fn an_installed_tool_is_asked_and_a_run_keeps_what_it_said() {
    let scene = Scene::prepared("inspect-run");
    let path = install(&scene, "NRWTD");
    let ran = scene.command(["inspect", ".", "--json"]).env("PATH", &path).output().unwrap();
    let told = told(&Ran::of(&ran));
    assert_eq!(finding(&told, "controller-write-cache")["outcome"], "fail");
    assert_eq!(ran.status.code(), Some(1));

    run_with(&scene, "NRWTD", "runs/through");
    run_with(&scene, "NRWBD", "runs/back");
    let report: Value = serde_json::from_slice(&scene.read("runs/through/report.json")).unwrap();
    let storage = report["storage"].as_array().unwrap();
    assert_eq!(storage[0]["check"], "controller-write-cache");
    assert_eq!(storage[0]["outcome"], "fail");
    let page = String::from_utf8(scene.read("runs/through/report.html")).unwrap();
    assert!(page.contains("Storage before the Run") && page.contains("set wrcache=wb"));
    let compared = scene.run(["compare", "runs/through", "runs/back"]);
    compared.expect_out(&["caches of devices", "write through", "write back, protected"]);
}

#[test]
fn a_tool_that_fails_says_so_and_hides_nothing() {
    let scene = Scene::new("inspect-silent");
    let path = install(&scene, "NRWBD");
    scene.write("bin/storcli64", b"#!/bin/sh\necho needs root; exit 1\n");
    let ran = scene.command(["inspect", ".", "--json"]).env("PATH", path).output().unwrap();
    let told = told(&Ran::of(&ran));
    let tool = finding(&told, "controller-tool");
    assert_eq!(
        (tool["outcome"].as_str(), tool["subject"].as_str()),
        (Some("cannot_judge"), Some("storcli64"))
    );
}

/// A controller's tool that hangs delays a run, and the storage is not blamed for it.
#[test]
fn a_tool_that_hangs_is_left_alone_and_the_run_is_made() {
    let scene = Scene::prepared("inspect-hang");
    let plan = String::from_utf8(scene.read("plan.toml")).unwrap();
    let plan = plan.replace("[test]\n", "[test]\ngive_up = \"5s\"\n");
    assert!(plan.contains("give_up"));
    scene.write("plan.toml", plan.as_bytes());
    let path = install(&scene, "NRWBD");
    scene.write("bin/storcli64", b"#!/bin/sh\nexec sleep 300\n");
    let words = ["run", "plan.toml", "--duration", "4s", "--target-iops", "100", "-o", "out"];
    let ran = scene.command(words).env("PATH", path).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!said.contains("no answer to the first look"), "{said}");
    let report: Value = serde_json::from_slice(&scene.read("out/report.json")).unwrap();
    let storage = report["storage"].as_array().unwrap();
    let tool = storage.iter().find(|of| of["check"] == "controller-tool").unwrap();
    assert_eq!(tool["seen"], "no answer within 20 s");
}

#[test]
fn a_mount_that_keeps_flushes_from_the_disk_is_found() {
    let scene = Scene::new("inspect-nobarrier");
    let Some(image) = crate::mount::image(&scene, &EXT4, 64) else {
        return;
    };
    let Some(mount) = Mount::of(&scene, "volume", &["-o", "loop,nobarrier", &image]) else {
        return;
    };
    let ran = scene.run(["inspect", &text(&mount.0), "--json"]);
    let told = told(ran.expect_code(1));
    let options = finding(&told, "mount-options");
    assert_eq!(
        (options["outcome"].as_str(), options["seen"].as_str()),
        (Some("fail"), Some("nobarrier"))
    );
    assert_eq!(finding(&told, "file-system")["outcome"], "pass");
}

/// Findings of a measurement on storage with these rules, by check: outcome and observation. `None`
/// if no such storage can be mounted.
fn measured(name: &str, rules: &[&str]) -> Option<BTreeMap<String, (String, String)>> {
    let (volume, scene) = fault_volume(name)?;
    volume.set(rules.iter().map(|rule| rule.parse::<Rule>().unwrap()).collect());
    let folder = text(volume.folder());
    let words = ["inspect", &folder, "--measure", "--measure-size", "128MiB", "--json"];
    let ran = scene.run(words.into_iter().chain(["--measure-for", "25s"]));
    assert!(fs::read_dir(volume.folder()).unwrap().flatten().all(|entry| entry.path().is_file()));
    let told = told(&ran);
    let word = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
    let findings = told["findings"].as_array().unwrap().iter();
    let pairs = findings.map(|of| (word(of, "check"), (word(of, "outcome"), word(of, "seen"))));
    Some(pairs.collect())
}

/// Sizes of caches in MiB, one for each try.
const CACHE_MIB: [u32; 10] = [16, 8, 24, 4, 32, 12, 20, 28, 6, 10];

/// As often as `cargo xtask caches --measured` says, else once; two tries of each kind at a time,
/// as more would disturb each other. Other tests would, too.
#[test]
#[ignore = "measures time; `cargo xtask prove measured` runs it alone"]
fn caches_are_told_apart_by_what_they_do() {
    let tries = std::env::var("PLIMSOLL_CACHE_TRIES").map_or(1, |tries| tries.parse().unwrap());
    let sizes: Vec<u32> = CACHE_MIB.into_iter().cycle().take(tries).collect();
    for (first, pair) in sizes.chunks(2).enumerate() {
        thread::scope(|scope| {
            for (number, &mib) in pair.iter().enumerate() {
                let number = 2 * first + number;
                scope.spawn(move || the_mode_is_told(number, "through"));
                scope.spawn(move || the_mode_is_told(number, "flushed"));
                scope.spawn(move || the_size_is_told(number, mib));
            }
        });
    }
}

fn the_mode_is_told(number: usize, mode: &str) {
    let (rules, wanted) = match mode {
        "through" => (&["any flush drop", "any write delay=8ms"][..], "none: "),
        _ => (&["any flush delay=8ms"][..], "flushed: "),
    };
    let Some(found) = measured(&format!("cache-{mode}-{number}"), rules) else {
        return;
    };
    let seen = &found["measured-write-cache"].1;
    eprintln!("try {}, {mode}: {seen}", number + 1);
    assert!(seen.starts_with(wanted), "{mode}: {found:#?}");
}

fn the_size_is_told(number: usize, mib: u32) {
    // In writes of 32 KiB, of which 60 a second go on to the medium.
    let cache = format!("any write cache={}/60", mib * 32);
    let rules = ["any flush drop", &cache];
    let Some(found) = measured(&format!("cache-back-{number}"), &rules) else {
        return;
    };
    let (outcome, seen) = &found["measured-write-cache"];
    eprintln!("try {}, write back of {mib} MiB: {seen}", number + 1);
    assert_eq!(outcome, "warning", "{found:#?}");
    let size = seen.strip_prefix("write back, ").unwrap().split(' ').next().unwrap();
    let off = (size.parse::<f64>().unwrap() / f64::from(mib) - 1.0).abs();
    assert!(off < 0.25, "{mib} MiB: {seen}");
    assert_eq!(found["cache-behaviour"].0, "cannot_judge");
}

#[test]
fn a_measurement_without_room_or_folder_is_refused_and_leaves_nothing() {
    let scene = Scene::new("inspect-room");
    scene.write("file", b"1");
    let before = scene.listing();
    let ran = scene.run(["inspect", ".", "file", "--measure"]);
    ran.expect_refusal(&["is no folder"]);
    assert!(!ran.err.contains("comes and goes"), "nothing is announced: {}", ran.err);
    for (words, part) in [
        (vec!["inspect", ".", "--measure", "--measure-size", "900TiB"], "are free"),
        (vec!["inspect", ".", "--measure", "--measure-size", "1MiB"], "64 MiB at least"),
        (vec!["inspect", "file", "--measure"], "is no folder"),
    ] {
        scene.run(words).expect_refusal(&[part]);
    }
    scene.run(["inspect", ".", "--measure-size", "1GiB"]).expect_code(64);
    assert_eq!(scene.listing(), before);
}

#[test]
fn a_measurement_that_is_stopped_leaves_nothing() {
    let scene = Scene::new("inspect-stopped");
    let mut child = scene.start(["inspect", ".", "--measure", "--measure-size", "256MiB"]);
    thread::sleep(Duration::from_secs(4));
    send("-INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert!(scene.listing().is_empty(), "{:?}", scene.listing());
}

/// What storcli printed on a real server, in two commands.
#[test]
fn outputs_of_a_real_controller_are_read_together() {
    let Some(packed) = samples::find("storcli.tar.gz") else {
        return;
    };
    let scene = Scene::new("inspect-storcli");
    let mut texts = samples::texts(&packed).unwrap();
    // Folders have entries, too.
    texts.retain(|_, text| !text.is_empty());
    for (name, text) in &texts {
        scene.write(name, text.as_bytes());
    }
    let words = ["inspect", "--json", "--controller"];
    let ran = scene.run(words.into_iter().chain(texts.keys().map(String::as_str)));
    let told = told(ran.expect_code(0));
    for (check, outcome, seen) in [
        ("controller-write-cache", "pass", "write back, protected"),
        ("raid-level", "pass", "RAID6 of 4 disks"),
        ("controller-read-cache", "warning", "on, or reading ahead"),
    ] {
        let found = finding(&told, check);
        assert_eq!((&found["outcome"], &found["seen"]), (&json!(outcome), &json!(seen)));
    }
    assert_eq!(texts.len(), 2);
}
