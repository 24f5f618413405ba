//! What befalls a fleet, and what must come of it.

use std::thread;
use std::time::Duration;

use serde_json::Value;
use xtask::failure::Failure;

use super::world::{Fleet, HOSTS};

/// One thing that befalls a fleet.
pub(super) struct Case {
    pub(super) name: &'static str,
    /// Seconds of the measurement.
    pub(super) measured: u32,
    /// Carries it out; what was measured in a few words.
    pub(super) run: fn(&Fleet<'_>) -> Result<String, Failure>,
}

/// Hosts that begin further apart did not begin together.
const MOST_SKEW_NS: u64 = 5_000_000;

/// A loss must be noticed within this time.
const NOTICED_WITHIN_NS: u64 = 12_000_000_000;

pub(super) const CASES: &[Case] = &[
    Case { name: "skew", measured: 2, run: skew },
    Case { name: "link-cut", measured: 25, run: link_cut },
    Case { name: "agent-killed", measured: 25, run: agent_killed },
    Case { name: "agent-stopped", measured: 35, run: agent_stopped },
    Case { name: "controller", measured: 12, run: controller_killed },
    Case { name: "server", measured: 20, run: server_killed },
    Case { name: "flapping", measured: 40, run: flapping },
];

fn skew(fleet: &Fleet<'_>) -> Result<String, Failure> {
    let (_, report) = Fleet::report(fleet.start()?)?;
    let skew = report["skew_ns"].as_u64().unwrap_or(u64::MAX);
    let said = format!("{:.2} ms apart", skew as f64 / 1e6);
    if skew <= MOST_SKEW_NS { Ok(said) } else { Err(Failure::new(said)) }
}

fn link_cut(fleet: &Fleet<'_>) -> Result<String, Failure> {
    let run = fleet.start()?;
    fleet.wait_for_the_measurement()?;
    fleet.link(2, "down")?;
    let cut_ns = now_ns();
    let ended = Fleet::report(run);
    fleet.link(2, "up")?;
    named(fleet, &ended?, "h2", cut_ns)
}

fn agent_killed(fleet: &Fleet<'_>) -> Result<String, Failure> {
    let run = fleet.start()?;
    fleet.wait_for_the_measurement()?;
    fleet.signal(3, "-KILL")?;
    let killed_ns = now_ns();
    named(fleet, &Fleet::report(run)?, "h3", killed_ns)
}

/// An agent that comes back after 20 s is no host less: the loss is a warning.
fn agent_stopped(fleet: &Fleet<'_>) -> Result<String, Failure> {
    let run = fleet.start()?;
    fleet.wait_for_the_measurement()?;
    fleet.signal(1, "-STOP")?;
    thread::sleep(Duration::from_secs(20));
    fleet.signal(1, "-CONT")?;
    let (_, report) = Fleet::report(run)?;
    only_lost(&report, "h1")?;
    complete(&report).map(|said| format!("h1 was back; {said}"))
}

fn controller_killed(fleet: &Fleet<'_>) -> Result<String, Failure> {
    let mut run = fleet.start()?;
    fleet.wait_for_the_measurement()?;
    run.kill().and_then(|()| run.wait()).map_err(Failure::of)?;
    thread::sleep(Duration::from_secs(15));
    complete(&fleet.collect()?.1)
}

fn server_killed(fleet: &Fleet<'_>) -> Result<String, Failure> {
    let run = fleet.start()?;
    fleet.wait_for_the_measurement()?;
    fleet.kill_server()?;
    thread::sleep(Duration::from_secs(3));
    fleet.restart_server()?;
    complete(&Fleet::report(run)?.1)
}

fn flapping(fleet: &Fleet<'_>) -> Result<String, Failure> {
    let run = fleet.start()?;
    fleet.wait_for_the_measurement()?;
    for _ in 0..5 {
        fleet.link(4, "down")?;
        thread::sleep(Duration::from_secs(3));
        fleet.link(4, "up")?;
        thread::sleep(Duration::from_secs(3));
    }
    complete(&Fleet::report(run)?.1)
}

fn now_ns() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |of| u64::try_from(of.as_nanos()).unwrap_or(u64::MAX))
}

/// A loss names its host and no other, in time, and the run cannot be judged.
fn named(
    fleet: &Fleet<'_>,
    (code, report): &(i32, Value),
    host: &str,
    at_ns: u64,
) -> Result<String, Failure> {
    let finding = only_lost(report, host)?;
    if *code != 2 {
        return Err(Failure::new(format!("exit {code} and not 2")));
    }
    let journal = std::fs::read_to_string(fleet.folder.join("out/fleet.jsonl"));
    let journal = journal.map_err(Failure::of)?;
    let line = journal.lines().find(|line| line.contains("\"lost\""));
    let line: Value = serde_json::from_str(line.unwrap_or("{}")).map_err(Failure::of)?;
    let noticed = line["at_ns"].as_u64().unwrap_or(u64::MAX).saturating_sub(at_ns);
    let said = format!("noticed after {:.1} s: {finding}", noticed as f64 / 1e9);
    if noticed <= NOTICED_WITHIN_NS { Ok(said) } else { Err(Failure::new(said)) }
}

fn only_lost(report: &Value, host: &str) -> Result<String, Failure> {
    let findings = report["findings"].as_array().into_iter().flatten();
    let lost: Vec<&Value> = findings.filter(|of| of["rule"] == "host-lost").collect();
    match lost.as_slice() {
        [one] if one["host"] == host => Ok(one["text"].as_str().unwrap_or_default().to_owned()),
        other => Err(Failure::new(format!("{host} alone was lost, and the report has {other:?}"))),
    }
}

/// Every journal has arrived to its end.
fn complete(report: &Value) -> Result<String, Failure> {
    let hosts = report["hosts"].as_array().into_iter().flatten();
    let whole = hosts.filter(|host| host["is_complete"] == true).count();
    let said = format!("{whole} of {HOSTS} journals complete");
    if whole == HOSTS { Ok(said) } else { Err(Failure::new(said)) }
}
