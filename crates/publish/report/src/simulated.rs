//! What a report of a simulated run says of the model that it ran on.

use record::{RunRecord, Simulation};

use crate::document::{Block, Fact, Section};
use crate::format;

/// The first sentence of what such a run means.
pub(crate) fn sentence(simulation: &Simulation) -> String {
    format!("SIMULATED on the model \"{}\": nothing was measured on storage.", simulation.array)
}

/// How far its figures can be trusted, and why.
pub(crate) fn trust(simulation: &Simulation) -> String {
    format!(
        "Calibrated on {}; latencies may be {:.0} % off the true ones, either way.",
        calibrated_on(simulation),
        simulation.uncertainty_percent
    )
}

fn calibrated_on(simulation: &Simulation) -> String {
    match simulation.calibrated_on.join(", ") {
        none if none.is_empty() => "nothing".to_owned(),
        results => format!("{results}; {} parameters were free", simulation.free_parameters),
    }
}

/// The model, and how far it is known to be right.
pub(crate) fn section(run: &RunRecord) -> Option<Section> {
    let simulation = run.simulated()?;
    let facts = vec![
        Fact::new("Simulated Array", &simulation.array),
        Fact::new("Simulated Load", simulation.detail.name()),
        Fact::new("Calibrated On", calibrated_on(simulation)),
        Fact::new(
            "Uncertainty Of Latencies",
            format!("{:.0} % either way", simulation.uncertainty_percent),
        ),
        Fact::new(
            "Bytes That One Simulated Byte Stands For",
            format::number(simulation.stretch, 1),
        ),
        Fact::new("Seed Of The Array", format!("{:#018x}", simulation.seed)),
    ];
    let description = Block::Verbatim(simulation.array_text.clone());
    let blocks = vec![Block::Facts(facts), description];
    Some(Section { id: "simulation", title: "Simulated Storage", blocks })
}
