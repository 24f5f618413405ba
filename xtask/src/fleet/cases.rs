//! The events that a fleet is exposed to, and the required outcomes.

mod events;
mod losses;
mod outages;

use xtask::failure::Failure;

use super::design::{Design, PLAIN};
use super::reports::require;
use super::world::Fleet;

/// One event that a fleet is exposed to.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) design: Design,
    /// Maximum number of attempts: cases that take minutes are repeated less often than those that
    /// take seconds.
    pub(super) most: u32,
    /// Runs the case; returns its measurement in a few words.
    pub(super) run: fn(&mut Fleet<'_>) -> Result<String, Failure>,
}

/// Maximum difference between the starts of two hosts that began together.
const MOST_SKEW_NS: u64 = 5_000_000;

/// Number of agents, more than there are networks on this machine.
const AGENTS: usize = 16;

pub(super) const CASES: &[Case] = &[
    Case { name: "skew", design: Design { measured: 2, ..PLAIN }, most: 20, run: skew },
    Case { name: "link-cut", design: losses::CUT, most: 20, run: losses::link_cut },
    Case { name: "agent-killed", design: PLAIN, most: 20, run: losses::agent_killed },
    Case {
        name: "agent-stopped",
        design: Design { measured: 35, ..PLAIN },
        most: 20,
        run: losses::agent_stopped,
    },
    Case {
        name: "disk-failed",
        design: Design { measured: 15, faulty: Some(2), ..PLAIN },
        most: 20,
        run: losses::disk_failed,
    },
    Case {
        name: "controller",
        design: Design { measured: 15, ..PLAIN },
        most: 20,
        run: outages::controller_killed,
    },
    Case { name: "server", design: PLAIN, most: 20, run: outages::server_killed },
    Case {
        name: "flapping",
        design: Design { measured: 70, ..PLAIN },
        most: 20,
        run: outages::flapping,
    },
    Case { name: "take-over", design: events::SOUND, most: 3, run: events::carried },
    Case { name: "too-slow", design: events::SLOW, most: 3, run: events::not_carried },
    Case {
        name: "sixteen",
        design: Design { hosts: AGENTS, measured: 5, target_iops: 10, ..PLAIN },
        most: 3,
        run: sixteen,
    },
];

fn skew(fleet: &mut Fleet<'_>) -> Result<String, Failure> {
    let (_, report) = fleet.report(fleet.start()?)?;
    let skew = report["skew_ns"].as_u64().unwrap_or(u64::MAX);
    require(skew <= MOST_SKEW_NS, format!("{:.2} ms apart", skew as f64 / 1e6))
}

fn sixteen(fleet: &mut Fleet<'_>) -> Result<String, Failure> {
    let (_, report) = fleet.report(fleet.start()?)?;
    super::reports::none_lost(&report)?;
    super::reports::complete(fleet, &report, AGENTS)
}
