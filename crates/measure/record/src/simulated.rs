//! The model that a run was simulated on: such a run took place in virtual time, and nothing in it
//! was measured on storage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hexadecimal;

/// The storage model of a simulated run, and its accuracy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Simulation {
    /// Name of the simulated array.
    pub array: String,
    /// Its full description as TOML, including the changes made to it.
    pub array_text: String,
    /// Level of detail.
    pub detail: SimulationDetail,
    /// Seed of the array's random streams: disk angles and the like.
    #[serde(with = "hexadecimal")]
    #[schemars(with = "String")]
    pub seed: u64,
    /// Real bytes of the plan's databases per simulated byte; 1 for full size.
    pub stretch: f64,
    /// Published or measured results that the parameters were fitted to; empty if they were not
    /// fitted.
    pub calibrated_on: Vec<String>,
    /// Parameters that were free in that fit.
    pub free_parameters: u32,
    /// Error bound of simulated latencies, in percent of the true ones, in either direction, from
    /// comparisons with results.
    pub uncertainty_percent: f64,
    /// Physical lower bound of the array's mean time for a random database read: the shortest seek
    /// and half a revolution, less the share served from its memory. 0 if unknown.
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
    /// The engine's requests, at their measured frequencies.
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
    /// The range of the true value behind a simulated `value`: if it is 25 % too high, the true
    /// value is four fifths of it; if 25 % too low, four thirds.
    pub fn range(&self, value: f64) -> (f64, f64) {
        let part = self.uncertainty_percent / 100.0;
        let most = if part < 1.0 { value / (1.0 - part) } else { f64::INFINITY };
        (value / (1.0 + part), most)
    }
}
