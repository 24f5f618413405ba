//! Disks and processors: the catalogue's values and the document's.

use units::Bytes;

use crate::keys::Keys;
use crate::reader::Given;

/// Disks of a server by purpose.
#[derive(Clone, Debug, PartialEq)]
pub struct Disks {
    /// Databases, and logs that share their volumes.
    pub database: Disk,
    /// Logs on separate volumes.
    pub log: Disk,
    /// The volume for restores.
    pub restore: Disk,
    /// The system and the transport queue.
    pub system: Disk,
    /// Whether the document names the system disk; else it is assumed to match the others.
    pub system_is_given: bool,
}

/// A kind of disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Disk {
    /// Capacity as the vendor counts it.
    pub capacity: Bytes,
    /// Its name in the catalogue, or the user's.
    pub kind: String,
    /// Random reads and writes per second.
    pub random_iops: f64,
    /// Whether parity groups are refused because the disk turns at 7,200 rpm or slower.
    pub slow: bool,
    /// Source of `random_iops`.
    pub source: String,
}

/// Processors of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Processor {
    /// Cores.
    pub cores: f64,
    /// `SPECint_rate2006` of the whole server; `None` if unknown, in which case no utilisation is
    /// calculated.
    pub spec_rate: Option<f64>,
}

/// Kinds of disks, with [`RATINGS`] in the same order.
const KINDS: &[&str] = &[
    "5.4K SATA 2.5",
    "5.4K SATA 3.5",
    "5.4K SAS 3.5",
    "7.2K SATA 3.5",
    "7.2K SATA 2.5",
    "7.2K SAS 3.5",
    "7.2K SAS 2.5",
    "10K SAS 2.5",
    "10K SAS 3.5",
    "15K SAS 3.5",
    "15K SAS 2.5",
    "7.2K SATA, 2007",
    "10K SATA, 2007",
    "10K SCSI, 2007",
    "15K SCSI, 2007",
];

/// Number of [`KINDS`] in the workbook; the cautious figures of the 2007 and 2008 articles (E5)
/// follow.
const OF_WORKBOOK: usize = 11;

/// Random I/O per second of one disk, and whether parity groups are refused. Sources: S-W76, then
/// E5.
const RATINGS: [(f64, bool); 15] = [
    (55.0, true),
    (50.0, true),
    (52.5, true),
    (55.0, true),
    (60.0, true),
    (57.5, true),
    (62.5, true),
    (165.0, false),
    (130.0, false),
    (180.0, false),
    (230.0, false),
    (35.0, true),
    (50.0, false),
    (85.0, false),
    (110.0, false),
];

/// Default for a document without disks.
const USUAL: &str = "7.2K SAS 3.5";

/// The usual disk; its size is a choice, not a rule.
fn usual() -> Disk {
    let capacity = Bytes(4_000_000_000_000);
    listed(USUAL, capacity).unwrap_or_else(|| own(capacity, USUAL, 57.5, true))
}

fn listed(kind: &str, capacity: Bytes) -> Option<Disk> {
    let index = KINDS.iter().position(|known| *known == kind)?;
    let (random_iops, slow) = *RATINGS.get(index)?;
    let source = if index < OF_WORKBOOK { "S-W76, verified" } else { "E5: an article of 2008" };
    Some(Disk { capacity, kind: kind.to_owned(), random_iops, slow, source: source.to_owned() })
}

fn own(capacity: Bytes, kind: &str, random_iops: f64, slow: bool) -> Disk {
    Disk { capacity, kind: kind.to_owned(), random_iops, slow, source: "given".to_owned() }
}

/// Reads the section `[disks]`; disks it omits are taken from `before`, or match the database
/// disks.
pub(super) fn disks(above: &mut Keys<'_, '_>, before: Option<&Disks>) -> Disks {
    let mut keys = above.below("disks");
    let given = keys.has("database");
    let database = disk(&mut keys, "database", before.map(|disks| &disks.database));
    let inherited = before.filter(|_| !given);
    let [log, restore, system] = inherited
        .map_or([&database; 3], |disks| [&disks.log, &disks.restore, &disks.system])
        .map(Some);
    let log = disk(&mut keys, "log", log);
    let restore = disk(&mut keys, "restore", restore);
    let system_is_given = keys.has("system") || inherited.is_some_and(|of| of.system_is_given);
    let system = disk(&mut keys, "system", system);
    keys.finish();
    Disks { database, log, restore, system, system_is_given }
}

fn disk(above: &mut Keys<'_, '_>, key: &'static str, default: Option<&Disk>) -> Disk {
    let default = default.cloned().unwrap_or_else(usual);
    let mut keys = above.below(key);
    let bounds = (Bytes(1_000_000_000), Bytes(1_000_000_000_000_000));
    let capacity = keys.size("size", default.capacity, bounds);
    let kind: Option<Given<String>> = keys.take("type");
    let iops = keys.given("random_iops", (1.0, 10_000_000.0));
    let slow = keys.take("refuses_parity").map(|given: Given<bool>| given.value);
    let disk = match (kind, iops) {
        (None, None) => Disk { capacity, ..default },
        (kind, Some(iops)) => {
            let name = kind.map_or_else(|| "own figure".to_owned(), |given| given.value);
            own(capacity, &name, iops, slow.unwrap_or(false))
        }
        (Some(given), None) => listed(given.value.trim(), capacity).unwrap_or_else(|| {
            keys.unknown_disk(&given, KINDS);
            default
        }),
    };
    keys.finish();
    disk
}

/// Cores and speed from the section; missing ones come from `before`.
pub(super) fn processor(keys: &mut Keys<'_, '_>, before: Option<Processor>) -> Processor {
    let default = before.map_or(16.0, |processor| processor.cores);
    let cores = keys.number("cores", default, (1.0, 1024.0));
    let spec_rate = keys.given("spec_rate", (1.0, 1_000_000.0));
    Processor {
        cores,
        spec_rate: spec_rate.or_else(|| before.and_then(|processor| processor.spec_rate)),
    }
}

#[cfg(test)]
mod tests {
    use super::{KINDS, OF_WORKBOOK};
    use crate::Deployment;

    #[test]
    fn the_example_lists_the_types_of_disks() {
        let example = Deployment::example();
        for kind in &KINDS[..OF_WORKBOOK] {
            assert!(example.contains(kind), "{kind}");
        }
        assert!(example.contains("random_iops ="));
    }
}
