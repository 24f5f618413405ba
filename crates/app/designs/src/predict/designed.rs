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
            Some(pool) => (all.div_ceil(pool.groups.max(1) as usize), pool.groups.max(1)),
            None => (
                carriers.clone().map(|volume| volume.databases.len()).max().unwrap_or(all),
                u32::try_from(carriers.count()).unwrap_or(u32::MAX).max(1),
            ),
        };
        Ok(Self { array: array(disk, pool.as_ref(), sets)?, databases, sets })
    }
}

/// Level of a set and its disks.
fn level(pool: Option<&Pool>) -> (u32, u32) {
    let Some(pool) = pool else {
        return (0, 1);
    };
    let disks = pool.data_disks + pool.redundant_disks;
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
             many requests it answers; name a `type` of the list, or describe the disk in an array \
             file for `plimsoll simulate PLAN --array FILE`",
            disk.kind
        )));
    };
    let (level, disks) = level(pool);
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
        _ => format!("{disks} x {} of {sold}, RAID {level}", disk.kind),
    };
    array.provenance = format!(
        "Nothing measured: a set of the design, its disks with the figures of {shelf} that come \
         with the program. The memory of the controller is a guess: {CONTROLLER_MIB} MiB for all \
         {sets} sets of the server, protected and for writes alone. Of {shelf}: {}",
        array.provenance.trim()
    );
    Ok(array)
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

    use super::DesignedSet;

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
