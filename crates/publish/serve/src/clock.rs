//! The time of day, for values of live runs.

use std::time::{Duration, SystemTime};

/// The current time, in nanoseconds since 1970.
pub(crate) fn epoch_ns() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let since: Duration = since.unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
