//! Which level simulates a load: the engine itself, or the operation model measured from it.

use clap::ValueEnum;
use plan::{Plan, Sessions};
use record::SimulationDetail;
use units::Nanos;

use crate::error::CommandError;

/// What a person may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SimulationLevel {
    /// 1 for what is short or no load, else 2
    Auto,
    /// The database engine itself, on page images
    #[value(name = "1")]
    One,
    /// An operation model that is measured from the engine: any size and length
    #[value(name = "2")]
    Two,
}

/// Longer loads are simulated at level 2, unless a person asks for another.
const LONGEST_OF_ENGINE: Nanos = Nanos::from_secs(600);

impl SimulationLevel {
    /// What simulates `plan`.
    pub(crate) fn detail(self, plan: &Plan) -> Result<SimulationDetail, CommandError> {
        let is_load = plan.test.kind.is_load() && !plan.test.is_recovery();
        let is_searched =
            plan.workload.sessions == Sessions::Auto || plan.workload.throughput_percent.is_some();
        match self {
            Self::Two if !is_load => Err(CommandError::new(
                "level 2 simulates loads; backup, checksum and recovery need --level 1".to_owned(),
            )),
            Self::Two if is_searched => Err(CommandError::new(
                "level 2 searches for no number of sessions and no highest load; give --threads, \
                 or --level 1"
                    .to_owned(),
            )),
            Self::Two => Ok(SimulationDetail::Operations),
            Self::Auto if is_load && !is_searched && plan.test.duration > LONGEST_OF_ENGINE => {
                Ok(SimulationDetail::Operations)
            }
            Self::One | Self::Auto => Ok(SimulationDetail::Engine),
        }
    }
}
