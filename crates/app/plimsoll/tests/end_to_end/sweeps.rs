//! Sweeps of simulations that are killed and continued, and results that are kept by content.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::fleets::Fleet;
use crate::scene::Scene;

const PLAN: &str = "name = \"swept\"\n[databases]\nfolders = [\"/mail/a\"]\nsize = \"32MiB\"\n\
    [engine]\ncache_maximum = \"4MiB\"\ncache_minimum = \"2MiB\"\n[workload]\nthreads = 1\n\
    target_iops = 100\n[test]\nduration = \"40s\"\ninterval = \"10s\"\nchecksum = false\n\
    maintenance = false\n";

/// Designs of the array: twelve, each with as many latencies of the path as `designs` takes.
const AXES: [&str; 3] =
    ["raid.level=5,10", "raid.disks=4,6,8", "cache.mode=write-back,write-through"];
const DESIGNS_OF_AXES: usize = 12;

const FORMS: [&str; 4] = ["html", "txt", "csv", "json"];

/// Designs of a sweep: twelve, or `PLIMSOLL_SWEEP_DESIGNS`, which `cargo xtask sweeps` sets.
fn designs() -> usize {
    let asked = std::env::var("PLIMSOLL_SWEEP_DESIGNS").ok().and_then(|text| text.parse().ok());
    asked.map_or(DESIGNS_OF_AXES, |count: usize| count.next_multiple_of(DESIGNS_OF_AXES))
}

/// How long a sweep may take: seconds for a dozen designs.
fn patience() -> Duration {
    Duration::from_mins(2 + designs() as u64 / 20)
}

fn sweep(folder: &str) -> Vec<String> {
    sweep_of(&AXES, folder)
}

fn sweep_of(axes: &[&str], folder: &str) -> Vec<String> {
    let latencies: Vec<String> =
        (0..designs() / DESIGNS_OF_AXES).map(|number| (100 + number).to_string()).collect();
    let paths = format!("path.latency_us={}", latencies.join(","));
    let head = ["simulate", "plan.toml", "--array", "shelf-15k", "--level", "1", "--what-if"];
    let words = head.iter().chain(axes).copied().chain([&*paths, "-o", folder]);
    words.map(str::to_owned).collect()
}

/// The results that are kept in `folder`.
fn results(scene: &Scene, folder: &str) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(scene.path(folder)).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "result")).collect()
}

/// The same text, but for the folders in the command of the next step.
fn expect_alike(scene: &Scene, one: &str, two: &str) {
    for form in FORMS {
        let [left, right] = [one, two].map(|of| {
            let bytes = scene.read(format!("{of}/what-if.{form}"));
            without_folders(&String::from_utf8(bytes).expect("text"), of)
        });
        assert!(left == right, "what-if.{form} of {one} and {two} differ");
    }
}

/// Options are set apart in HTML, and the length of a folder's name moves the ends of lines.
fn without_folders(text: &str, folder: &str) -> String {
    let plain = text.replace("<span class=\"option\">", "").replace("</span>", "");
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace(&format!("--output {folder}"), "--output FOLDER").replace(" --cache own", "")
}

#[test]
fn a_sweep_that_is_killed_five_times_has_the_bytes_of_one_that_was_not() {
    let scene = Scene::new("sweep-killed");
    scene.write("plan.toml", PLAN.as_bytes());
    let all = designs();
    scene.run(sweep("whole")).expect_code(0);
    assert_eq!(results(&scene, "whole/results").len(), all);
    for kill in 1..=5 {
        let mut child = scene.start(sweep("cut"));
        let (least, end) = (all * kill / 6, Instant::now() + patience());
        while results(&scene, "cut/results").len() < least && Instant::now() < end {
            thread::sleep(Duration::from_millis(20));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let known = results(&scene, "cut/results").len();
        assert!((least..all).contains(&known), "{known} after {kill} kills");
        assert!(!scene.path("cut/what-if.json").exists());
    }
    let ran = scene.run(sweep("cut"));
    ran.expect_code(0);
    assert!(ran.err.contains("were simulated before"), "{}", ran.err);
    expect_alike(&scene, "whole", "cut");
    let csv = String::from_utf8(scene.read("cut/what-if.csv")).unwrap();
    assert_eq!(csv.lines().count(), all + 1, "{csv}");

    // Of two damaged results both are computed again, and nothing else.
    let mut kept = results(&scene, "cut/results");
    kept.sort();
    let whole = fs::read(&kept[0]).unwrap();
    fs::write(&kept[0], &whole[..whole.len() / 2]).unwrap();
    fs::write(&kept[1], b"nonsense").unwrap();
    let ran = scene.run(sweep("cut"));
    let untouched = format!("{} were simulated before", all - 2);
    assert!(ran.err.contains(&untouched), "{}", ran.err);
    assert!(fs::read(&kept[0]).unwrap() == whole, "the same result");
    expect_alike(&scene, "whole", "cut");

    // Another sweep has no place in the folder, but may use its results.
    let axes = [AXES[0], "raid.disks=6", AXES[2]];
    let refusal = format!("another sweep of {all}");
    scene.run(sweep_of(&axes, "cut")).expect_refusal(&["cut", &refusal, "--cache"]);
    let other = sweep_of(&axes, "other");
    let shared = scene.run(other.iter().map(String::as_str).chain(["--cache", "cut/results"]));
    shared.expect_code(0);
    assert!(shared.err.contains(&format!("; {} were simulated", all / 3)), "{}", shared.err);
    assert_eq!(results(&scene, "cut/results").len(), all, "nothing new");
}

/// Neither RAID 5 nor RAID 10 has two disks, and four disks of 1 GB have no room: all are rows that
/// say so.
#[test]
fn designs_that_cannot_be_simulated_are_rows_with_their_reason() {
    let scene = Scene::new("sweep-impossible");
    let plan = PLAN.replace("32MiB", "3GiB").replace("4MiB", "64MiB");
    scene.write("plan.toml", plan.as_bytes());
    let words = "simulate plan.toml --array shelf-15k --level 1 -o out --what-if raid.level=5,10 \
                 raid.disks=2,4 disk.capacity_gb=1,300";
    let ran = scene.run(words.split_whitespace());
    ran.expect_code(0);
    assert!(ran.err.contains("6 of 8 cannot be simulated"), "{}", ran.err);
    let csv = String::from_utf8(scene.read("out/what-if.csv")).unwrap();
    let rows: Vec<&str> = csv.lines().skip(1).collect();
    assert_eq!(rows.len(), 8, "{csv}");
    let impossible = |row: &&str| row.contains(",impossible,");
    assert!(rows[..2].iter().all(|row| !impossible(row)), "{csv}");
    assert!(rows[2..].iter().all(impossible), "{csv}");
    assert!(csv.contains("simulate more or larger disks"), "{csv}");
    // The same folder continues, with nothing left to do.
    let again = scene.run(words.split_whitespace());
    again.expect_code(0);
    assert!(
        again.err.contains("; 2 were simulated before; 6 cannot be simulated"),
        "{}",
        again.err
    );
    assert!(csv.as_bytes() == scene.read("out/what-if.csv"));
}

/// Starts an agent that makes one simulation at a time.
fn start_simulator(fleet: &mut Fleet, host: &str) {
    let state = format!("agent-{host}");
    let words = ["agent", "--credentials", "plimsoll-fleet/agent.json", "--simulate", "1"];
    let named = ["--name", host, "--state", &state];
    let mut command = fleet.scene.command(words.iter().chain(&named));
    let errors = fs::File::create(fleet.scene.path(format!("{host}.txt"))).unwrap();
    command.stdout(std::process::Stdio::null()).stderr(errors);
    fleet.agents.push(command.spawn().unwrap());
}

/// Three agents, one of which is killed at work: every design has one result, as from one machine.
#[test]
fn agents_make_the_sweep_of_one_machine_although_one_of_them_is_lost() {
    let Some(mut fleet) = Fleet::up("sweep-fleet") else { return };
    fleet.scene.write("plan.toml", PLAN.as_bytes());
    let with = |folder, more: &[&str]| -> Vec<String> {
        sweep(folder).into_iter().chain(more.iter().map(|word| (*word).to_owned())).collect()
    };
    fleet.scene.run(with("whole", &["--cache", "own"])).expect_code(0);
    for host in ["one", "two", "three"] {
        start_simulator(&mut fleet, host);
    }
    let mut controller = fleet.scene.start(with("far", &["--fleet"]));
    let end = Instant::now() + patience();
    let at_work = fleet.scene.path("agent-two/simulation-0");
    while !at_work.exists() && Instant::now() < end {
        thread::sleep(Duration::from_millis(5));
    }
    fleet.agents[1].kill().unwrap();
    assert!(at_work.exists(), "it was killed at work");
    assert!(controller.wait().unwrap().success());
    assert_eq!(results(&fleet.scene, "far/results").len(), designs(), "every design once");
    expect_alike(&fleet.scene, "whole", "far");
    for result in results(&fleet.scene, "own") {
        let name = result.file_name().unwrap();
        let far = fleet.scene.read(std::path::Path::new("far/results").join(name));
        assert!(far == fs::read(&result).unwrap(), "{}", result.display());
    }
    // All is known, so that no agent is asked.
    let again = fleet.scene.run(with("far", &["--fleet"]));
    again.expect_code(0);
    let known = format!("; {} were simulated before", designs());
    assert!(again.err.contains(&known), "{}", again.err);
}
