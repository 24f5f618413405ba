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

const SWEEP: [&str; 11] = [
    "simulate",
    "plan.toml",
    "--array",
    "shelf-15k",
    "--level",
    "1",
    "--what-if",
    "raid.level=5,10",
    "raid.disks=4,6,8",
    "cache.mode=write-back,write-through",
    "-o",
];

const FORMS: [&str; 4] = ["html", "txt", "csv", "json"];

fn sweep(folder: &str) -> Vec<&str> {
    SWEEP.into_iter().chain([folder]).collect()
}

/// The results that are kept in `folder`.
fn results(scene: &Scene, folder: &str) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(scene.path(folder)).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "result")).collect()
}

fn expect_alike(scene: &Scene, one: &str, two: &str) {
    for form in FORMS {
        let [left, right] = [one, two].map(|of| scene.read(format!("{of}/what-if.{form}")));
        assert!(left == right, "what-if.{form} of {one} and {two} differ");
    }
}

#[test]
fn a_sweep_that_is_killed_five_times_has_the_bytes_of_one_that_was_not() {
    let scene = Scene::new("sweep-killed");
    scene.write("plan.toml", PLAN.as_bytes());
    scene.run(sweep("whole")).expect_code(0);
    assert_eq!(results(&scene, "whole/results").len(), 12);
    for kill in 1..=5 {
        let mut child = scene.start(sweep("cut"));
        let patience = Instant::now() + Duration::from_mins(2);
        while results(&scene, "cut/results").len() < 2 * kill && Instant::now() < patience {
            thread::sleep(Duration::from_millis(20));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let known = results(&scene, "cut/results").len();
        assert!((2 * kill..12).contains(&known), "{known} after {kill} kills");
        assert!(!scene.path("cut/what-if.json").exists());
    }
    let ran = scene.run(sweep("cut"));
    ran.expect_code(0);
    assert!(ran.err.contains("were simulated before"), "{}", ran.err);
    expect_alike(&scene, "whole", "cut");
    let csv = String::from_utf8(scene.read("cut/what-if.csv")).unwrap();
    assert_eq!(csv.lines().count(), 13, "{csv}");

    // Of two damaged results both are computed again, and nothing else.
    let mut kept = results(&scene, "cut/results");
    kept.sort();
    let whole = fs::read(&kept[0]).unwrap();
    fs::write(&kept[0], &whole[..whole.len() / 2]).unwrap();
    fs::write(&kept[1], b"nonsense").unwrap();
    let ran = scene.run(sweep("cut"));
    assert!(ran.err.contains("10 were simulated before"), "{}", ran.err);
    assert!(fs::read(&kept[0]).unwrap() == whole, "the same result");
    expect_alike(&scene, "whole", "cut");

    // Another sweep has no place in the folder, but may use its results.
    let mut other = sweep("cut");
    other[8] = "raid.disks=6";
    scene.run(&other).expect_refusal(&["cut", "another sweep of 12", "--cache"]);
    other[11] = "other";
    let shared = scene.run(other.iter().chain(&["--cache", "cut/results"]));
    shared.expect_code(0);
    assert!(shared.err.contains("; 4 were simulated before"), "{}", shared.err);
    assert_eq!(results(&scene, "cut/results").len(), 12, "nothing new");
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
    fleet.scene.run(sweep("whole").iter().chain(&["--cache", "own"])).expect_code(0);
    for host in ["one", "two", "three"] {
        start_simulator(&mut fleet, host);
    }
    let mut controller = fleet.scene.start(sweep("far").iter().chain(&["--fleet"]));
    let patience = Instant::now() + Duration::from_mins(2);
    let at_work = fleet.scene.path("agent-two/simulation-0");
    while !at_work.exists() && Instant::now() < patience {
        thread::sleep(Duration::from_millis(5));
    }
    fleet.agents[1].kill().unwrap();
    assert!(at_work.exists(), "it was killed at work");
    assert!(controller.wait().unwrap().success());
    assert_eq!(results(&fleet.scene, "far/results").len(), 12, "every design once");
    expect_alike(&fleet.scene, "whole", "far");
    for result in results(&fleet.scene, "own") {
        let name = result.file_name().unwrap();
        let far = fleet.scene.read(std::path::Path::new("far/results").join(name));
        assert!(far == fs::read(&result).unwrap(), "{}", result.display());
    }
    // All is known, so that no agent is asked.
    let again = fleet.scene.run(sweep("far").iter().chain(&["--fleet"]));
    again.expect_code(0);
    assert!(again.err.contains("; 12 were simulated before"), "{}", again.err);
}
