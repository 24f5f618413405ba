//! Report time of a long run: a synthetic journal of 200 MB, loaded, judged and rendered by the
//! program itself.

use std::path::Path;
use std::time::Duration;

use record::synthetic::Synthetic;

use xtask::failure::Failure;
use xtask::shell;

use crate::reported::{journal, report};
use crate::{day, folder};

/// Maximum report time for the journal of [`RUN`].
const LONGEST: Duration = Duration::from_secs(20);
/// Eight hours on 24 databases make a little over 200 MB.
const RUN: Synthetic = Synthetic {
    databases: 24,
    measure_intervals: 1_850,
    read_median_ns: 4_100_000,
    ..Synthetic::USUAL
};

/// Generates the journal in a folder below `directory` and reports it. Fails if that takes too
/// long.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
    shell::run(&["cargo", "build", "-q", "--release", "-p", "plimsoll"])?;
    let folder = directory.join("plimsoll-bench-report");
    folder::remove(&folder)?;
    folder::create(&folder)?;
    let measured = journal(&RUN, &folder).and_then(|bytes| Ok((bytes, report(&folder)?)));
    folder::remove(&folder)?;
    folder::create(&folder)?;
    let of_a_day = day::run(&folder);
    folder::remove(&folder)?;
    of_a_day?;
    let (bytes, took) = measured?;
    let (megabytes, seconds) = (bytes / 1_000_000, took.as_secs_f64());
    println!("report: a journal of {megabytes} MB in {seconds:.1} s");
    if took > LONGEST {
        let limit = LONGEST.as_secs();
        return Err(Failure::new(format!(
            "report: took {seconds:.1} s, at most {limit} s are allowed"
        )));
    }
    Ok(())
}
