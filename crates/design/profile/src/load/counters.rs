//! Paths of performance counters: `\\HOST\Object(Instance)\CounterColumn`, as relog and typeperf
//! write them.

use super::hours::StorageOperation;
use super::places::{LoadPlace, PlaceKind};

/// What a column counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CounterMeasure {
    /// Requests per second.
    Rate,
    /// Mean latency, in units of `unit_ms` milliseconds.
    Latency { unit_ms: f64 },
    /// Bytes per second.
    Bytes,
    /// Mean bytes of a request.
    Length,
}

/// Which requests a column counts. The engine counts those of attached databases, those of recovery
/// (the replay of passive copies), and in some releases both together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CountedPart {
    Whole,
    Attached,
    Recovery,
}

/// A column about storage.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CounterColumn {
    pub place: LoadPlace,
    pub operation: StorageOperation,
    pub part: CountedPart,
    pub measure: CounterMeasure,
}

/// Milliseconds of the engine's latencies, and of those of disks.
const MILLISECOND: f64 = 1.0;
const SECOND: f64 = 1e3;

impl CounterColumn {
    /// Returns the counter of a column; `None` for counters unrelated to storage.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        let (host, path) = path.trim().strip_prefix(r"\\")?.split_once('\\')?;
        let (object, counter) = path.rsplit_once('\\')?;
        let (object, instance) = object.split_once('(')?;
        let instance = instance.strip_suffix(')')?;
        let counter = counter.trim().to_ascii_lowercase();
        let (kind, found) = match object.trim().to_ascii_lowercase().as_str() {
            "logicaldisk" => (PlaceKind::LogicalDisk, of_disk(&counter)),
            "physicaldisk" => (PlaceKind::PhysicalDisk, of_disk(&counter)),
            "msexchange database" | "msexchange database ==> instances" => {
                (PlaceKind::Database, of_engine(&counter))
            }
            _ => return None,
        };
        let (operation, part, measure) = found?;
        let (name, is_total) = match kind {
            PlaceKind::Database => database(instance)?,
            _ => (instance.to_owned(), instance.eq_ignore_ascii_case("_total")),
        };
        let host = host.to_ascii_uppercase();
        Some(Self { place: LoadPlace { host, kind, name, is_total }, operation, part, measure })
    }
}

type CounterMeaning = (StorageOperation, CountedPart, CounterMeasure);

/// Meaning of a volume or disk counter.
fn of_disk(counter: &str) -> Option<CounterMeaning> {
    use StorageOperation::{Read, Write};
    let (operation, measure) = match counter {
        "disk reads/sec" => (Read, CounterMeasure::Rate),
        "disk writes/sec" => (Write, CounterMeasure::Rate),
        "disk read bytes/sec" => (Read, CounterMeasure::Bytes),
        "disk write bytes/sec" => (Write, CounterMeasure::Bytes),
        "avg. disk sec/read" => (Read, CounterMeasure::Latency { unit_ms: SECOND }),
        "avg. disk sec/write" => (Write, CounterMeasure::Latency { unit_ms: SECOND }),
        "avg. disk bytes/read" => (Read, CounterMeasure::Length),
        "avg. disk bytes/write" => (Write, CounterMeasure::Length),
        _ => return None,
    };
    Some((operation, CountedPart::Whole, measure))
}

/// A counter of the engine, such as `i/o database reads (attached) average latency`.
fn of_engine(counter: &str) -> Option<CounterMeaning> {
    if counter == "log bytes write/sec" {
        return Some((StorageOperation::LogWrite, CountedPart::Whole, CounterMeasure::Bytes));
    }
    let mut rest = counter.strip_prefix("i/o ")?;
    let operations = [
        ("database reads", StorageOperation::Read),
        ("database writes", StorageOperation::Write),
        ("log reads", StorageOperation::LogRead),
        ("log writes", StorageOperation::LogWrite),
    ];
    let (name, operation) = operations.into_iter().find(|(name, _)| rest.starts_with(name))?;
    rest = rest[name.len()..].trim_start();
    let mut part = CountedPart::Whole;
    for (name, named) in
        [("(attached)", CountedPart::Attached), ("(recovery)", CountedPart::Recovery)]
    {
        if let Some(behind) = rest.strip_prefix(name) {
            (rest, part) = (behind.trim_start(), named);
        }
    }
    let measure = match rest {
        "/sec" => CounterMeasure::Rate,
        "average latency" => CounterMeasure::Latency { unit_ms: MILLISECOND },
        "average bytes" => CounterMeasure::Length,
        _ => return None,
    };
    Some((operation, part, measure))
}

/// Instances of the store: `Information Store`, `Information Store/DB01`, `Information Store -
/// DB01/_Total`. Others, such as the queue of the transport service, hold no mailboxes.
fn database(instance: &str) -> Option<(String, bool)> {
    const STORE: &str = "information store";
    let prefix = instance.get(..STORE.len())?;
    let rest = prefix.eq_ignore_ascii_case(STORE).then(|| &instance[STORE.len()..])?;
    let name = rest.trim_start_matches([' ', '-', '/']);
    let name = name.strip_suffix("/_Total").unwrap_or(name);
    if name.is_empty() || name.eq_ignore_ascii_case("_total") {
        return Some(("all databases".to_owned(), true));
    }
    Some((name.to_owned(), false))
}
