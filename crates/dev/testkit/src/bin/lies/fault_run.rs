//! One run on storage with a fault, on a separate volume.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use testkit::fault_volume::FaultVolume;

use crate::fault_table::FaultRow;
use crate::outcome::Observed;
use crate::program::{self, Program, RunLoad};

/// Prepares a new database in `folder` on healthy storage, then runs it with the row's fault.
pub(crate) fn run(program: &Program, folder: &Path, row: &FaultRow) -> io::Result<Observed> {
    let (backing, mount) = (folder.join("backing"), folder.join("disk"));
    fs::create_dir_all(&backing)?;
    fs::create_dir_all(&mount)?;
    let volume = FaultVolume::mount(&backing, &mount)?;
    let load = load(row);
    program.prepare(folder, &load)?;
    volume.set(vec![row.rule]);
    let child = program.start(folder)?;
    let outcome = program::finish(child, folder, &load, || volume.set(Vec::new()))?;
    let injected = volume.injected();
    drop(volume);
    fs::remove_dir_all(folder)?;
    Ok(Observed { injected, ..outcome })
}

/// The load of a row: missing bytes are detected at the end of a run of any length, but slowness
/// only in one long enough to be judged.
fn load(row: &FaultRow) -> RunLoad {
    let is_of_time = row.is_of_time();
    RunLoad {
        measured: Duration::from_secs(if is_of_time { 31 } else { 2 }),
        size_bytes: 16 << 20,
        target_iops: is_of_time.then_some(200),
    }
}
