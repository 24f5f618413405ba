//! Bounds from first principles for every array that ships: a read on an idle array takes the time
//! of its medium and little more. Each array gets a line, including any added later.

use std::fs;
use std::path::Path;

use simdisk::ArrayDescription;
use xtask::failure::Failure;
use xtask::shell;

use super::prediction::PredictedRun;
use super::runs::PublishedQuantity;

/// Bytes of a read: a database page.
const PAGE_BYTES: f64 = 32.0 * 1_024.0;

const MICROSECONDS_OF_A_MINUTE: f64 = 60e6;

/// Options of `simulate`: one session for a minute, on a database of an eighth of the array without
/// a background scan.
const OPTIONS: [&str; 6] = ["--threads", "1", "--duration", "60s", "--level", "2"];

/// Simulates a light load on every array and prints its mean read next to its bounds; returns how
/// many are outside them.
pub(super) fn rows(folder: &Path) -> Result<usize, Failure> {
    let mut out = 0;
    for array in shipped()? {
        let (least, most) = bounds_ms(&array.description);
        let plan = plan(&array.description);
        let run = PredictedRun::simulated(folder, (&plan, &array.name), &OPTIONS, &[])?;
        let read = run.figure(PublishedQuantity::ReadMilliseconds, &[])?;
        let is_in = (least..=most).contains(&read);
        let word = if is_in { "in" } else { "OUT" };
        let name = format!("{}, idle", array.name);
        println!(
            "{name:<38} {:<20} {read:>9.2} {:>9}   {least:.2} to {most:.2}  {word}",
            "database reads, ms", "-"
        );
        out += usize::from(!is_in);
    }
    Ok(out)
}

struct ShippedArray {
    name: String,
    description: ArrayDescription,
}

/// The arrays of the folder `arrays`, by name.
fn shipped() -> Result<Vec<ShippedArray>, Failure> {
    let folder = shell::root().join("arrays");
    let mut all = Vec::new();
    for entry in fs::read_dir(&folder).map_err(Failure::of)? {
        let path = entry.map_err(Failure::of)?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).map_err(Failure::of)?;
        let description = ArrayDescription::parse(&name, &text, &[]).map_err(Failure::of)?;
        all.push(ShippedArray { name, description });
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

fn plan(array: &ArrayDescription) -> String {
    let gibibytes = (array.capacity_bytes() / 8) >> 30;
    format!(
        "preset = \"exchange2010\"\n[databases]\nfolders = [\"/array\"]\ncount = 1\n\
         size = \"{gibibytes}GiB\"\n[test]\nmaintenance = false\n"
    )
}

/// The minimum and maximum mean read time in milliseconds. A disk moves its arm, waits for half a
/// revolution on average and transfers the page; flash reads a page and transfers it; the round
/// trip is added. On average at most one request is ahead of a read, and takes equally long: a
/// single session reads, and writes come in bursts after its reads.
fn bounds_ms(array: &ArrayDescription) -> (f64, f64) {
    let (least_us, mean_us) = disk_us(array).unwrap_or_else(|| flash_us(array));
    let path = &array.path;
    let path_us = path.latency_us + path.request_us + path.kib_us * PAGE_BYTES / 1_024.0;
    ((least_us + path_us) / 1e3, 2.0 * (mean_us + path_us + path.drive_us) / 1e3)
}

fn disk_us(array: &ArrayDescription) -> Option<(f64, f64)> {
    let disk = array.disk.as_ref()?;
    let half_turn_us = MICROSECONDS_OF_A_MINUTE / disk.rpm / 2.0;
    let passing_us = PAGE_BYTES / disk.inner_mb_per_second;
    let mean_us = disk.seek_average_ms * 1e3 + half_turn_us + passing_us + disk.overhead_ms * 1e3;
    Some((disk.seek_track_to_track_ms * 1e3 + half_turn_us, mean_us))
}

/// Minimum and mean time of a page read on flash, in microseconds. The page is read from as many
/// dies in parallel as it covers pages of the medium, after any program operation in progress.
fn flash_us(array: &ArrayDescription) -> (f64, f64) {
    let Some(flash) = &array.flash else { return (0.0, 0.0) };
    let handed_us = PAGE_BYTES / flash.interface_mb_per_second;
    let limit_us = if array.limits.iops > 0.0 { 1e6 / array.limits.iops } else { 0.0 };
    let mean_us = flash.overhead_us + flash.read_us + flash.program_us + handed_us + limit_us;
    (flash.read_us, mean_us)
}

#[cfg(test)]
mod tests;
