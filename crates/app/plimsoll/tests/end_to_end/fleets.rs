//! A fleet of agents on this machine over a real nats-server on loopback; skipped aloud without it.

#[cfg(unix)]
mod access;
mod events;
#[cfg(unix)]
mod readme;
#[cfg(target_os = "linux")]
mod servers;
mod views;

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::scene::{Ran, Scene, small_plan};

/// Whether nats-server is installed; says aloud if it is not.
fn has_server() -> bool {
    let places = ["/usr/sbin/nats-server", "/usr/bin/nats-server"];
    let is_installed = places.iter().any(|place| Path::new(place).exists());
    if !is_installed {
        eprintln!("SKIPPED: nats-server is not installed (apt-get install nats-server)");
    }
    is_installed
}

/// An address of this machine that nothing listens on.
fn free_address() -> String {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap().to_string()
}

/// A private server and agents, each with its own folder; all are stopped when the test ends.
pub(crate) struct Fleet {
    pub(crate) scene: Scene,
    pub(crate) agents: Vec<Child>,
}

impl Fleet {
    /// None, said aloud, on a machine without nats-server.
    pub(crate) fn up(name: &str) -> Option<Self> {
        if !has_server() {
            return None;
        }
        let listen = free_address();
        let scene = Scene::new(name);
        let up = scene.run(["fleet", "up", "--listen", &listen]);
        up.expect_code(0).expect_out(&["plimsoll agent --credentials"]);
        Some(Self { scene, agents: Vec::new() })
    }

    /// Starts the agent of a host with its own folder and plan.
    pub(crate) fn join(&mut self, host: &str, seconds: u32) {
        let folder = self.scene.path(host);
        fs::create_dir_all(&folder).unwrap();
        let length = format!("duration = \"{seconds}s\"");
        let plan = small_plan(&folder).replace("duration = \"2s\"", &length);
        self.scene.write(&format!("{host}.toml"), plan.as_bytes());
        self.start_agent(host);
    }

    pub(crate) fn start_agent(&mut self, host: &str) {
        let folder = self.scene.path(host);
        let state = format!("agent-{host}");
        let mut command = self.scene.command([
            "agent",
            "--credentials",
            "plimsoll-fleet/agent.json",
            "--name",
            host,
            "--state",
            &state,
        ]);
        command.arg("--allow").arg(&folder);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        self.agents.push(command.spawn().unwrap());
    }

    pub(crate) fn plan(&self, hosts: &[&str]) {
        let part = |host: &&str| format!("[[host]]\nhost = \"{host}\"\nplan = \"{host}.toml\"\n");
        let hosts: String = hosts.iter().map(part).collect();
        let text = format!(
            "name = \"dag1\"\n[timing]\nsuspect = \"1s\"\nlost = \"3s\"\ncollect = \"5s\"\n{hosts}"
        );
        self.scene.write("fleet.toml", text.as_bytes());
    }

    fn report(ran: &Ran) -> Value {
        serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}\n{}", ran.out, ran.err))
    }

    /// Waits until the journal of `host` in the agent's folder says `text`.
    fn wait_for(&self, host: &str, text: &str) {
        let began = Instant::now();
        let runs = self.scene.path(format!("agent-{host}/runs"));
        let says = |journal: &Path| fs::read_to_string(journal).is_ok_and(|of| of.contains(text));
        loop {
            let mut found = fs::read_dir(&runs).into_iter().flatten().flatten();
            if found.any(|run| says(&run.path().join("record/record.jsonl"))) {
                return;
            }
            assert!(began.elapsed() < Duration::from_mins(1), "{host} never said {text}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for agent in &mut self.agents {
            let _ = agent.kill();
            let _ = agent.wait();
        }
        self.scene.run(["fleet", "down"]);
    }
}

#[test]
fn hosts_measure_together_and_their_journals_are_one_record() {
    let Some(mut fleet) = Fleet::up("fleet") else { return };
    for host in ["ex01", "ex02"] {
        fleet.join(host, 3);
    }
    let hosts = fleet.scene.run(["fleet", "hosts"]);
    hosts.expect_code(0).expect_out(&["ex01", "ex02", "idle"]);
    fleet.plan(&["ex01", "ex02"]);
    let ran = fleet.scene.run(["fleet", "run", "fleet.toml", "-o", "out", "--json"]);
    let report = Fleet::report(&ran);
    assert_eq!(report["kind"], "fleet_report");
    assert!(report["skew_ns"].as_u64().is_some_and(|skew| skew < 1_000_000_000), "{report:#}");
    let own = |host: &str| {
        let runs = fs::read_dir(fleet.scene.path(format!("agent-{host}/runs"))).unwrap();
        let run = runs.map(|run| run.unwrap().path()).next().expect("a run");
        fs::read(run.join("record/record.jsonl")).unwrap()
    };
    for (at, host) in ["ex01", "ex02"].into_iter().enumerate() {
        assert_eq!(report["hosts"][at]["is_complete"], true, "{report:#}");
        let collected = fleet.scene.read(format!("out/hosts/{host}/record.jsonl"));
        assert!(collected == own(host), "the journal of {host} is not byte for byte the host's");
    }
    // Its record is a run like any other, and the fleet can be judged again from the folder.
    fleet.scene.run(["report", "out/hosts/ex01"]).expect_out(&["Report:"]);
    let again = fleet.scene.run(["report", "out", "--format", "json"]);
    assert_eq!((again.code, &Fleet::report(&again)["verdict"]), (ran.code, &report["verdict"]));
    only_its_own_digest_stands_for_a_journal(&fleet.scene, &again);
}

/// The report of the fleet run in `out` was `expected`, and stays so with any digests.
fn only_its_own_digest_stands_for_a_journal(scene: &Scene, expected: &Ran) {
    let [digest, other] =
        ["ex01", "ex02"].map(|host| scene.path(format!("out/hosts/{host}/record.digest")));
    let report = || {
        let ran = scene.run(["report", "out", "--format", "json"]);
        assert_eq!((ran.code, &ran.out), (expected.code, &expected.out));
        ran.err
    };
    assert!(!report().contains("record.digest"));
    fs::copy(other, &digest).unwrap();
    let said = report();
    let expected = "record.digest: does not fit its journal and is ignored";
    assert!(said.contains("ex01") && said.contains(expected), "{said}");
    assert!(!report().contains("record.digest"), "the digest was replaced");
    fs::remove_file(&digest).unwrap();
    assert!(!report().contains("record.digest"));
    assert!(digest.exists());
}

#[test]
fn an_agent_that_is_killed_is_named_and_its_journal_is_completed_later() {
    let Some(mut fleet) = Fleet::up("fleet-loss") else { return };
    for host in ["ex01", "ex02"] {
        fleet.join(host, 12);
    }
    fleet.plan(&["ex01", "ex02"]);
    let run = fleet.scene.start(["fleet", "run", "fleet.toml", "-o", "out", "--json"]);
    fleet.wait_for("ex02", "\"phase\":\"measure\"");
    let killed = &mut fleet.agents[1];
    killed.kill().unwrap();
    killed.wait().unwrap();
    let ran = Ran::of(&run.wait_with_output().unwrap());
    let report = Fleet::report(&ran);
    ran.expect_code(2);
    let findings = report["findings"].as_array().unwrap();
    let lost = findings.iter().find(|of| of["rule"] == "host-lost").expect("the loss");
    assert_eq!(lost["host"], "ex02", "{report:#}");
    // Its run continues; the next agent finds and publishes it.
    fleet.start_agent("ex02");
    let began = Instant::now();
    loop {
        let collected = fleet.scene.run(["fleet", "collect", "out", "--json"]);
        let report = Fleet::report(&collected);
        if report["hosts"][1]["is_complete"] == true {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(90), "{report:#}");
    }
}

#[test]
fn what_an_agent_may_not_touch_it_refuses_and_a_missing_host_is_named() {
    let Some(mut fleet) = Fleet::up("fleet-refusal") else { return };
    fleet.join("ex01", 2);
    let elsewhere = small_plan(&fleet.scene.folder);
    fleet.scene.write("ex01.toml", elsewhere.as_bytes());
    fleet.plan(&["ex01"]);
    let ran = fleet.scene.run(["fleet", "run", "fleet.toml", "-o", "refused"]);
    ran.expect_code(2).expect_out(&["ex01 refused", "is not allowed on this host"]);
    let text = "name = \"dag1\"\n[timing]\ngather = \"2s\"\n\
                [[host]]\nhost = \"ex09\"\nplan = \"ex01.toml\"\n";
    fleet.scene.write("fleet.toml", text.as_bytes());
    let ran = fleet.scene.run(["fleet", "run", "fleet.toml", "-o", "missing"]);
    ran.expect_code(2).expect_out(&["no agent of ex09", "plimsoll agent"]);
    assert!(!ran.out.contains("-0"), "nothing is not less than nothing: {}", ran.out);
}

#[test]
fn bad_input_of_a_fleet_is_one_sentence() {
    let scene = Scene::new("fleet-input");
    scene.run(["fleet", "hosts"]).expect_refusal(&["plimsoll fleet up"]);
    scene.run(["fleet", "down"]).expect_refusal(&["nothing to stop"]);
    scene.run(["fleet", "up", "--listen", "0.0.0.0:4222"]).expect_refusal(&["--tls-cert"]);
    scene.write("fleet.toml", b"name = \"a\"\n");
    scene.run(["fleet", "run", "fleet.toml"]).expect_refusal(&["no [[host]]"]);
    scene.write("fleet.toml", b"name = ]");
    scene.run(["fleet", "run", "fleet.toml"]).expect_refusal(&["fleet.toml", "line 1"]);
    scene.run(["fleet", "collect", "none"]).expect_refusal(&["fleet.jsonl", "check the path"]);
    let other = ["agent", "--join", "http://127.0.0.1:1", "--allow", "."];
    scene.run(other).expect_code(64).expect_err(&["nats://HOST:PORT"]);
    scene.run(["fleet", "plan"]).expect_code(0).expect_out(&["[[host]]"]);
    scene.write("agent.json", b"{}");
    let agent = scene.run(["agent", "--credentials", "agent.json"]);
    agent.expect_refusal(&["agent.json"]);
}
