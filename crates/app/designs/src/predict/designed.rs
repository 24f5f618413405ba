//! Converts a sizing to a simulation: one disk set of a server as an array, and the databases on
//! it.

use host::simulate::arrays;
use plan::Deployment;
use plan::deployment::{Disk, Raid};
use provision::pool::Pool;
use provision::{Provision, Purpose, Server};
use simdisk::{ArrayDescription, DescriptionError};

use console::error::CommandError;

/// One disk set of a server; all its sets are alike.
pub(crate) struct DesignedSet {
    /// The set as an array.
    pub array: ArrayDescription,
    /// Largest number of the server's databases on one set.
    pub databases: usize,
    /// Number of such sets in the server.
    pub sets: u32,
}

/// Controller memory in whole MiB, shared by all sets of a server: a guess.
const CONTROLLER_MIB: u64 = 1_024;

impl DesignedSet {
    /// The RAID set under the databases of `server`, made of `disk`.
    pub(crate) fn of(
        provision: &Provision,
        server: &Server,
        disk: &Disk,
    ) -> Result<Self, CommandError> {
        let pool = provision.pools(server).first().map(|(_, pool)| *pool);
        let all = server.databases().count();
        let carriers = server.volumes.iter().filter(|of| of.purpose == Purpose::Databases);
        let (databases, sets) = match &pool {
            Some(pool) => {
                let bytes = carriers.map(|volume| volume.size.0).sum();
                let sets = sets_of(pool, all, bytes);
                (all.div_ceil(sets as usize), sets)
            }
            None => (
                carriers.clone().map(|volume| volume.databases.len()).max().unwrap_or(all),
                u32::try_from(carriers.count()).unwrap_or(u32::MAX).max(1),
            ),
        };
        Ok(Self { array: array(disk, pool.as_ref(), sets)?, databases, sets })
    }
}

/// Arrays that the groups under `databases` databases of `bytes` in all form. Mirrored pairs are
/// striped into one, as the layout's scripts do. A parity group is an array by itself if its part
/// of the databases fits; else volumes span groups, and as few as hold them are taken for one.
fn sets_of(pool: &Pool, databases: usize, bytes: u64) -> u32 {
    let groups = pool.groups.max(1);
    if pool.level == Raid::Raid10 {
        return 1;
    }
    let mut even = (1..=groups).rev().filter(|sets| groups.is_multiple_of(*sets));
    even.find(|&sets| {
        let part = databases.div_ceil(sets as usize) as f64 / databases.max(1) as f64;
        part * bytes as f64 <= pool.formatted().0 as f64 / f64::from(sets)
    })
    .unwrap_or(1)
}

/// Level of a set and its disks, if a server has `sets`.
fn level(pool: Option<&Pool>, sets: u32) -> (u32, u32) {
    let Some(pool) = pool else {
        return (0, 1);
    };
    let disks = pool.disks() / sets;
    match pool.level {
        Raid::Raid10 if disks == 2 => (1, disks),
        Raid::Raid10 => (10, disks),
        Raid::Raid5 => (5, disks),
        Raid::Raid6 => (6, disks),
    }
}

/// Builds the set as an array: disks of this kind behind a controller with the design's settings
/// and memory used only for writes.
fn array(disk: &Disk, pool: Option<&Pool>, sets: u32) -> Result<ArrayDescription, CommandError> {
    let Some((shelf, rpm)) = shelf_of(&disk.kind) else {
        return Err(CommandError::new(format!(
            "[disks] database: nothing is known of how a disk of the type \"{}\" works, only how \
             many requests it answers; give the `type` of a disk that turns (`plimsoll size \
             --example` lists them), or describe the disk in an array file for `plimsoll simulate \
             PLAN --array FILE`",
            disk.kind
        )));
    };
    let (level, disks) = level(pool, sets);
    let capacity = disk.capacity.0 as f64 / 1e9;
    let memory = (CONTROLLER_MIB / u64::from(sets)).max(16);
    let changes = [
        ("disk.capacity_gb", format!("{capacity:?}")),
        ("disk.rpm", rpm.to_owned()),
        ("raid.level", level.to_string()),
        ("raid.disks", disks.to_string()),
        ("raid.stripe_kib", "256".to_owned()),
        ("cache.size_mib", memory.to_string()),
        ("cache.write_percent", "100".to_owned()),
    ];
    let changes = changes.map(|(key, value)| (key.to_owned(), value));
    let text = arrays::text_of(shelf).unwrap_or_default();
    let mut array = ArrayDescription::parse(shelf, text, &changes)
        .map_err(|error: DescriptionError| CommandError::new(error.to_string()))?;
    let sold = sizing::as_sold(disk.capacity);
    array.name = match (level, disks) {
        (0, _) => format!("one {} of {sold}", disk.kind),
        _ => format!("{}{} of {sold}, RAID {level}", groups_of(pool, disks), disk.kind),
    };
    array.provenance = format!(
        "Nothing measured: a set of the design, its disks with the figures of {shelf} that come \
         with the program. The memory of the controller is a guess: {CONTROLLER_MIB} MiB for all \
         {sets} sets of the server, protected and for writes alone. Of {shelf}: {}",
        array.provenance.trim()
    );
    Ok(array)
}

/// The disks of a set in words: `2 groups of 6 x ` if parity groups are joined, else `6 x `.
fn groups_of(pool: Option<&Pool>, disks: u32) -> String {
    let group = pool.map_or(disks, |of| of.data_disks + of.redundant_disks).max(1);
    let is_joined = pool.is_some_and(|of| of.level != Raid::Raid10) && disks > group;
    if is_joined {
        format!("{} groups of {group} x ", disks / group)
    } else {
        format!("{disks} x ")
    }
}

/// Whether every site has disks that an array can be made of.
pub(crate) fn is_known(deployment: &Deployment) -> bool {
    let storage = &deployment.storage;
    let there = deployment.second_site.is_some().then_some(&storage.second.database);
    { std::iter::once(&storage.first.database).chain(there) }.all(|of| shelf_of(&of.kind).is_some())
}

/// The shelf with disks like those of a catalogue kind, and their rotation speed.
fn shelf_of(kind: &str) -> Option<(&'static str, &'static str)> {
    let shelves = [
        ("15K ", "shelf-15k", "15000"),
        ("10K ", "shelf-10k", "10000"),
        ("7.2K ", "shelf-sata", "7200"),
        ("5.4K ", "shelf-sata", "5400"),
    ];
    let found = shelves.iter().find(|(begin, ..)| kind.starts_with(begin))?;
    Some((found.1, found.2))
}

#[cfg(test)]
mod tests {
    use plan::Deployment;
    use plan::deployment::Raid;
    use provision::pool::Pool;
    use units::Bytes;

    use super::{DesignedSet, groups_of, level, sets_of};

    fn pool(level: Raid, groups: u32, data_disks: u32) -> Pool {
        let (raw, formatted) = (Bytes(100), Bytes(100));
        Pool { level, groups, data_disks, redundant_disks: 1, raw, formatted, disk_iops: 100.0 }
    }

    #[test]
    fn mirrored_pairs_are_one_array_as_in_the_script_of_the_layout() {
        let pairs = pool(Raid::Raid10, 5, 1);
        assert_eq!((sets_of(&pairs, 8, 400), level(Some(&pairs), 1)), (1, (10, 10)));
        let pair = pool(Raid::Raid10, 1, 1);
        assert_eq!((sets_of(&pair, 8, 50), level(Some(&pair), 1)), (1, (1, 2)));
    }

    #[test]
    fn parity_groups_are_joined_if_whole_databases_do_not_fit_them() {
        let groups = pool(Raid::Raid5, 6, 5);
        // 8 databases of 300 in 6 groups of 500: two do not fit a group, three fit two.
        assert_eq!(sets_of(&groups, 8, 2_400), 3);
        assert_eq!(level(Some(&groups), 3), (5, 12));
        assert_eq!(groups_of(Some(&groups), 12), "2 groups of 6 x ");
        assert_eq!(sets_of(&groups, 8, 2_000), 6, "they fit");
        assert_eq!(groups_of(Some(&groups), 6), "6 x ");
        assert_eq!(sets_of(&groups, 8, 9_000), 1, "more than all of them hold");
    }

    #[test]
    fn the_example_becomes_single_disks_behind_a_write_cache() {
        let deployment = Deployment::parse("d.toml", Deployment::example()).expect("a deployment");
        let (provision, _) = crate::plan::laid_out(&deployment, None).expect("it can be laid out");
        let server = &provision.groups[0].servers[0];
        let disk = &deployment.storage.first.database;
        let set = DesignedSet::of(&provision, server, disk).expect("a set");
        let text = set.array.text();
        assert!(set.databases >= 1 && set.sets > 1, "{} {}", set.databases, set.sets);
        assert!(text.contains("level = 0") && text.contains("disks = 1"), "{text}");
        assert!(text.contains("rpm = 7200.0") && text.contains("write_percent = 100"), "{text}");
        assert!(set.array.provenance.starts_with("Nothing measured"), "{text}");
    }
}
