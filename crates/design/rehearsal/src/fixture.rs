//! Deployments for tests: one array and one database per host, with copies on the next hosts.

use simdisk::ArrayDescription;
use simdisk::operations::{
    BatchShape, ColdCache, LogShape, OperationPlace, OperationProfile, Placement, SpanShape,
    WriteBurst, WriteShape,
};
use units::Nanos;

use crate::{
    Happening, Occurrence, PlayedCopy, PlayedDatabase, PlayedDeployment, PlayedHost, PlayedRules,
};

const PAGE: u64 = 32 << 10;
const DISK: &str = include_str!("../../../../arrays/disk-7200.toml");

pub(crate) fn hour(count: u64) -> Nanos {
    Nanos::from_secs(3_600 * count)
}

pub(crate) fn occurrence(at: Nanos, until: Option<Nanos>, what: Happening) -> Occurrence {
    Occurrence { at, until, what, text: format!("{what:?}"), take_over: Vec::new() }
}

/// Two reads and a durable commit; one page write per two reads.
pub(crate) fn profile() -> OperationProfile {
    let span =
        SpanShape { reads: 2, reads_beside: 0, updates: 1, log_bytes: 3_000, is_durable: true };
    let write = WriteShape { bytes: PAGE, placement: Placement::Anywhere };
    OperationProfile {
        batches: vec![BatchShape { spans: vec![span; 2], reads: vec![] }],
        bursts: vec![WriteBurst {
            after_reads: 8,
            writes: vec![write; 4],
            ..WriteBurst::default()
        }],
        read_bytes: PAGE,
        writes_in_flight: 32,
        writes_behind: 64,
        log: LogShape::default(),
        cold: ColdCache::default(),
    }
}

/// A single disk, with `changes` to its description.
pub(crate) fn disk(changes: &[(&str, &str)]) -> ArrayDescription {
    let changes: Vec<(String, String)> =
        changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    ArrayDescription::parse("disk", DISK, &changes).expect("an array")
}

/// `hosts` hosts, the second half in the second site; 20 IOPS for each database of 200 GB.
pub(crate) fn deployment(hosts: usize, copies: usize, rules: PlayedRules) -> PlayedDeployment {
    PlayedDeployment {
        hosts: (0..hosts)
            .map(|number| PlayedHost {
                name: format!("EX{number:02}"),
                site: usize::from(number >= hosts.div_ceil(2)),
                group: 0,
            })
            .collect(),
        arrays: vec![disk(&[("disk.capacity_gb", "2000")]); hosts],
        databases: (0..hosts)
            .map(|number| PlayedDatabase {
                name: format!("DB{number:02}"),
                profile: 0,
                iops: Some(20.0),
                sessions: 2,
                copies: (0..copies).map(|at| copy((number + at) % hosts, at)).collect(),
            })
            .collect(),
        profiles: vec![profile()],
        rules,
    }
}

/// Copy number `at` of a database, on `host`.
fn copy(host: usize, at: usize) -> PlayedCopy {
    let base = at as u64 * 220_000_000_000;
    let place = OperationPlace { array: host, base, bytes: 200_000_000_000 };
    let log = OperationPlace { base: base + place.bytes, bytes: 16 << 30, ..place };
    PlayedCopy { host, place, log, is_lagged: false }
}
