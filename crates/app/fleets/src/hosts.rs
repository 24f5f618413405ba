//! Lists the members of a fleet: every agent that sends a sign of life within a few heartbeats.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use carrier::{Carrier, EVERY_BEAT};
use fleet::{AgentId, AgentStep, Heartbeat, decode};
use serde_json::json;

use console::Console;
use console::Outcome;
use console::error::CommandError;

/// How long to listen: six heartbeat intervals.
const LISTEN: Duration = Duration::from_secs(3);

/// Lists the hosts; an empty fleet is no pass.
pub(super) fn list(
    carrier: &Carrier,
    json: bool,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let (hosts, malformed) = heard(carrier)?;
    if json {
        let rows: Vec<_> = hosts.values().map(|beat| json!(beat_row(beat))).collect();
        console.answer_json("fleet_hosts", json!({ "hosts": rows, "ignored": malformed }))?;
    } else {
        print(&hosts, malformed, console)?;
    }
    Ok(if hosts.is_empty() { Outcome::CannotJudge } else { Outcome::Pass })
}

fn heard(carrier: &Carrier) -> Result<(BTreeMap<AgentId, Heartbeat>, u64), CommandError> {
    let letters = carrier.subscribe(EVERY_BEAT.to_owned())?;
    let (mut hosts, mut malformed) = (BTreeMap::new(), 0);
    let began = Instant::now();
    while let Some(left) = LISTEN.checked_sub(began.elapsed()) {
        let Some(letter) = letters.next(left) else { break };
        match decode::<Heartbeat>(&letter.bytes) {
            Ok(beat) => drop(hosts.insert(beat.agent.clone(), beat)),
            Err(_) => malformed += 1,
        }
    }
    Ok((hosts, malformed))
}

fn beat_row(beat: &Heartbeat) -> serde_json::Value {
    let run = beat.job.as_ref().map(|job| job.run.as_str());
    let step = beat.job.as_ref().map(|job| step(&job.step));
    let (agent, load) = (beat.agent.as_str(), beat.load.filter(|_| is_loaded(beat)));
    json!({ "host": beat.host, "agent": agent, "run": run, "step": step, "load": load })
}

fn print(
    hosts: &BTreeMap<AgentId, Heartbeat>,
    malformed: u64,
    console: &mut Console,
) -> Result<(), CommandError> {
    if hosts.is_empty() {
        console.answer("No agent has joined: start `plimsoll agent` on every host.")?;
    }
    for beat in hosts.values() {
        let doing = match &beat.job {
            None => "idle".to_owned(),
            Some(job) => format!("{} (run {})", step(&job.step), job.run),
        };
        let load = beat.load.filter(|_| is_loaded(beat));
        let load = load.map_or_else(String::new, |load| format!(": {load}"));
        console.answer(format_args!("{:<20} {:<18} {doing}{load}", beat.host, beat.agent))?;
    }
    if malformed > 0 {
        console.answer(format_args!("Ignored: {malformed} messages that are no heartbeats"))?;
    }
    Ok(())
}

/// Whether a run generates load; the last load of an ended run is not shown.
const fn is_loaded(beat: &Heartbeat) -> bool {
    matches!(&beat.job, Some(job) if matches!(job.step, AgentStep::Waiting | AgentStep::Measuring))
}

/// Describes a host's progress.
pub(super) fn step(step: &AgentStep) -> String {
    match step {
        AgentStep::Preparing => "filling databases".to_owned(),
        AgentStep::Prepared => "databases filled".to_owned(),
        AgentStep::WarmingUp => "warming up".to_owned(),
        AgentStep::Waiting => "warm, waiting for the others".to_owned(),
        AgentStep::Measuring => "measuring".to_owned(),
        AgentStep::Down => "down on purpose".to_owned(),
        AgentStep::Ended { status: 0 } => "ended: pass".to_owned(),
        AgentStep::Ended { status: 1 } => "ended: fail".to_owned(),
        AgentStep::Ended { .. } => "ended: cannot judge".to_owned(),
        AgentStep::Failed { why } => format!("failed: {why}"),
    }
}
