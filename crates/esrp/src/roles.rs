//! Which run stands for which test of the paper, since a run says what it was and not what for.

use record::{Phase, TestType};

use crate::paper::Wanted;
use crate::{PaperError, TestedRun};

/// From here on a load proves reliability, whatever its type: papers ask for a day of it.
const A_LONG_LOAD_NS: u64 = 20 * 3_600 * 1_000_000_000;

/// A test of the papers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PaperTest {
    Stress,
    Performance,
    Maximum,
    Backup,
    Recovery,
    Checksum,
}

impl PaperTest {
    /// In the order of the appendices.
    pub(crate) const ALL: [Self; 6] = [
        Self::Stress,
        Self::Performance,
        Self::Maximum,
        Self::Backup,
        Self::Recovery,
        Self::Checksum,
    ];

    /// What papers call it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Stress => "Stress test",
            Self::Performance => "Performance test",
            Self::Maximum => "Maximum solution test",
            Self::Backup => "Read-only backup test",
            Self::Recovery => "Soft recovery test",
            Self::Checksum => "Checksum test",
        }
    }

    /// What a gap asks for; none where papers have the test or leave it out at will: the maximum,
    /// and checksums, which every load verifies at its end.
    pub(crate) const fn wanted(self) -> Option<Wanted> {
        match self {
            Self::Stress => Some(Wanted::Test("stress test, 24 hours")),
            Self::Performance => Some(Wanted::Test("performance test, 2 hours")),
            Self::Backup => Some(Wanted::Test("test of backup")),
            Self::Recovery => Some(Wanted::Test("test of recovery")),
            Self::Maximum | Self::Checksum => None,
        }
    }
}

/// The tests of one server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Server<'a> {
    /// The machine's name.
    pub name: String,
    /// The load of a day.
    pub reliability: Option<&'a TestedRun>,
    /// The load that the solution is meant for.
    pub performance: Option<&'a TestedRun>,
    /// A load beyond that.
    pub maximum: Option<&'a TestedRun>,
    pub backup: Option<&'a TestedRun>,
    pub recovery: Option<&'a TestedRun>,
    pub checksum: Option<&'a TestedRun>,
}

/// The servers in the order in which runs of them were named.
pub(crate) fn servers(runs: &[TestedRun]) -> Result<Vec<Server<'_>>, PaperError> {
    let mut names: Vec<&str> = Vec::new();
    for run in runs {
        let name = run.record.start.machine.name.as_str();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.into_iter().enumerate().map(|(index, name)| server(runs, name, index)).collect()
}

fn server<'a>(
    runs: &'a [TestedRun],
    machine: &str,
    index: usize,
) -> Result<Server<'a>, PaperError> {
    let name = match machine {
        "" => format!("Server {}", index + 1),
        machine => machine.to_owned(),
    };
    let of = |kind: TestType| -> Vec<&'a TestedRun> {
        runs.iter()
            .filter(|run| run.record.start.machine.name == machine)
            .filter(|run| run.record.start.test == kind)
            .collect()
    };
    let loads = [of(TestType::Performance), of(TestType::Stress)].concat();
    let [reliability, performance, maximum] = deal(loads, &name)?;
    Ok(Server {
        reliability,
        performance,
        maximum,
        backup: the_one(&of(TestType::Backup), &name, "test of backup")?,
        recovery: the_one(&of(TestType::Recovery), &name, "test of recovery")?,
        checksum: the_one(&of(TestType::Checksum), &name, "test of checksums")?,
        name,
    })
}

fn the_one<'a>(
    runs: &[&'a TestedRun],
    server: &str,
    test: &'static str,
) -> Result<Option<&'a TestedRun>, PaperError> {
    match runs {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        several => {
            let runs = several.iter().map(|run| run.name.clone()).collect();
            Err(PaperError::Twice { server: server.to_owned(), test, runs })
        }
    }
}

/// Reliability, performance, maximum: the longest load proves reliability where it is one of stress
/// or lasts most of a day; of the others the lower one is what the solution is meant for, and the
/// higher one its maximum.
fn deal<'a>(
    mut loads: Vec<&'a TestedRun>,
    server: &str,
) -> Result<[Option<&'a TestedRun>; 3], PaperError> {
    loads.sort_by_key(|run| (measured_ns(run), is_stress(run)));
    let reliability = loads.pop_if(|run| is_stress(run) || measured_ns(run) >= A_LONG_LOAD_NS);
    loads.sort_by(|one, two| iops(one).total_cmp(&iops(two)));
    match loads.as_slice() {
        [] => Ok([reliability, None, None]),
        [performance] => Ok([reliability, Some(*performance), None]),
        [performance, maximum] => Ok([reliability, Some(*performance), Some(*maximum)]),
        several => Err(PaperError::Twice {
            server: server.to_owned(),
            test: "performance and its maximum",
            runs: several.iter().map(|run| run.name.clone()).collect(),
        }),
    }
}

fn is_stress(run: &TestedRun) -> bool {
    run.record.start.test == TestType::Stress
}

/// How long a load was measured; for an imported result what it was meant to be.
pub(crate) fn measured_ns(run: &TestedRun) -> u64 {
    match run.record.imported() {
        Some(_) => run.record.start.settings.measure_ns,
        None => run.record.span_ns(Phase::Measure),
    }
}

fn iops(run: &TestedRun) -> f64 {
    record::ServerLoad::of(&run.record).transfers_per_second.unwrap_or(0.0)
}

impl<'a> Server<'a> {
    /// The run of a test.
    pub(crate) const fn run_of(&self, test: PaperTest) -> Option<&'a TestedRun> {
        match test {
            PaperTest::Stress => self.reliability,
            PaperTest::Performance => self.performance,
            PaperTest::Maximum => self.maximum,
            PaperTest::Backup => self.backup,
            PaperTest::Recovery => self.recovery,
            PaperTest::Checksum => self.checksum,
        }
    }

    /// Whether it has the tests that no paper leaves out.
    pub(crate) fn is_whole(&self) -> bool {
        let mut wanted = PaperTest::ALL.into_iter().filter(|test| test.wanted().is_some());
        wanted.all(|test| self.run_of(test).is_some())
    }

    /// Every test that there is.
    pub(crate) fn tests(&self) -> Vec<(PaperTest, &'a TestedRun)> {
        PaperTest::ALL.into_iter().filter_map(|test| Some((test, self.run_of(test)?))).collect()
    }

    /// A run that tells of machine, databases and settings: the load that it is meant for before
    /// any other.
    pub(crate) fn facts(&self) -> Option<&'a TestedRun> {
        self.performance.or_else(|| self.tests().first().map(|(_, run)| *run))
    }
}

#[cfg(test)]
mod tests {
    use record::{RunRecord, TestType, synthetic::Synthetic};
    use verdict::judge;

    use super::servers;
    use crate::{PaperError, TestedRun};

    fn run(name: &str, test: TestType, intervals: u64, read_median_ns: u64) -> TestedRun {
        let made =
            Synthetic { measure_intervals: intervals, read_median_ns, ..Synthetic::default() };
        let mut record: RunRecord = made.run();
        record.start.test = test;
        TestedRun { name: name.to_owned(), verdict: judge(&record), record }
    }

    fn names(runs: &[TestedRun]) -> Result<[Option<String>; 3], PaperError> {
        let servers = servers(runs)?;
        let name = |of: Option<&TestedRun>| of.map(|run| run.name.clone());
        let one = &servers[0];
        Ok([one.reliability, one.performance, one.maximum].map(name))
    }

    fn some(names: [&str; 3]) -> [Option<String>; 3] {
        names.map(|name| (!name.is_empty()).then(|| name.to_owned()))
    }

    #[test]
    fn length_and_load_decide_what_a_run_stands_for() {
        let hour = 240;
        let long = run("long", TestType::Performance, 24 * hour, 9_000_000);
        let stress = run("stress", TestType::Stress, 40, 9_000_000);
        let slow = run("slow", TestType::Performance, 30, 12_000_000);
        let fast = run("fast", TestType::Performance, 30, 4_000_000);
        let of =
            |runs: &[&TestedRun]| names(&runs.iter().map(|&run| run.clone()).collect::<Vec<_>>());
        assert_eq!(of(&[&slow]), Ok(some(["", "slow", ""])));
        assert_eq!(of(&[&stress]), Ok(some(["stress", "", ""])));
        assert_eq!(of(&[&stress, &slow]), Ok(some(["stress", "slow", ""])));
        // A day of load proves reliability, whatever it was called.
        let published = of(&[&long, &slow, &stress]);
        assert_eq!(published.map(|names| names[0].clone()), Ok(Some("long".to_owned())));
        let fourth = of(&[&stress, &slow, &fast, &fast]);
        assert!(matches!(fourth, Err(PaperError::Twice { .. })), "{fourth:?}");
    }

    #[test]
    fn a_server_has_one_test_of_a_kind() {
        let backup = run("one", TestType::Backup, 1, 1_000_000);
        let mut other = backup.clone();
        other.record.start.machine.name = "mbx-02".to_owned();
        let runs = [backup.clone(), other];
        assert_eq!(servers(&runs).map(|servers| servers.len()), Ok(2));
        let refused = servers(&[backup.clone(), backup]).map(|_| ());
        let said = refused.map_err(|error| error.to_string());
        assert_eq!(
            said,
            Err("one, one: 2 runs of mbx-01 stand for its test of backup; name one of them"
                .to_owned())
        );
    }
}
