//! Which level simulates a load: the engine itself, or the operation model measured from it. The
//! choice depends on the databases alone, so that a longer run never changes the answer.

use plan::Plan;
use record::SimulationDetail;

use super::scale::{beyond_engine, beyond_operations};
use crate::error::HostError;

/// Levels that a user may request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulationLevel {
    /// 2 for loads on databases larger than eight caches that have pages for every session, else 1
    Auto,
    /// The database engine itself, on page images in memory
    One,
    /// An operation model measured from the engine: any size and length
    Two,
}

impl SimulationLevel {
    /// Returns what simulates `plan`; an error if the requested level cannot, or none can.
    pub fn detail(self, plan: &Plan) -> Result<SimulationDetail, HostError> {
        let is_load = plan.test.kind.is_load() && !plan.test.is_recovery();
        let (engine, operations) = (beyond_engine(plan), beyond_operations(plan));
        match self {
            Self::Two if !is_load => Err(HostError::new(
                "level 2 simulates loads; backup, checksum and recovery need --level 1".to_owned(),
            )),
            _ if !is_load => Ok(SimulationDetail::Engine),
            Self::Auto if operations.is_none() => Ok(SimulationDetail::Operations),
            Self::One | Self::Auto => allowed(SimulationDetail::Engine, 1, engine),
            Self::Two => allowed(SimulationDetail::Operations, 2, operations),
        }
    }
}

fn allowed(
    detail: SimulationDetail,
    level: u32,
    objection: Option<String>,
) -> Result<SimulationDetail, HostError> {
    objection.map_or(Ok(detail), |why| {
        Err(HostError::new(format!(
            "level {level} cannot simulate this plan: {why}; give --level {}, fewer databases or \
             another cache",
            3 - level
        )))
    })
}

#[cfg(test)]
mod tests {
    use plan::Plan;
    use record::SimulationDetail;

    use super::SimulationLevel;

    fn detail(level: SimulationLevel, size: &str, more: &str) -> Result<SimulationDetail, String> {
        let text = format!("[databases]\nfolders = [\"/a\"]\ncount = 2\nsize = \"{size}\"\n{more}");
        let plan = Plan::parse("test", &text).expect("a valid plan");
        level.detail(&plan).map_err(|error| format!("{error:?}"))
    }

    #[test]
    fn the_default_depends_on_the_databases_and_not_on_the_length() {
        for duration in ["31s", "24h"] {
            let test = format!("[test]\nduration = \"{duration}\"\n");
            let auto = |size| detail(SimulationLevel::Auto, size, &test);
            assert_eq!(auto("400GiB"), Ok(SimulationDetail::Operations), "{duration}");
            assert_eq!(auto("256MiB"), Ok(SimulationDetail::Engine), "{duration}");
        }
        let searched = "[workload]\nthreads = \"auto\"\n";
        assert_eq!(
            detail(SimulationLevel::Auto, "400GiB", searched),
            Ok(SimulationDetail::Operations)
        );
    }

    #[test]
    fn a_level_beyond_its_limit_is_refused_and_the_other_one_named() {
        let error = detail(SimulationLevel::One, "16TiB", "").unwrap_err();
        assert!(error.contains("--level 2"), "{error}");
        let error = detail(SimulationLevel::Two, "256MiB", "").unwrap_err();
        assert!(error.contains("--level 1"), "{error}");
        assert_eq!(detail(SimulationLevel::One, "400GiB", ""), Ok(SimulationDetail::Engine));
    }
}
