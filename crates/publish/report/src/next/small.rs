//! Databases of which caches serve so much that a result does not apply to real ones.

use record::RunRecord;
use units::Bytes;

/// Databases smaller than this multiple of their cache are served from it too much to predict the
/// storage's performance on a real mail server: interior pages and many of the leaves stay cached.
const SMALL_DATABASE_CACHES: u64 = 20;

/// Share of the volumes, in percent, that a step leaves to logs and growing databases: what takes
/// exactly the space would not fit after the next run.
pub(super) const GROWTH: u64 = 5;

/// The size above which a database no longer counts as small.
pub(super) fn large_enough(run: &RunRecord) -> Bytes {
    Bytes(run.start.settings.cache_maximum_bytes * SMALL_DATABASE_CACHES)
}

/// The volumes that databases of that size need; `None` if they fit on those of the run.
pub(super) fn larger_volumes(run: &RunRecord) -> Option<Bytes> {
    let usable = verdict::room_bytes(run) / 100 * (100 - GROWTH);
    let all = large_enough(run).0 * run.start.databases.len() as u64;
    (usable > 0 && all > usable).then(|| Bytes(all.saturating_mul(100) / (100 - GROWTH)))
}

/// Whether caches serve too much of a database for the result to apply to a real one.
pub(crate) fn is_small(run: &RunRecord) -> bool {
    let mut databases = run.start.databases.iter();
    databases.any(|facts| facts.initial_bytes < large_enough(run).0)
}
