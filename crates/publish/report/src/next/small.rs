//! Databases of which caches serve so much that a result does not apply to real ones.

use record::RunRecord;
use units::Bytes;

/// Databases smaller than this multiple of their cache are served from it too much to predict the
/// storage's performance on a real mail server: interior pages and many of the leaves stay cached.
const SMALL_DATABASE_CACHES: u64 = 20;

/// The size above which a database no longer counts as small.
pub(super) fn large_enough(run: &RunRecord) -> Bytes {
    Bytes(run.start.settings.cache_maximum_bytes * SMALL_DATABASE_CACHES)
}

/// Whether caches serve too much of a database for the result to apply to a real one.
pub(crate) fn is_small(run: &RunRecord) -> bool {
    let mut databases = run.start.databases.iter();
    databases.any(|facts| facts.initial_bytes < large_enough(run).0)
}
