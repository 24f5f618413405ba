//! Steps after a simulated deployment: what makes it hold, a failure that was not tried, or the
//! storage itself.

use record::{RunRecord, Start};
use units::Nanos;
use verdict::Ruling;

use super::command::again;
use super::step::{NextStep, StepKind};

/// A simulated deployment, as far as its next step depends on it.
#[derive(Clone, Debug)]
pub struct SimulatedDeployment {
    /// The command that simulates it again, without its options.
    pub command: String,
    /// Its options, each with its value.
    pub options: Vec<(String, String)>,
    /// The verdict on it.
    pub outcome: Ruling,
    /// Why a database was active nowhere for a time; `None` if none was.
    pub interruption: Option<Interruption>,
    /// Name of the part that limits the host with the worst figure, such as `disks`.
    pub limit: Option<String>,
    /// A host whose databases other hosts hold too; `None` if there is none, or if a failure was
    /// played.
    pub spare_host: Option<String>,
    /// Simulated time.
    pub length: Nanos,
    /// The fleet plan that measures it, quoted for a shell; `None` for a provision.
    pub fleet: Option<String>,
}

/// Why a database has no active copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interruption {
    /// Every host with a copy is lost.
    NoCopy,
    /// A copy that held back its log replays it first.
    Lagged,
    /// Hosts with copies are up, and their group has no quorum.
    NoQuorum,
}

impl Interruption {
    const fn remedy(self) -> &'static str {
        match self {
            Self::NoCopy => {
                "Give the databases that were active nowhere a copy on another host; then"
            }
            Self::Lagged => {
                "Give the databases that waited for a replay another copy without lag, on another \
                 host; then"
            }
            Self::NoQuorum => {
                "The copies were there and their group had no quorum: place the witness so that \
                 the hosts that are left keep a majority, and lay out the design again; then"
            }
        }
    }
}

/// What to do after the deployment was simulated.
pub fn deployment_steps(of: &SimulatedDeployment) -> Vec<String> {
    vec![step(of).to_string()]
}

fn step(of: &SimulatedDeployment) -> NextStep {
    let run = RunRecord::begin(Start {
        command: of.command.clone(),
        options: of.options.clone(),
        ..Start::default()
    });
    match (of.outcome, &of.spare_host) {
        (Ruling::Fail, _) if let Some(why) = of.interruption => {
            StepKind::MoreCopies.with(why.remedy(), again(&run, &[]))
        }
        (Ruling::Fail, _) => {
            let limit = of.limit.as_ref().map(|limit| format!(" ({limit} are the limit)"));
            let words = format!(
                "Name another `--array`, or plan less load for each host{}; then",
                limit.unwrap_or_default()
            );
            StepKind::OtherStorage.with(words, again(&run, &[]))
        }
        (Ruling::Pass | Ruling::Warn, Some(host)) => lose(&run, host, of.length),
        _ => measure(of),
    }
}

/// Plays the loss of a host for the second quarter of the time.
fn lose(run: &RunRecord, host: &str, length: Nanos) -> NextStep {
    let second = Nanos::from_secs(1).0;
    let quarter = plan::write_duration(Nanos((length.0 / 4 / second).max(1) * second));
    let event = format!("host-lost={host}@{quarter}+{quarter}");
    let words = "See what the other hosts do when one fails";
    StepKind::LoseHost.with(words, again(run, &[("--event", event)]))
}

fn measure(of: &SimulatedDeployment) -> NextStep {
    let words = "Measure the storage of all hosts at once when it is installed";
    match &of.fleet {
        Some(fleet) => {
            StepKind::MeasureDeployment.with(words, format!("plimsoll fleet run {fleet}"))
        }
        None => StepKind::MeasureDeployment.alone(format!(
            "{words}, with the fleet plan that plimsoll plan DEPLOYMENT --output DIR --export \
             fleet writes"
        )),
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;
    use verdict::Ruling;

    use super::{Interruption, SimulatedDeployment, deployment_steps};

    fn deployment(outcome: Ruling) -> SimulatedDeployment {
        let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        SimulatedDeployment {
            command: "plimsoll simulate fleet.toml --array shelf-15k".to_owned(),
            options: vec![option("--duration", "2h"), option("--output", "out")],
            outcome,
            interruption: None,
            limit: Some("disks".to_owned()),
            spare_host: Some("EX02".to_owned()),
            length: Nanos::from_secs(7_200),
            fleet: Some("fleet.toml".to_owned()),
        }
    }

    #[test]
    fn a_deployment_that_holds_is_tried_without_a_host_and_then_measured() {
        let passed = deployment(Ruling::Pass);
        let expected = "See what the other hosts do when one fails: plimsoll simulate fleet.toml \
                        --array shelf-15k --duration 2h --event host-lost=EX02@30min+30min \
                        --output out-2";
        assert_eq!(deployment_steps(&passed), [expected]);
        let tried = SimulatedDeployment { spare_host: None, ..passed };
        assert!(deployment_steps(&tried)[0].ends_with(": plimsoll fleet run fleet.toml"));
        let unsure = deployment(Ruling::CannotJudge);
        assert!(deployment_steps(&unsure)[0].starts_with("Measure the storage"));
        let provision = SimulatedDeployment { fleet: None, ..tried };
        assert!(deployment_steps(&provision)[0].contains("--output DIR --export fleet"));
    }

    #[test]
    fn a_deployment_that_fails_is_changed_where_it_failed() {
        let failed = deployment(Ruling::Fail);
        let told = deployment_steps(&failed).concat();
        let again = "plimsoll simulate fleet.toml --array shelf-15k --duration 2h --output out-2";
        assert!(told.contains("disks are the limit") && told.ends_with(again), "{told}");
        for (why, words) in [
            (Interruption::NoCopy, "a copy on another host"),
            (Interruption::Lagged, "another copy without lag"),
            (Interruption::NoQuorum, "place the witness"),
        ] {
            let inactive = SimulatedDeployment { interruption: Some(why), ..failed.clone() };
            let told = deployment_steps(&inactive).concat();
            assert!(told.contains(words) && told.ends_with(again), "{told}");
        }
    }
}
