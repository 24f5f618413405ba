//! The five commands of the README, from nothing to a verdict, as it has them. Both hosts are this
//! machine, so addresses and folders differ.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Fleet, free_address, has_server};
use crate::scene::{Scene, small_plan};

const HOSTS: [&str; 2] = ["ex01", "ex02"];

/// The five commands, and the one that makes a certificate.
fn commands() -> (Vec<String>, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let text = fs::read_to_string(root.join("README.md")).unwrap();
    let section = text.split("## Many hosts, one verdict").nth(1).expect("the section");
    let block = section.split("```").nth(1).expect("its commands");
    let lines = block.lines().filter(|line| line.starts_with("plimsoll "));
    let bare = |line: &str| line.split(" #").next().unwrap_or_default().trim().to_owned();
    let openssl = section.split('`').find(|of| of.starts_with("openssl")).expect("openssl");
    (lines.map(bare).collect(), openssl.replace('\n', " "))
}

#[test]
fn five_commands_lead_from_nothing_to_a_verdict() {
    if !has_server() {
        return;
    }
    let (commands, openssl) = commands();
    let [up, agent, plan, fleet_plan, run] = commands.as_slice() else {
        panic!("five commands, not {commands:#?}");
    };
    let mut fleet = Fleet { scene: Scene::new("fleet-readme"), agents: Vec::new() };
    let openssl = openssl.replace("10.0.0.1", "127.0.0.1");
    let mut words = openssl.split_whitespace();
    let mut make = Command::new(words.next().unwrap());
    make.args(words).current_dir(&fleet.scene.folder);
    if !make.output().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: openssl is not installed (apt-get install openssl)");
        return;
    }
    let up = up.replace("10.0.0.1:4222", &free_address());
    fleet.scene.run(up.split(' ').skip(1)).expect_code(0).expect_out(&["tls://127.0.0.1"]);
    let credentials = fleet.scene.path("plimsoll-fleet/agent.json");
    for host in HOSTS {
        fs::create_dir_all(fleet.scene.path(host)).unwrap();
        fs::copy(&credentials, fleet.scene.path("agent.json")).unwrap();
        let folder = fleet.scene.path(host).display().to_string();
        let words = agent.replace("/mnt/db1", &folder);
        let mut command = fleet.scene.command(words.split(' ').skip(1));
        command.args(["--name", host, "--state", &format!("agent-{host}")]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        fleet.agents.push(command.spawn().unwrap());
    }
    // What the comments have people edit: folders, sizes and names.
    for (words, edited) in [(plan, "folders"), (fleet_plan, "[[host]]")] {
        let words = words.split(" >").next().unwrap_or_default();
        fleet.scene.run(words.split(' ').skip(1)).expect_code(0).expect_out(&[edited]);
    }
    for host in HOSTS {
        let plan = small_plan(&fleet.scene.path(host));
        fleet.scene.write(&format!("{host}.toml"), plan.as_bytes());
    }
    fleet.plan(&HOSTS);
    let ran = fleet.scene.run(run.split(' ').skip(1));
    // Two seconds are too short for a pass.
    ran.expect_code(2).expect_out(&["2 hosts together", "The hosts began to measure"]);
    assert!(fleet.scene.path("dag1/report.html").exists(), "{}", ran.out);
}
