//! The controller, the server or the network is unavailable for a while, but no part of the record
//! may be missing.

use std::thread;
use std::time::Duration;

use xtask::failure::Failure;

use crate::fleet::network::HOSTS;
use crate::fleet::reports::complete;
use crate::fleet::world::Fleet;

/// Number of times that a link goes down for three seconds and up for three, for a minute in total.
const FLAPS: u32 = 10;

pub(super) fn controller_killed(fleet: &mut Fleet<'_>) -> Result<String, Failure> {
    let mut run = fleet.start()?;
    fleet.wait_for_the_measurement()?;
    run.kill().and_then(|()| run.wait()).map_err(Failure::of)?;
    // Meanwhile the hosts complete their measurement.
    thread::sleep(Duration::from_secs(20));
    complete(fleet, &fleet.collect()?.1, HOSTS)
}

pub(super) fn server_killed(fleet: &mut Fleet<'_>) -> Result<String, Failure> {
    let run = fleet.start()?;
    fleet.wait_for_the_measurement()?;
    fleet.kill_server()?;
    thread::sleep(Duration::from_secs(3));
    fleet.restart_server()?;
    let (_, report) = fleet.report(run)?;
    complete(fleet, &report, HOSTS)
}

pub(super) fn flapping(fleet: &mut Fleet<'_>) -> Result<String, Failure> {
    let run = fleet.start()?;
    fleet.wait_for_the_measurement()?;
    for _ in 0..FLAPS {
        for is_in in [false, true] {
            fleet.plug(4, is_in)?;
            thread::sleep(Duration::from_secs(3));
        }
    }
    let (_, report) = fleet.report(run)?;
    complete(fleet, &report, HOSTS)
}
