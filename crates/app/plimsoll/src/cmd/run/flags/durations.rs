//! `--duration` of `run`: one length for every test, or one for each load of a set.

use plan::TestKind;
use units::Nanos;

use super::RunFlags;
use console::args::duration;
use console::error::CommandError;

/// Length of a test's measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TestDuration {
    /// Kind of tests that it applies to; `None` for all.
    pub kind: Option<TestKind>,
    /// The length.
    pub span: Nanos,
}

/// Parses a duration for every test, or `KIND=DURATION` for those of one kind.
pub(crate) fn test_duration(text: &str) -> Result<TestDuration, String> {
    let Some((test, time)) = text.split_once('=') else {
        return duration(text).map(|span| TestDuration { kind: None, span });
    };
    let loads = [TestKind::Performance, TestKind::Stress];
    let kind = loads.into_iter().find(|kind| kind.to_string() == test.trim());
    if kind.is_none() {
        return Err(format!("{test} is no load; give performance=TIME or stress=TIME"));
    }
    Ok(TestDuration { kind, span: duration(time.trim())? })
}

impl RunFlags {
    /// Returns the value for tests of `kind`, or else the one for all.
    pub(crate) fn duration_of(&self, kind: TestKind) -> Option<Nanos> {
        let mut given = [Some(kind), None].into_iter();
        given.find_map(|kind| self.duration.iter().rfind(|of| of.kind == kind)).map(|of| of.span)
    }

    /// Returns the value for any test; an error if values are given by kind.
    pub(crate) fn duration_of_any(&self) -> Result<Option<Nanos>, CommandError> {
        match self.duration.iter().find_map(|of| of.kind) {
            Some(kind) => Err(CommandError::usage(format!(
                "--duration {kind}=TIME is for a set of tests; add --test all, or give --duration \
                 TIME"
            ))),
            None => Ok(self.duration.last().map(|of| of.span)),
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::TestKind;
    use units::Nanos;

    use super::{TestDuration, test_duration};

    #[test]
    fn a_length_is_for_all_tests_or_for_one_kind_of_load() {
        let given = |kind, seconds| Ok(TestDuration { kind, span: Nanos::from_secs(seconds) });
        assert_eq!(test_duration("40s"), given(None, 40));
        assert_eq!(test_duration("stress = 24h"), given(Some(TestKind::Stress), 86_400));
        assert!(test_duration("backup=2h").is_err_and(|why| why.contains("backup is no load")));
        assert!(test_duration("stress=long").is_err_and(|why| why.contains("give a duration")));
    }
}
