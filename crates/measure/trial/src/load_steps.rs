//! A held load that changes during the measurement, per database: passive copies carry less than
//! active ones until they are activated.

use plan::Plan;
use serde::{Deserialize, Serialize};
use units::Nanos;

/// The load of one database from a given time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadStep {
    /// Nanoseconds since the measurement began; 0 also covers the warm-up.
    pub after_ns: u64,
    /// Number of the database in the plan, counted from 0.
    pub database: u32,
    /// Its load in percent of its share of the plan's target: 0 to 100.
    pub percent: u32,
}

/// The loads of all databases over time. Without steps, every database carries its share of the
/// target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadSteps {
    steps: Vec<LoadStep>,
    /// Start of the measurement, for a resumed run.
    begun: Option<Nanos>,
}

impl LoadSteps {
    /// Creates the list from `steps`, sorted by time.
    pub fn new(mut steps: Vec<LoadStep>) -> Self {
        steps.sort_by_key(|step| step.after_ns);
        Self { steps, begun: None }
    }

    /// The same steps for a run whose measurement began at `begun` on its groups' clock and was
    /// then cut off.
    #[must_use]
    pub fn begun_at(self, begun: Nanos) -> Self {
        Self { begun: Some(begun), ..self }
    }

    /// Whether the load never changes.
    pub const fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The time that steps count from, for a measurement that begins at `from`.
    pub(crate) fn origin(&self, from: Nanos) -> Nanos {
        self.begun.unwrap_or(from)
    }

    /// The load of `database` in percent, `after` the start of the measurement.
    pub(crate) fn percent(&self, database: u32, after: Nanos) -> u32 {
        let own = self.steps.iter().rfind(|of| of.database == database && of.after_ns <= after.0);
        own.map_or(100, |step| step.percent)
    }

    /// The steps after `from`, up to and including `to`.
    pub(crate) fn between(&self, from: Nanos, to: Nanos) -> impl Iterator<Item = &LoadStep> {
        self.steps.iter().filter(move |step| step.after_ns > from.0 && step.after_ns <= to.0)
    }

    /// Share of the plan's target held by all databases together at a given time, 0 to 1.
    pub(crate) fn share(&self, plan: &Plan, after: Nanos) -> f64 {
        let parts = plan.databases.iter().map(|database| {
            plan.share(database) * f64::from(self.percent(database.index, after)) / 100.0
        });
        parts.sum::<f64>() / plan.databases.len() as f64
    }

    /// The mean of `LoadSteps::share` over the measurement.
    pub fn mean_share(&self, plan: &Plan) -> f64 {
        let whole = plan.test.duration;
        let mut instants: Vec<u64> = self.steps.iter().map(|step| step.after_ns).collect();
        instants.extend([0, whole.0]);
        instants.retain(|at| *at <= whole.0);
        instants.sort_unstable();
        let spans = instants.windows(2);
        let sum: f64 =
            spans.map(|two| self.share(plan, Nanos(two[0])) * (two[1] - two[0]) as f64).sum();
        sum / whole.0.max(1) as f64
    }

    /// Ratio of the sessions needed by the heaviest load to those needed by the first, rounded up.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive quotient of two shares, bounded before"
    )]
    pub(crate) fn sessions_factor(&self, plan: &Plan) -> u32 {
        let first = self.share(plan, Nanos::ZERO);
        let later = self.steps.iter().map(|step| self.share(plan, Nanos(step.after_ns)));
        let most = later.fold(first, f64::max);
        if first <= 0.0 {
            MOST_FACTOR
        } else {
            (most / first).ceil().min(f64::from(MOST_FACTOR)) as u32
        }
    }
}

/// Limit on that ratio, for loads that begin close to zero.
const MOST_FACTOR: u32 = 16;

#[cfg(test)]
mod tests {
    use plan::Plan;
    use units::Nanos;

    use super::{LoadStep, LoadSteps};

    fn plan() -> Plan {
        let text = "[databases]\nfolders = [\"/a\", \"/b\"]\nweights = [1, 3]\nsize = \"1GiB\"\n\
                    [workload]\ntarget_iops = 400\n[test]\nduration = \"100s\"\n";
        Plan::parse("test", text).expect("a sound plan")
    }

    fn step(seconds: u64, database: u32, percent: u32) -> LoadStep {
        LoadStep { after_ns: seconds * 1_000_000_000, database, percent }
    }

    #[test]
    fn a_database_keeps_its_load_until_the_next_step() {
        let steps = LoadSteps::new(vec![step(60, 1, 100), step(0, 1, 20)]);
        let at = |seconds| steps.percent(1, Nanos::from_secs(seconds));
        assert_eq!([at(0), at(59), at(60), at(99)], [20, 20, 100, 100]);
        assert_eq!(steps.percent(0, Nanos::ZERO), 100);
        let due: Vec<_> = steps.between(Nanos::ZERO, Nanos::from_secs(60)).collect();
        assert_eq!(due, [&step(60, 1, 100)]);
    }

    #[test]
    fn shares_follow_weights_and_time() {
        let (plan, steps) = (plan(), LoadSteps::new(vec![step(0, 1, 0), step(75, 1, 100)]));
        assert!((steps.share(&plan, Nanos::ZERO) - 0.25).abs() < 1e-9);
        // A quarter of the load for 75 s and all of it for 25 s.
        assert!((steps.mean_share(&plan) - 0.4375).abs() < 1e-9);
        assert!((LoadSteps::default().mean_share(&plan) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn sessions_are_enough_for_the_heaviest_load() {
        let plan = plan();
        assert_eq!(LoadSteps::default().sessions_factor(&plan), 1);
        assert_eq!(LoadSteps::new(vec![step(0, 1, 20), step(9, 1, 100)]).sessions_factor(&plan), 3);
        let nothing = vec![step(0, 0, 0), step(0, 1, 0), step(9, 1, 100)];
        assert_eq!(LoadSteps::new(nothing).sessions_factor(&plan), super::MOST_FACTOR);
    }
}
