//! The model that a run was simulated on: such a run has happened in virtual time, and nothing in
//! it was measured on storage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hexadecimal;

/// Where the storage of a simulated run came from, and how far it can be trusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Simulation {
    /// Name of the simulated array.
    pub array: String,
    /// Its whole description, with what was changed of it, as TOML.
    pub array_text: String,
    /// What was run on it.
    pub detail: SimulationDetail,
    /// Where the random streams of the array begin: angles of disks and the like.
    #[serde(with = "hexadecimal")]
    #[schemars(with = "String")]
    pub seed: u64,
    /// Bytes of the plan's databases that one byte stands for; 1: nothing was made smaller.
    pub stretch: f64,
    /// Published or measured results that the parameters were fitted to; empty: to none.
    pub calibrated_on: Vec<String>,
    /// Parameters that were free in that fit.
    pub free_parameters: u32,
    /// By how much simulated latencies may be off, in percent of the true ones, either way: what
    /// comparisons with results say of a model.
    pub uncertainty_percent: f64,
    /// The least mean time of a random database read by the array's physics: the shortest seek and
    /// half a revolution, less what its memory may answer. 0: not known.
    #[serde(default)]
    pub least_read_ns: u64,
}

/// What a simulation runs on the array.
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
    /// What reports print.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Engine => "the database engine on page images",
            Self::Operations => "an operation model of the database engine",
        }
    }
}

impl Simulation {
    /// The values between which the true one lies that was simulated as `value`: what is 25 % too
    /// high is four fifths of what was simulated, what is 25 % too low is four thirds of it.
    pub fn range(&self, value: f64) -> (f64, f64) {
        let part = self.uncertainty_percent / 100.0;
        let most = if part < 1.0 { value / (1.0 - part) } else { f64::INFINITY };
        (value / (1.0 + part), most)
    }
}
