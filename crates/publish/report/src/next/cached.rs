//! Simulated databases that the write cache of their array holds: their load shows the cache and
//! not the disks.

use record::RunRecord;
use units::Bytes;
use verdict::Verdict;

use super::arrays::array_value;
use super::command::again;
use super::step::{NextStep, StepKind};
use super::time;

/// Databases smaller than this multiple of the write cache show too little of the disks.
const WRITE_CACHES: u64 = 4;

/// Databases on simulated arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnArrays {
    /// Number of databases.
    pub databases: u64,
    /// Their size together.
    pub bytes: u64,
    /// Number of arrays, all alike.
    pub arrays: u64,
}

impl OnArrays {
    /// The databases of a simulated run.
    pub(super) fn of(run: &RunRecord) -> Self {
        let databases = &run.start.databases;
        Self {
            databases: databases.len() as u64,
            bytes: databases.iter().map(|of| of.initial_bytes).sum(),
            arrays: run.start.array_count() as u64,
        }
    }

    /// Bytes that all databases together should have; `None` if they do, or no cache is known.
    fn least_bytes(self, array_text: &str) -> Option<u64> {
        let caches = write_cache_bytes(array_text)?.saturating_mul(self.arrays);
        let least = caches.saturating_mul(WRITE_CACHES);
        (self.bytes < least).then_some(least)
    }

    /// Asks for databases that the cache cannot hold; `None` if it is not known to hold these.
    pub(super) fn words(self, array_text: &str) -> Option<String> {
        let least = self.least_bytes(array_text)?.div_ceil(self.databases.max(1));
        Some(format!(
            "The write cache of the simulated array holds much of these databases, so that the \
             result is of the cache and not of the disks. Set `size` in the plan to what you will \
             run, {} or more; then",
            Bytes(least)
        ))
    }
}

/// Proposes databases too large for the write cache; `None` if the present ones already are, or if
/// no cache is known.
pub(super) fn larger_databases(run: &RunRecord, verdict: &Verdict) -> Option<NextStep> {
    let words = OnArrays::of(run).words(&run.simulated()?.array_text)?;
    let longer = time::until_steady(run, verdict).map(|duration| ("--duration", duration));
    Some(StepKind::LargerDatabases.with(words, again(run, longer.as_slice())))
}

/// Whether the write caches of the simulated arrays hold much of the databases.
pub(crate) fn is_in_write_cache(run: &RunRecord) -> bool {
    let array = run.simulated().map(|of| of.array_text.as_str());
    array.is_some_and(|array| OnArrays::of(run).least_bytes(array).is_some())
}

/// Memory for writes of an array in the form in which the program writes its description.
fn write_cache_bytes(array: &str) -> Option<u64> {
    array_value(array, "cache", "mode").filter(|mode| *mode == "\"write-back\"")?;
    array_value(array, "cache", "battery").filter(|battery| *battery == "true")?;
    let [mebibytes, percent] = ["size_mib", "write_percent"]
        .map(|key| array_value(array, "cache", key).and_then(|value| value.parse::<u64>().ok()));
    Some(mebibytes?.saturating_mul(1 << 20).saturating_mul(percent?) / 100)
        .filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use verdict::judge;

    use super::{is_in_write_cache, larger_databases};
    use crate::tests::simulated;

    const MIB: u64 = 1 << 20;
    const CACHE: &str =
        "[cache]\nmode = \"write-back\"\nbattery = true\nsize_mib = 1024\nwrite_percent = 75\n";

    #[test]
    fn databases_that_the_cache_holds_are_to_be_larger() {
        let mut run = simulated();
        let count = run.start.databases.len() as u64;
        run.start.databases.iter_mut().for_each(|of| of.initial_bytes = 256 * MIB);
        assert!(!is_in_write_cache(&run), "the cache is not known");
        for (text, is_held) in [
            (CACHE.to_owned(), true),
            (CACHE.replace("write-back", "write-through"), false),
            (CACHE.replace("true", "false"), false),
        ] {
            run.start.simulated.as_mut().expect("simulated").array_text = text;
            assert_eq!(larger_databases(&run, &judge(&run)).is_some(), is_held);
        }
        run.start.simulated.as_mut().expect("simulated").array_text = CACHE.to_owned();
        let enough = (4 * 768 * MIB).div_ceil(count);
        run.start.databases.iter_mut().for_each(|of| of.initial_bytes = enough);
        assert!(!is_in_write_cache(&run), "four times the cache are enough");
    }
}
