//! Steps after a sweep: its best array for longer, a better one, or the storage itself.

use record::{RunRecord, Simulation, Start, TestType};
use units::Nanos;
use verdict::Ruling;

use super::cached::OnArrays;
use super::command::{again, command};
use super::step::{NextStep, StepKind};
use super::{arrays, measure_simulated};

/// Time in which a load shows what it does to storage, as after a run.
const AT_LENGTH: Nanos = Nanos::from_secs(2 * 3_600);

/// The best array of a sweep.
#[derive(Clone, Debug)]
pub struct BestOfSweep {
    /// The command of the sweep, without its options.
    pub command: String,
    /// Its options, each with its value; its changes to the array are those of the best one.
    pub options: Vec<(String, String)>,
    /// Kind of test.
    pub test: TestType,
    /// The verdict on the array.
    pub outcome: Ruling,
    /// Time to simulate for a verdict, if there is none because it was too short.
    pub needed: Option<Nanos>,
    /// Whether only the sessions of the plan kept the load from its target.
    pub lacks_sessions: bool,
    /// Its description, as the program writes it.
    pub array_text: String,
    /// The databases of the plan.
    pub databases: OnArrays,
    /// Time that was simulated.
    pub simulated: Nanos,
    /// Mean reads and writes per second, and the target; 0 if there is none.
    pub rates: (f64, f64),
}

impl BestOfSweep {
    /// The best array, from the record of its run.
    pub fn of(run: &RunRecord, outcome: Ruling) -> Self {
        let target = run.start.settings.target_iops.unwrap_or(0.0);
        Self {
            command: command(run).to_owned(),
            options: run.start.options.clone(),
            test: run.start.test,
            outcome,
            needed: None,
            lacks_sessions: false,
            array_text: run.simulated().map(|of| of.array_text.clone()).unwrap_or_default(),
            databases: OnArrays::of(run),
            simulated: Nanos(run.start.settings.measure_ns),
            rates: (run.achieved_transactional_iops(), target),
        }
    }
}

/// What to do after a sweep whose best array this is.
pub fn sweep_steps(best: &BestOfSweep) -> Vec<String> {
    vec![step(best).to_string()]
}

fn step(best: &BestOfSweep) -> NextStep {
    let array_text = best.array_text.clone();
    let run = RunRecord::begin(Start {
        command: best.command.clone(),
        options: best.options.clone(),
        test: best.test,
        simulated: Some(Box::new(Simulation { array_text, ..Simulation::default() })),
        ..Start::default()
    });
    if best.outcome == Ruling::Fail {
        let (achieved, target) = best.rates;
        return arrays::other_for(&run, arrays::times(achieved, target));
    }
    if best.lacks_sessions {
        return arrays::more_sessions(&run, best.needed.map(plan::write_duration));
    }
    let is_load = matches!(best.test, TestType::Performance | TestType::Stress);
    // Whether a latency too near its limit is kept, no longer simulation says.
    let is_near = best.outcome == Ruling::CannotJudge && best.needed.is_none();
    let length = best.needed.map_or(AT_LENGTH, |needed| needed.max(AT_LENGTH));
    let is_short = is_load && best.simulated < length && !is_near;
    let longer = is_short.then(|| ("--duration", plan::write_duration(length)));
    if let Some(words) = best.databases.words(&best.array_text) {
        return StepKind::LargerDatabases.with(words, again(&run, longer.as_slice()));
    }
    if is_short {
        let words = "Simulate the best array at length";
        return StepKind::SimulateBest.with(words, again(&run, longer.as_slice()));
    }
    measure_simulated(&run, best.outcome)
}

#[cfg(test)]
mod tests {
    use record::TestType;
    use units::Nanos;
    use verdict::Ruling;

    use super::{BestOfSweep, OnArrays, sweep_steps};

    fn best(outcome: Ruling) -> BestOfSweep {
        let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        BestOfSweep {
            command: "plimsoll simulate plan.toml --array shelf-15k".to_owned(),
            options: vec![
                option("--duration", "10min"),
                option("--what-if", "raid.disks=8"),
                option("--what-if", "disk.rpm=10000"),
                option("--seeds", "3"),
                option("--tag", "rack-3"),
                option("--output", "out"),
            ],
            test: TestType::Performance,
            outcome,
            needed: None,
            lacks_sessions: false,
            array_text: "[raid]\nlevel = 5\ndisks = 8\n".to_owned(),
            databases: OnArrays { databases: 2, bytes: 1 << 30, arrays: 1 },
            simulated: Nanos::from_secs(600),
            rates: (100.0, 250.0),
        }
    }

    #[test]
    fn the_best_array_is_simulated_at_length_and_then_measured() {
        let expected = "Simulate the best array at length: plimsoll simulate plan.toml --array \
                        shelf-15k --what-if raid.disks=8 --what-if disk.rpm=10000 --seeds 3 \
                        --duration 2h --tag rack-3 --output out-2";
        assert_eq!(sweep_steps(&best(Ruling::Pass)), [expected]);
        let unjudged = best(Ruling::CannotJudge);
        let near = sweep_steps(&unjudged).concat();
        assert!(near.starts_with("Do not buy it"), "simulated longer, as near: {near}");
        let few = BestOfSweep { needed: Some(Nanos::from_secs(900)), ..unjudged.clone() };
        assert_eq!(sweep_steps(&few), [expected]);
        let fewer = BestOfSweep { needed: Some(Nanos::from_secs(18_000)), ..unjudged };
        assert!(sweep_steps(&fewer).concat().contains("--duration 5h "));
        let long = BestOfSweep { simulated: Nanos::from_secs(7_200), ..best(Ruling::Pass) };
        let told = sweep_steps(&long).concat();
        assert!(told.contains("plimsoll run plan.toml --duration 10min --tag rack-3"), "{told}");
        // A backup takes as long as its databases are large.
        let backup = BestOfSweep { test: TestType::Backup, ..best(Ruling::Pass) };
        assert!(sweep_steps(&backup)[0].starts_with("Measure the storage"));
    }

    #[test]
    fn a_sweep_in_which_the_sessions_were_too_few_is_continued_with_more() {
        let few = BestOfSweep { lacks_sessions: true, ..best(Ruling::CannotJudge) };
        let told = sweep_steps(&few).concat();
        assert!(told.contains("waited for the sessions"), "{told}");
        assert!(told.contains("--seeds 3 --threads auto --tag rack-3"), "{told}");
    }

    #[test]
    fn databases_that_the_write_cache_of_the_best_array_holds_are_to_be_larger() {
        let cache =
            "[cache]\nmode = \"write-back\"\nbattery = true\nsize_mib = 1024\nwrite_percent = 75\n";
        let small = BestOfSweep { array_text: cache.to_owned(), ..best(Ruling::Pass) };
        let told = sweep_steps(&small).concat();
        let words = "The write cache of the simulated array holds much of these databases";
        assert!(told.starts_with(words) && told.contains("run, 1.50 GiB or more"), "{told}");
        assert!(told.contains("--what-if disk.rpm=10000 --seeds 3 --duration 2h"), "{told}");
        let databases = OnArrays { bytes: 3 << 30, ..small.databases };
        let large = BestOfSweep { databases, ..small };
        assert!(sweep_steps(&large)[0].starts_with("Simulate the best"), "large enough");
    }

    #[test]
    fn a_sweep_in_which_no_array_passes_is_continued_with_more_disks_than_its_best() {
        let told = sweep_steps(&best(Ruling::Fail)).concat();
        let keys = "--what-if disk.rpm=10000 --what-if raid.level=5 --what-if raid.disks=24,32";
        assert!(told.contains(keys), "{told}");
        assert!(told.ends_with("--tag rack-3 --output out-2"), "{told}");
    }
}
