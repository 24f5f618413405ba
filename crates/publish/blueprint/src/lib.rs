//! Pages about what should be bought: a sizing, its failures played through, and simulated arrays
//! ranked beside each other.
//!
//! It is separate from `report`, which shows what a run measured, so that `report` knows neither
//! the formulas of a sizing nor the copies of a deployment. Both render the same kind of document,
//! so their pages look and link alike. Nothing here touches a disk or a clock.

mod deployment;
mod design;
mod next_steps;
mod pareto;
mod prediction;
mod running;

pub use deployment::{
    Claim, ClaimState, NearLimit, Outage, OutageEnd, PaperFailure, PlayedReport, Proof, Remedy,
    Trust, deployment_html, deployment_json, deployment_text, proof_html, proof_json, proof_text,
};
pub use design::{
    Candidate, DesignEdit, PredictedDesign, SimulatedEdit, Sized, Unsimulated, explain,
    failure_json, ranked, scenarios, scenarios_json, sizing_html, sizing_json, sizing_text_within,
    written_edits,
};
pub use prediction::{
    PredictedArray, Prediction, PredictionFigures, ranked_predictions, render_predictions,
};

#[cfg(test)]
mod tests;
