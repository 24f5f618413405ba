//! Assigns runs to the tests of the paper, since a run records its settings and not its purpose.

mod dealing;
mod machines;

use record::Phase;

use crate::TestedRun;
use crate::paper::Wanted;

pub(crate) use machines::servers;

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
    /// All tests, in the order of the appendices.
    pub(crate) const ALL: [Self; 6] = [
        Self::Stress,
        Self::Performance,
        Self::Maximum,
        Self::Backup,
        Self::Recovery,
        Self::Checksum,
    ];

    /// Its name in papers.
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

    /// The test that would fill a gap; `None` for optional tests: the maximum, and checksums, which
    /// every load verifies at its end.
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
    /// The machine's name, numbered if the runs are from several machines of that name.
    pub name: String,
    /// Whether the paper has another server with the same machine name.
    pub shares_name: bool,
    /// The load that proves reliability, usually of a day.
    pub reliability: Option<&'a TestedRun>,
    /// The load that the solution is designed for.
    pub performance: Option<&'a TestedRun>,
    /// A load beyond the intended one.
    pub maximum: Option<&'a TestedRun>,
    pub backup: Option<&'a TestedRun>,
    pub recovery: Option<&'a TestedRun>,
    pub checksum: Option<&'a TestedRun>,
}

/// Measured length of a load; the intended length for an imported result.
pub(crate) fn measured_ns(run: &TestedRun) -> u64 {
    match run.record.imported() {
        Some(_) => run.record.start.settings.measure_ns,
        None => run.record.span_ns(Phase::Measure),
    }
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

    /// Whether it has the mandatory tests.
    pub(crate) fn is_whole(&self) -> bool {
        let mut wanted = PaperTest::ALL.into_iter().filter(|test| test.wanted().is_some());
        wanted.all(|test| self.run_of(test).is_some())
    }

    /// The tests that were run, in the order of the appendices.
    pub(crate) fn tests(&self) -> Vec<(PaperTest, &'a TestedRun)> {
        PaperTest::ALL.into_iter().filter_map(|test| Some((test, self.run_of(test)?))).collect()
    }

    /// The run that supplies machine, databases and settings: preferably that at the intended load.
    pub(crate) fn facts(&self) -> Option<&'a TestedRun> {
        self.performance.or_else(|| self.tests().first().map(|(_, run)| *run))
    }
}
