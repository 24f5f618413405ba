//! The model that a run was simulated on: such a run took place in virtual time, and nothing in it
//! was measured on storage.

use std::collections::BTreeSet;

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
    /// Whether the run is one host of a deployment that was simulated as a whole. Only the
    /// deployment is judged: a host of passive copies may serve no user.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_host_of_deployment: bool,
    /// Whether that deployment is judged by the rules for each of its hosts, because they share no
    /// timeline. Its verdict is the worst of theirs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_judged_by_hosts: bool,
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
        true_range(value, self.uncertainty_percent)
    }
}

/// The range of the true value behind a simulated `value` of a model with this error bound.
pub fn true_range(value: f64, uncertainty_percent: f64) -> (f64, f64) {
    let part = uncertainty_percent / 100.0;
    let most = if part < 1.0 { value / (1.0 - part) } else { f64::INFINITY };
    (value / (1.0 + part), most)
}

/// The option that changes a simulated array: `--what-if raid.level=5`.
const CHANGE: &str = "--what-if";

/// The changes among the options of a run.
fn changes_of(options: &[(String, String)]) -> String {
    options
        .iter()
        .filter(|(option, _)| option == CHANGE)
        .map(|(_, change)| change.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Names of simulations side by side by the changes of their arrays, from the options of each run:
/// `raid.level=5`, or `as described` without a change. `None` if none has a change, or two would
/// have the same name.
pub fn scenario_names<'a>(
    runs: impl IntoIterator<Item = &'a [(String, String)]>,
) -> Option<Vec<String>> {
    let mut names: Vec<String> = runs.into_iter().map(changes_of).collect();
    let is_distinct = names.iter().collect::<BTreeSet<_>>().len() == names.len();
    if !is_distinct || names.iter().all(String::is_empty) {
        return None;
    }
    for name in names.iter_mut().filter(|name| name.is_empty()) {
        "as described".clone_into(name);
    }
    Some(names)
}

#[cfg(test)]
mod scenario_tests {
    use super::scenario_names;

    #[test]
    fn a_scenario_is_called_by_its_change() {
        let options = |changes: &[&str]| -> Vec<(String, String)> {
            let rest = ("--rest".to_owned(), "100".to_owned());
            changes
                .iter()
                .map(|of| ("--what-if".to_owned(), (*of).to_owned()))
                .chain([rest])
                .collect()
        };
        let (plain, fast) = (options(&[]), options(&["disk.rpm=10000"]));
        let both = options(&["disk.rpm=10000", "raid.level=5"]);
        let names = scenario_names([&*plain, &*fast, &*both]).expect("names");
        assert_eq!(names, ["as described", "disk.rpm=10000", "disk.rpm=10000, raid.level=5"]);
        assert_eq!(scenario_names([&*fast, &*fast]), None, "two seeds of one array");
        assert_eq!(scenario_names([&*plain]), None);
    }
}
