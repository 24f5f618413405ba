//! One run on healthy storage while other work competes with it.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use crate::healthy_table::{Disturbance, HealthyRow};
use crate::loop_volume::LoopVolume;
use crate::outcome::Observed;
use crate::program::{self, Program, RunLoad};

/// Length of the measurement, a little more than a verdict needs.
const MEASURED: Duration = Duration::from_secs(31);

/// Smallest size that every file system here supports.
const SMALL_BYTES: u64 = 320 << 20;
const LARGE_BYTES: u64 = 1 << 30;

/// Runs a new database on a new volume in `folder`.
pub(crate) fn run(program: &Program, folder: &Path, row: &HealthyRow) -> io::Result<Observed> {
    let HealthyRow { system, disturbance } = *row;
    let (image, mount) = (folder.join("image"), folder.join("disk"));
    fs::create_dir_all(&mount)?;
    let is_small = matches!(disturbance, Disturbance::SmallVolume | Disturbance::FullVolume);
    let bytes = if is_small { SMALL_BYTES } else { LARGE_BYTES };
    let volume = LoopVolume::new(system, bytes, &image, &mount)?;
    let load = load(disturbance, volume.free_bytes()?);
    program.prepare(folder, &load)?;
    let child = program.start(folder)?;
    if let Some(time) = disturbance.stopped() {
        stop(&child, time)?;
    }
    let outcome = program::finish(child, folder, &load, || {})?;
    drop(volume);
    fs::remove_dir_all(folder)?;
    Ok(outcome)
}

fn load(disturbance: Disturbance, free_bytes: u64) -> RunLoad {
    let (size_bytes, target_iops) = match disturbance {
        Disturbance::SmallVolume => (free_bytes / 2, Some(200)),
        Disturbance::FullVolume => (free_bytes / 2, None),
        _ => (64 << 20, Some(200)),
    };
    // The pause and the intervals around it do not count in the measurement, so it is prolonged.
    let pause = disturbance.stopped().map(|time| time + Duration::from_secs(3));
    RunLoad { measured: MEASURED + pause.unwrap_or_default(), size_bytes, target_iops }
}

/// Stops the program in the middle of its measurement.
fn stop(child: &Child, time: Duration) -> io::Result<()> {
    thread::sleep(MEASURED / 2);
    signal(child, "-STOP")?;
    thread::sleep(time);
    signal(child, "-CONT")
}

fn signal(child: &Child, name: &str) -> io::Result<()> {
    let mut kill = Command::new("kill");
    let status = kill.arg(name).arg(child.id().to_string()).status()?;
    if status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("kill {name}: {status}")))
}
