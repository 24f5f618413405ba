//! Running instances of a profile, and the addresses of their bytes.

use units::Nanos;

use super::OperationProfile;
use crate::host::HostProcessors;

/// A load on arrays.
pub struct OperationLoad<'a> {
    /// Profile of every database that has none itself.
    pub profile: &'a OperationProfile,
    /// The databases.
    pub databases: Vec<LoadedDatabase<'a>>,
    /// How long a session rests after a batch, in percent of the batch.
    pub rest_percent: u32,
    /// The background scan of each database, if any.
    pub scan: Option<ScanShape>,
    /// The processors; `None` if they cost nothing.
    pub processors: Option<HostProcessors>,
}

/// One database under load.
pub struct LoadedDatabase<'a> {
    /// Sessions that use it.
    pub sessions: u32,
    /// Location of its bytes.
    pub place: OperationPlace,
    /// Place of its log files, one after the other.
    pub log: OperationPlace,
    /// Decides when the next batch may start; `None` for at once.
    pub pace: Option<OperationPace<'a>>,
    /// Its own profile; `None` for that of the load.
    pub profile: Option<&'a OperationProfile>,
}

/// Returns when the next batch of a database may start, from its reads and writes so far, its
/// batches in flight, and the time. A session that is not due by then asks again.
pub type OperationPace<'a> = Box<dyn FnMut(u64, u32, Nanos) -> Nanos + 'a>;

/// A bulk copy beside the load, such as a reseed: one request after the other at a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperationFlow {
    /// The bytes.
    pub place: OperationPlace,
    /// Bytes of one request.
    pub request_bytes: u64,
    /// Bytes per second, if the array keeps up.
    pub rate: f64,
    /// Whether it writes.
    pub is_write: bool,
}

/// Bytes of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationPlace {
    /// Number of the array.
    pub array: usize,
    /// Offset of the first byte on the array.
    pub base: u64,
    /// Length in bytes.
    pub bytes: u64,
}

/// A scan that reads a database over and over: rests, reads, rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanShape {
    /// The rest between two reads.
    pub pause: Nanos,
    /// Bytes of a read.
    pub bytes: u64,
}
