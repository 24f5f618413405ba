//! Designs in every form: no form loses anything, and no link is broken.

mod agreement;
mod design;
mod designs;
mod links;
mod predicted;
mod printed;

use record::synthetic::Synthetic;
use record::{Machine, RunRecord, Simulation};

use crate::{Sized, sizing_text_within};

/// A design as plain text, as wide as a file.
fn sizing_text(sized: Sized<'_>) -> String {
    sizing_text_within(sized, report::TEXT_WIDTH)
}

/// A short run that passes and never touched storage.
fn simulated() -> RunRecord {
    let short = Synthetic { warm_intervals: 1, measure_intervals: 4, ..Synthetic::default() };
    let mut run = short.run();
    run.start.command = "plimsoll simulate plan.toml --array array.toml".to_owned();
    run.start.machine = Machine { input_output: "simulated".to_owned(), ..Machine::default() };
    run.start.simulated = Some(Box::new(Simulation {
        array: "VNXe3300, 7 x 15K in RAID 5".to_owned(),
        array_text: "[raid]\nlevel = 5\ndisks = 7\n".to_owned(),
        seed: 7,
        stretch: 1_024.0,
        calibrated_on: vec!["T1".to_owned(), "T2".to_owned()],
        free_parameters: 14,
        uncertainty_percent: 25.0,
        least_read_ns: 1,
        ..Simulation::default()
    }));
    run
}
