//! The model that a run was simulated on: such a run has happened in virtual time, and nothing in
//! it was measured on storage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hexadecimal;

/// The storage model of a simulated run, and its accuracy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Simulation {
    /// Name of the simulated array.
    pub array: String,
    /// Its whole description, with the changes made to it, as TOML.
    pub array_text: String,
    /// Level of detail.
    pub detail: SimulationDetail,
    /// Seed of the array's random streams: angles of disks and the like.
    #[serde(with = "hexadecimal")]
    #[schemars(with = "String")]
    pub seed: u64,
    /// Real bytes of the plan's databases per simulated byte; 1: full size.
    pub stretch: f64,
    /// Published or measured results that the parameters were fitted to; empty: to none.
    pub calibrated_on: Vec<String>,
    /// Parameters that were free in that fit.
    pub free_parameters: u32,
    /// Error bound of simulated latencies, in percent of the true ones, either way, from
    /// comparisons with results.
    pub uncertainty_percent: f64,
    /// The least mean time of a random database read by the array's physics: the shortest seek and
    /// half a revolution, less the share answered by its memory. 0: not known.
    #[serde(default)]
    pub least_read_ns: u64,
}

/// Level of detail of a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SimulationDetail {
    /// The database engine itself, on page images.
    #[default]
    Engine,
    /// The requests that the engine makes, by their measured frequencies.
    Operations,
}

impl SimulationDetail {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Engine => "the database engine on page images",
            Self::Operations => "an operation model of the database engine",
        }
    }
}

impl Simulation {
    /// The range of the true value for a simulated `value`: if it is 25 % too high, the true one is
    /// four fifths of it; if 25 % too low, four thirds.
    pub fn range(&self, value: f64) -> (f64, f64) {
        let part = self.uncertainty_percent / 100.0;
        let most = if part < 1.0 { value / (1.0 - part) } else { f64::INFINITY };
        (value / (1.0 + part), most)
    }
}
