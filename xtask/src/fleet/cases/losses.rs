//! One host is lost or fails, and the others continue.

use std::thread;
use std::time::Duration;

use xtask::failure::Failure;

use crate::fleet::design::{Design, PLAIN};
use crate::fleet::network::HOSTS;
use crate::fleet::reports::{
    complete, into_measurement, named, none_lost, now_ns, only_failed, only_lost, unchanged,
};
use crate::fleet::world::Fleet;

/// Measures long enough before and after the cut that random variation of a rate stays below the
/// limit.
pub(super) const CUT: Design = Design { measured: 45, target_iops: 200, ..PLAIN };

/// Delay of the cut, so that it comes after the first seconds of the measurement.
const UNTIL_THE_CUT: Duration = Duration::from_secs(12);

/// A pulled cable must be noticed in time, while the other hosts carry their load as before.
pub(super) fn link_cut(fleet: &mut Fleet<'_>) -> Result<String, Failure> {
    let run = fleet.start()?;
    fleet.wait_for_the_measurement()?;
    thread::sleep(UNTIL_THE_CUT);
    fleet.plug(2, false)?;
    let cut_ns = now_ns();
    let ended = fleet.report(run);
    fleet.plug(2, true)?;
    let ended = ended?;
    let said = named(fleet, &ended, 2, cut_ns)?;
    let second = into_measurement(&ended.1, cut_ns)?;
    let others = unchanged(fleet, 2, (second, f64::from(CUT.measured)))?;
    Ok(format!("{said} {others}"))
}

pub(super) fn agent_killed(fleet: &mut Fleet<'_>) -> Result<String, Failure> {
    let run = fleet.start()?;
    fleet.wait_for_the_measurement()?;
    fleet.signal(3, "-KILL")?;
    let killed_ns = now_ns();
    let ended = fleet.report(run)?;
    let said = named(fleet, &ended, 3, killed_ns)?;
    // The host's next agent publishes the rest of the run, which has continued.
    fleet.start_agent(3)?;
    thread::sleep(Duration::from_secs(10));
    let (_, report) = fleet.collect()?;
    complete(fleet, &report, HOSTS).map(|after| format!("{said} Later {after}"))
}

/// An agent that comes back after 20 s is reported as lost for a while, but no record is missing.
pub(super) fn agent_stopped(fleet: &mut Fleet<'_>) -> Result<String, Failure> {
    let run = fleet.start()?;
    fleet.wait_for_the_measurement()?;
    fleet.signal(1, "-STOP")?;
    thread::sleep(Duration::from_secs(20));
    fleet.signal(1, "-CONT")?;
    let (_, report) = fleet.report(run)?;
    let lost = only_lost(&report, 1)?;
    complete(fleet, &report, HOSTS).map(|said| format!("{lost} {said}"))
}

/// Failing storage is reported for its host, which does not count as lost.
pub(super) fn disk_failed(fleet: &mut Fleet<'_>) -> Result<String, Failure> {
    let run = fleet.start()?;
    fleet.wait_for_the_measurement()?;
    let volume = fleet.volume.as_mut().ok_or_else(|| Failure::new("no volume"))?;
    volume.set("any write error")?;
    let ended = fleet.report(run)?;
    none_lost(&ended.1)?;
    only_failed(&ended.1, 2)
}
