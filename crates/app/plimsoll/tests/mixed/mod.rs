//! One fleet of two systems: an agent of this one, and an agent for Windows under Wine.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::{Scene, expect, text};

const HOSTS: [&str; 2] = ["linux", "windows"];

/// The server and the agents, ended at the end.
struct MixedFleet {
    scene: Scene,
    agents: Vec<Child>,
}

impl MixedFleet {
    fn up(scene: Scene) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        expect(&scene.native(&["fleet", "up", "--listen", &free]), 0);
        Self { scene, agents: Vec::new() }
    }

    fn join(&mut self, host: &str, mut command: Command, folder: &str) {
        fs::create_dir(self.scene.folder.join(host)).unwrap();
        self.scene.plan(&format!("{host}.toml"), folder);
        let state = format!("agent-{host}");
        command.args(["agent", "--credentials", "plimsoll-fleet/agent.json", "--name", host]);
        command.args(["--state", &state, "--allow", host]).current_dir(&self.scene.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.agents.push(command.spawn().unwrap());
    }
}

impl Drop for MixedFleet {
    fn drop(&mut self) {
        for agent in &mut self.agents {
            let _ = agent.kill().and_then(|()| agent.wait());
        }
        let _ = self.scene.native(&["fleet", "down"]);
    }
}

/// Database reads of a host in the intervals of its measurement that count.
fn reads_of(csv: &str, host: &str) -> u64 {
    let cells = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let rows = cells.filter(|row| row[0] == host && row[1] == "measurement" && row[4] == "yes");
    rows.filter(|row| row[6] == "Database reads").map(|row| row[7].parse::<u64>().unwrap()).sum()
}

#[test]
fn a_fleet_of_two_systems_measures_together_and_its_records_merge() {
    if !Path::new("/usr/sbin/nats-server").exists() {
        println!("skipped: nats-server is not installed (apt-get install nats-server)");
        return;
    }
    let Some(scene) = Scene::new("fleet") else { return };
    let mut fleet = MixedFleet::up(scene);
    let (linux, windows) =
        (fleet.scene.folder.join("linux").display().to_string(), fleet.scene.named("windows"));
    fleet.join("linux", Command::new(crate::wine::NATIVE), &linux);
    fleet.join("windows", crate::wine::program(), &windows);
    let hosts = HOSTS.map(|host| format!("[[host]]\nhost = \"{host}\"\nplan = \"{host}.toml\"\n"));
    let plan = format!("name = \"mixed\"\n{}", hosts.concat());
    fs::write(fleet.scene.folder.join("fleet.toml"), plan).unwrap();
    let ran = fleet.scene.native(&["fleet", "run", "fleet.toml", "-o", "out", "--json"]);
    let report: Value = serde_json::from_slice(&ran.stdout)
        .unwrap_or_else(|_| panic!("no report: {}", text(&ran.stderr)));
    for (at, system) in ["Linux", "Windows"].into_iter().enumerate() {
        assert_eq!(report["hosts"][at]["is_complete"], true, "{report:#}");
        let record = format!("out/hosts/{}/record.jsonl", HOSTS[at]);
        let record = fs::read_to_string(fleet.scene.folder.join(record)).unwrap();
        let start = record.lines().next().unwrap();
        let of_system = start.contains("\"operating_system\":\"Windows") == (system == "Windows");
        assert!(of_system, "{}: {start}", HOSTS[at]);
    }
    let csv = fs::read_to_string(fleet.scene.folder.join("out/report.csv")).unwrap();
    let reads = HOSTS.map(|host| reads_of(&csv, host));
    let all = report["all_hosts"].as_array().unwrap();
    let merged = all.iter().find(|of| of["series"] == "database_read").unwrap();
    assert!(reads.iter().all(|of| *of > 0), "{reads:?}");
    assert_eq!(merged["count"].as_u64(), Some(reads[0] + reads[1]), "{reads:?}");
    let skew = report["skew_ns"].as_u64().unwrap() as f64 / 1e6;
    println!("a fleet of Linux and Windows: {reads:?} reads merged, begun {skew:.1} ms apart");
}
