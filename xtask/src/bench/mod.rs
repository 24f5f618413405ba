//! Measurements: against a peer on the same file in the same run, in alternating pairs; or counts
//! against what the original tool counts.

pub mod batch;
pub mod budget;
pub mod checksum;
pub mod crashed;
pub mod device;
pub mod engine;
pub mod fio;
mod fio_memory;
pub mod folder;
pub mod killed;
pub mod mail;
pub mod mix;
pub mod pairs;
pub mod program;
pub mod recovery;
pub mod slice;
pub mod tally;

use std::path::Path;

use crate::failure::Failure;

/// Pairs measured per line; the line shows their medians.
pub const PAIRS: usize = 5;

/// Runs the benchmark `name` with its files in `directory`.
pub fn run(name: &str, directory: &Path) -> Result<(), Failure> {
    match name {
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
        "recovery" => recovery::run(directory),
        _ => Err(Failure::new(format!(
            "no benchmark is called {name}; there are: device, check, prepare, checksum, \
             engine, batch, recovery"
        ))),
    }
}

fn show(name: &str, pairs: Option<pairs::Pairs>) {
    if let Some(pairs) = pairs {
        println!("{name}: {pairs}");
    }
}

/// The middle value of an odd number of them.
pub fn median(mut values: Vec<f64>) -> f64 {
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
