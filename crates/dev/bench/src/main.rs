//! Benchmarks: this program and a peer on the same file in the same run, in alternating pairs, or
//! counts compared with the original tool's.

#![expect(clippy::print_stdout, reason = "printing is this program's output")]

mod account;
mod batch;
mod budget;
mod cached;
mod checksum;
mod cost;
mod crashed;
mod day;
mod deployments;
mod device;
mod engine;
mod events;
mod fidelity;
mod fio;
mod fio_memory;
mod fleet_day;
mod folder;
mod iscsi;
mod iscsi_perf;
mod iscsi_target;
mod killed;
mod levels;
mod mail;
mod mix;
mod pairs;
mod program;
mod published;
mod publishing;
mod recovery;
mod replay;
mod report;
mod reported;
mod served;
mod simulated;
mod sizing;
mod slice;
mod tally;
mod watched;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use xtask::failure::Failure;
use xtask::{command, shell, usage};

/// The product's allocator, so that a bench measures the product.
#[global_allocator]
static MEMORY: device_os::BufferMemory = device_os::BufferMemory::new();

fn usage() -> String {
    usage::list(&[usage::BENCH])
}

fn main() -> ExitCode {
    command::run(|_| usage(), dispatch)
}

fn dispatch(words: &[&str]) -> Result<(), Failure> {
    match words {
        [simulated::instructions::COMMAND, seconds] => simulated::instructions::alone(seconds),
        [slice::COMMAND, directory, depth, seed] => slice::run(Path::new(directory), depth, seed),
        [iscsi::COMMAND, address, depth, seed] => iscsi::alone(address, depth, seed),
        [engine::COMMAND, folder, sessions @ ..] => engine::alone(Path::new(folder), sessions),
        ["sizing", words @ ..] => sizing::run(words),
        [name] => run(name, &default_directory()?),
        [name, directory] => run(name, Path::new(directory)),
        _ => Err(Failure::new(usage())),
    }
}

fn default_directory() -> Result<PathBuf, Failure> {
    let directory = shell::root().join("target/bench");
    std::fs::create_dir_all(&directory)
        .map_err(|error| Failure::new(format!("{}: {error}", directory.display())))?;
    Ok(directory)
}

/// Pairs measured per line; the line shows their medians.
const PAIRS: usize = 5;

/// Runs the benchmark `name` with its files in `directory`.
fn run(name: &str, directory: &Path) -> Result<(), Failure> {
    match name {
        "deployments" => deployments::run(),
        "device" => device::run(directory).map(|comparisons| {
            for comparison in comparisons {
                println!("{comparison}");
            }
        }),
        "check" => program::check(directory).map(|pairs| show("check", pairs)),
        "prepare" => program::prepare(directory).map(|pairs| show("prepare", pairs)),
        "checksum" => {
            checksum::run();
            Ok(())
        }
        "engine" => engine::run(directory),
        "batch" => batch::run(directory),
        "cache" => cached::run(directory),
        "cached-runs" => cached::predicted_runs(directory),
        "vhost-user" => cached::in_shared_memory(directory),
        "cost" => cost::run(directory),
        "fidelity" => fidelity::run(),
        "fleet-day" => fleet_day::run(directory),
        "published" => published::run(directory),
        "publishing" => publishing::run(directory),
        "iscsi" => iscsi::run(directory),
        "levels" => levels::run(directory),
        "recovery" => recovery::run(directory),
        "replay" => replay::run(directory),
        "report" => report::run(directory),
        "served" => served::run(directory),
        "simulate" => simulated::run(directory),
        "watched" => watched::run(directory),
        _ => Err(Failure::new(format!(
            "no benchmark is called {name}; there are: deployments, device, check, prepare, \
             checksum, engine, batch, cache, cached-runs, cost, fidelity, fleet-day, iscsi, \
             levels, published, publishing, recovery, replay, report, served, simulate, \
             sizing, vhost-user, watched"
        ))),
    }
}

fn show(name: &str, pairs: Option<pairs::Pairs>) {
    if let Some(pairs) = pairs {
        println!("{name}: {pairs}");
    }
}

/// The middle value; the number of values must be odd.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_median_stands_in_the_middle() {
        assert!((super::median(vec![9.0, 1.0, 5.0]) - 5.0).abs() < f64::EPSILON);
    }
}
