//! The duration of each test, parsed from libtest's output.

use std::cmp::Reverse;
use std::fmt;
use std::time::Duration;

/// A test that has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TestTime {
    package: String,
    name: String,
    time: Duration,
}

impl fmt::Display for TestTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { package, name, time } = self;
        write!(f, "{:>8.1} {package} {name}", time.as_secs_f64())
    }
}

/// The tests that a program of `package` reports as passed, with their times: lines such as `test
/// tree::split ... ok <0.012s>`.
pub(super) fn read(package: &str, printed: &str) -> Vec<TestTime> {
    let test = |line: &str| {
        let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let seconds = result.strip_prefix("ok <")?.strip_suffix("s>")?;
        let time = Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?;
        let name = name.trim_end_matches(" - should panic").to_owned();
        Some(TestTime { package: package.to_owned(), name, time })
    };
    printed.lines().filter_map(test).collect()
}

/// The `count` tests that took longest, the longest first.
pub(super) fn slowest(mut times: Vec<TestTime>, count: usize) -> Vec<TestTime> {
    times.sort_by_key(|test| Reverse(test.time));
    times.truncate(count);
    times
}

#[cfg(test)]
mod tests {
    use super::{read, slowest};

    const PRINTED: &str = "\nrunning 4 tests\n\
        test tree::split ... ok <0.012s>\n\
        test tree::merge - should panic ... ok <3.500s>\n\
        test tree::skipped ... ignored, needs root\n\
        test tree::broken ... FAILED <0.001s>\n\
        a test may print anything ... ok <9.0s>\n\
        test log::wrap ... ok <0.250s>\n\n\
        test result: FAILED. 3 passed; 1 failed; finished in 3.60s\n";

    #[test]
    fn passed_tests_are_read_with_their_times() {
        let names: Vec<String> = read("engine", PRINTED).iter().map(ToString::to_string).collect();
        let expected = [
            "     0.0 engine tree::split",
            "     3.5 engine tree::merge",
            "     0.2 engine log::wrap",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn the_slowest_come_first_and_are_so_many() {
        let slowest = slowest(read("engine", PRINTED), 2);
        let names: Vec<&str> = slowest.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(names, ["tree::merge", "log::wrap"]);
    }
}
