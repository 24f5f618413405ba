//! The model of a simulated run, for its report.

use record::{RunRecord, Simulation};

use crate::document::{Block, Fact, Section};
use crate::format;

/// The first sentence about such a run.
pub(crate) fn sentence(simulation: &Simulation) -> String {
    format!("SIMULATED on the model \"{}\": nothing was measured on storage.", simulation.array)
}

/// How far its figures can be trusted, and why.
pub fn trust(simulation: &Simulation) -> String {
    let model = if simulation.calibrated_on.is_empty() {
        "Uncalibrated model".to_owned()
    } else {
        format!("Calibrated on {}", calibrated_on(simulation))
    };
    format!("{model}: expect latencies within +-{:.0} %.", simulation.uncertainty_percent)
}

fn calibrated_on(simulation: &Simulation) -> String {
    match simulation.calibrated_on.join(", ") {
        none if none.is_empty() => "nothing".to_owned(),
        results => format!("{results}; {} parameters were free", simulation.free_parameters),
    }
}

fn scale(stretch: f64) -> String {
    if stretch > 1.0 {
        return format!("databases shrunk {} times", format::three_digits(stretch));
    }
    "databases at full size".to_owned()
}

/// The model, and its known accuracy.
pub(crate) fn section(run: &RunRecord) -> Option<Section> {
    let simulation = run.simulated()?;
    let facts = vec![
        Fact::new("Simulated Array", &simulation.array),
        Fact::new("Simulated Load", simulation.detail.name()),
        Fact::new("Calibrated On", calibrated_on(simulation)),
        Fact::new("Uncertainty Of Latencies", format!("+-{:.0} %", simulation.uncertainty_percent)),
        Fact::new("Scale", scale(simulation.stretch)),
        Fact::new("Seed Of The Array", format!("{:#018x}", simulation.seed)),
    ];
    let description = Block::Verbatim(simulation.array_text.clone());
    let blocks = vec![Block::Facts(facts), description];
    Some(Section { id: "simulation", title: "Simulated Storage", blocks })
}
