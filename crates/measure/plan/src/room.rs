//! Space that a load takes beyond its database files; a run that is refused and the advice after a
//! full volume count it alike.

use units::Bytes;

/// Log space of a database beyond its checkpoint depth: the generations in use, the one prepared
/// ahead, and those that wait for the checkpoint.
pub const LOG_RESERVE: Bytes = Bytes::from_mib(16);

/// Bytes that may still be written to one log while a load ends: the generation in use and the one
/// ahead.
const LAST_LOG: Bytes = Bytes::from_mib(4);

/// Pages by which a file may grow while a load ends: two steps of 256 (ESE
/// `JET_paramDbExtensionSize`).
const LAST_PAGES: u64 = 2 * 256;

/// Free space on a volume at which a load of `databases` and `logs` must end, so that enough is
/// left for ending it.
pub const fn end_reserve(databases: u64, logs: u64, page_bytes: u64) -> Bytes {
    Bytes(databases * LAST_PAGES * page_bytes + logs * LAST_LOG.0)
}
