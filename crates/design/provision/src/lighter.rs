//! Changes to a deployment that reduce the work per disk. Each is sized like any other design, so
//! that no advice violates a rule.

mod effects;

use std::cmp::Ordering;

use plan::Deployment;
use plan::deployment::{Raid, Replacement};
use sizing::{Build, Decision, DesignFinding, Key, ServerKind, Sizing};
use units::Bytes;

use crate::{size, size_unadvised};
use effects::{appeared, changed_decisions, changed_numbers};

/// Most changes that are worth a simulation each, besides the one that leaves the least load.
const MOST_CHANGES: usize = 6;

/// Minimum share of a disk's work that a change must remove.
const LEAST_RELIEF: f64 = 0.05;

/// Bytes of one read of background maintenance, as published runs of Jetstress show it.
const MAINTENANCE_READ: f64 = 262_144.0;

/// Disks on sale, as the document writes them: smaller ones carry fewer databases, faster ones
/// serve more requests.
const DISKS: [(&str, &str); 8] = [
    ("8TB", "7.2K SAS 3.5"),
    ("4TB", "7.2K SAS 3.5"),
    ("2TB", "7.2K SAS 3.5"),
    ("1TB", "7.2K SAS 3.5"),
    ("2.4TB", "10K SAS 2.5"),
    ("1.8TB", "10K SAS 2.5"),
    ("1.2TB", "10K SAS 2.5"),
    ("900GB", "15K SAS 2.5"),
];

/// Largest capacity of a type of disk that is proposed; `None` if the type is none of those.
pub fn largest_on_sale(kind: &str) -> Option<Bytes> {
    let sizes = DISKS.iter().filter(|(_, of)| *of == kind);
    sizes.filter_map(|(size, _)| plan::parse_size(size)).max()
}

/// A change with its result.
#[derive(Clone, Debug)]
pub struct LighterDesign {
    /// The value in place of the document's.
    pub edit: Replacement,
    /// Load of a database disk as a share of the requests it can serve: before, after.
    pub load: (f64, f64),
    /// Disks in all: before, after.
    pub disks: (f64, f64),
    /// Servers in all: before, after.
    pub servers: (f64, f64),
    /// Cost before and after, in the currency of the document; `None` without prices.
    pub cost: Option<(f64, f64)>,
    /// Other numbers that the change moves: key, before, after.
    pub others: Vec<(Key, f64, f64)>,
    /// Decisions that the change reverses, those among them that the edit does not name: key,
    /// before, after.
    pub decisions: Vec<(Key, Decision, Decision)>,
    /// Findings that only the changed design has.
    pub appeared: Vec<DesignFinding>,
    /// Findings of the document that the changed design no longer has.
    pub gone: Vec<DesignFinding>,
}

impl LighterDesign {
    /// Sort key: other disks last if there are prices, since theirs is not among them; what it
    /// costs; its disks; the load that is left.
    fn price(&self) -> [f64; 4] {
        let is_unpriced = self.cost.is_some() && self.edit.key.ends_with("disks.database");
        let cost = self.cost.map_or(0.0, |(_, after)| after);
        [f64::from(u8::from(is_unpriced)), cost, self.disks.1, self.load.1]
    }
}

/// The changes to try for a design that fails or cannot be judged, cheapest first. The cheapest
/// change of each key is chosen before a second one of any. If the formulas reject the design
/// (`needs_servers`), the changes include more servers.
pub fn changes_to_try(file: &str, text: &str, needs_servers: bool) -> Vec<LighterDesign> {
    let servers = if needs_servers { more_servers(file, text) } else { Vec::new() };
    chosen(servers, lighter_designs(file, text))
}

/// All of `needed`, and as many of `others` as there is room for, of each key the cheapest before
/// any second one; and the one with the least load at any price, since the cheapest may not be
/// enough.
fn chosen(needed: Vec<LighterDesign>, mut others: Vec<LighterDesign>) -> Vec<LighterDesign> {
    others.sort_by(by_price);
    let least = others.iter().min_by(|one, two| one.load.1.total_cmp(&two.load.1)).cloned();
    let mut found = needed;
    let mut second = Vec::new();
    for one in others {
        if found.iter().any(|of| of.edit == one.edit) {
            continue;
        }
        let is_first = found.iter().all(|of| of.edit.key != one.edit.key);
        if is_first { found.push(one) } else { second.push(one) }
    }
    found.extend(second);
    found.truncate(MOST_CHANGES);
    let least = least.filter(|least| found.iter().all(|of| of.edit != least.edit));
    found.extend(least);
    found.sort_by(by_price);
    found
}

fn by_price(one: &LighterDesign, other: &LighterDesign) -> Ordering {
    let pairs = one.price().into_iter().zip(other.price());
    pairs.fold(Ordering::Equal, |so_far, (left, right)| so_far.then(left.total_cmp(&right)))
}

/// Feasible changes to the document that leave less work per disk, fewest disks first. Empty if the
/// document cannot be read.
fn lighter_designs(file: &str, text: &str) -> Vec<LighterDesign> {
    let Ok(deployment) = Deployment::parse(file, text) else {
        return Vec::new();
    };
    let now = size_unadvised(&deployment);
    let edits = edits(&deployment, &now).into_iter();
    let mut found: Vec<_> =
        edits.filter_map(|edit| lighter(&now, edit, |edit| sized(file, text, edit))).collect();
    found.sort_by(|one, two| one.disks.1.total_cmp(&two.disks.1));
    found
}

/// Returns the feasible changes to the document that add servers, fewest first: the remedy for
/// overloaded processors. Empty if the document cannot be read.
fn more_servers(file: &str, text: &str) -> Vec<LighterDesign> {
    let Ok(deployment) = Deployment::parse(file, text) else {
        return Vec::new();
    };
    let now = size_unadvised(&deployment);
    let servers = deployment.availability.servers_per_site;
    [servers + 1, servers + 2, servers * 2]
        .into_iter()
        .map(|count| edit("availability", "servers_per_site", count.to_string()))
        .filter_map(|edit| changed(&now, &sized(file, text, &edit)?, edit))
        .collect()
}

fn sized(file: &str, text: &str, edit: &Replacement) -> Option<Sizing> {
    let changed = Deployment::parse_with(file, text, std::slice::from_ref(edit)).ok()?;
    size_unadvised(&changed).is_workable().then(|| size(&changed))
}

/// The change, if it is feasible and leaves less work per disk, background maintenance included.
fn lighter(
    now: &Sizing,
    edit: Replacement,
    size: impl Fn(&Replacement) -> Option<Sizing>,
) -> Option<LighterDesign> {
    let then = size(&edit)?;
    let is_lighter = disk_work(&then)? < disk_work(now)? * (1.0 - LEAST_RELIEF);
    changed(now, &then, edit).filter(|_| is_lighter)
}

/// [`disk_load`] with the reads of background maintenance, which the sizing leaves out. Every copy
/// causes as many, whatever its size, so that fewer databases on a disk cause fewer.
fn disk_work(sizing: &Sizing) -> Option<f64> {
    let rated = sizing.number(Key::DiskRatedIops(ServerKind::First))?;
    let server = sizing.number(Key::IoMaintenanceMbPerServer)? * 1e6 / MAINTENANCE_READ;
    let disks = if sizing.architecture.first == Build::Jbod {
        let copies = sizing.number(Key::ServerDbCopies(ServerKind::First))?;
        copies / sizing.number(Key::VolumeDbsPerVolume)?
    } else {
        sizing.number(Key::DiskRaidDisksDb(ServerKind::First))?
    };
    Some(disk_load(sizing)? + server / disks / rated)
}

/// What an edit changes between two sizings.
fn changed(now: &Sizing, then: &Sizing, edit: Replacement) -> Option<LighterDesign> {
    Some(LighterDesign {
        edit,
        load: (disk_load(now)?, disk_load(then)?),
        disks: (now.number(Key::DiskAll)?, then.number(Key::DiskAll)?),
        servers: (now.number(Key::ServerAll)?, then.number(Key::ServerAll)?),
        cost: now.number(Key::CostAll).zip(then.number(Key::CostAll)),
        others: changed_numbers(now, then),
        decisions: changed_decisions(now, then),
        appeared: appeared(&now.findings, &then.findings),
        gone: appeared(&then.findings, &now.findings),
    })
}

/// Load of a database disk in the first site as a share of the requests it can serve, by the
/// formulas: failures do not change it, because a passive copy costs as much as an active one.
/// `None` if it is not sized.
pub fn disk_load(sizing: &Sizing) -> Option<f64> {
    let rated = sizing.number(Key::DiskRatedIops(ServerKind::First))?;
    if sizing.architecture.first == Build::Jbod {
        let each = sizing.number(Key::IoDbIopsPerDb)?;
        return Some(each * sizing.number(Key::VolumeDbsPerVolume)? / rated);
    }
    let level = sizing.sheet.decision(Key::DiskRaidChoiceDb(ServerKind::First))?;
    let write_cost = match level {
        Decision::Raid(Raid::Raid5) => 4.0,
        Decision::Raid(Raid::Raid6) => 6.0,
        _ => 2.0,
    };
    let reads = sizing.number(Key::IoDbReadsPerServer)?;
    let writes = sizing.number(Key::IoDbWritesPerServer)?;
    let disks = sizing.number(Key::DiskRaidDisksDb(ServerKind::First))?;
    Some((reads + write_cost * writes) / (disks * rated))
}

/// Edits worth trying for a design like this.
fn edits(deployment: &Deployment, now: &Sizing) -> Vec<Replacement> {
    let mut found = match now.architecture.first {
        Build::Jbod => of_single_disks(now),
        Build::Raid => of_groups(now),
    };
    let capacity = deployment.storage.first.database.capacity;
    let disks = DISKS.into_iter().map(|(size, kind)| {
        edit("disks", "database", format!("{{ size = \"{size}\", type = \"{kind}\" }}"))
    });
    found.extend(disks);
    let servers = deployment.availability.servers_per_site;
    let more = [servers + 1, servers + 2, servers * 2];
    found.extend(more.map(|count| edit("availability", "servers_per_site", count.to_string())));
    let gib = capacity.0 / (1 << 30);
    let sizes = [4, 8].map(|part| (gib / part).max(1));
    found.extend(sizes.map(|gib| edit("data", "largest_database", format!("\"{gib}GiB\""))));
    found
}

/// Fewer databases per disk, or redundant groups instead of single disks.
fn of_single_disks(now: &Sizing) -> Vec<Replacement> {
    let mut found = Vec::new();
    if now.number(Key::VolumeDbsPerVolume).is_some_and(|count| count > 1.0) {
        found.push(edit("storage", "databases_equal_copies", "false".to_owned()));
        found.push(edit("storage", "several_databases_per_volume", "false".to_owned()));
    }
    found.push(edit("storage", "build", "\"raid\"".to_owned()));
    found
}

/// Mirrors instead of parity, and an I/O reserve, which adds disks to the groups.
fn of_groups(now: &Sizing) -> Vec<Replacement> {
    let mut found = Vec::new();
    let level = now.sheet.decision(Key::DiskRaidChoiceDb(ServerKind::First));
    if level != Some(Decision::Raid(Raid::Raid10)) {
        found.push(edit("storage", "raid", "\"RAID-1/0\"".to_owned()));
    }
    let shares = ["80", "60", "40"];
    found.extend(shares.map(|share| edit("storage", "usable_disk_io_percent", share.to_owned())));
    found
}

fn edit(section: &str, key: &str, value: String) -> Replacement {
    Replacement { key: format!("{section}.{key}"), value }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use plan::Deployment;
    use sizing::{Key, ServerKind};

    use super::{LighterDesign, MOST_CHANGES, changes_to_try, disk_load, lighter_designs};
    use crate::size;

    const SINGLE: &str = "[[tier]]\nmailboxes = 5000\nmessages_per_day = 150\n\
        size_limit = \"2GiB\"\n[availability]\nservers_per_site = 4\ncopies = 3\n";

    /// The advice fits the design: no RAID level for single disks.
    #[test]
    fn single_disks_are_eased_by_fewer_databases_and_other_disks() {
        let found = lighter_designs("d.toml", SINGLE);
        let keys: Vec<&str> = found.iter().map(|one| one.edit.key.as_str()).collect();
        assert!(keys.contains(&"storage.several_databases_per_volume"), "{keys:?}");
        assert!(keys.contains(&"disks.database"), "{keys:?}");
        assert!(!keys.contains(&"storage.raid"), "{keys:?}");
        for one in found {
            let edit = std::slice::from_ref(&one.edit);
            let changed = Deployment::parse_with("d.toml", SINGLE, edit).expect("a deployment");
            let sizing = size(&changed);
            assert!(sizing.is_workable() && one.load.1 <= one.load.0, "{one:?}");
            assert_eq!(disk_load(&sizing), Some(one.load.1), "{one:?}");
        }
    }

    /// With databases that a disk's requests limit and not its capacity, the mailboxes cause the
    /// same load on a disk however many databases share it; the background maintenance does not.
    #[test]
    fn fewer_databases_on_a_disk_are_less_background_maintenance() {
        let text = SINGLE.replace("= 150", "= 400")
            + "[disks]\ndatabase = { size = \"4TB\", type = \"7.2K SAS 3.5\", random_iops = 90 }\n";
        let found = changes_to_try("d.toml", &text, false);
        let key = "storage.several_databases_per_volume";
        let fewer = found.iter().find(|of| of.edit.key == key).expect("one database on a disk");
        assert!((fewer.load.0 - fewer.load.1).abs() < 0.05 * fewer.load.0, "{fewer:?}");
        let reads = fewer.others.iter().find(|of| of.0 == Key::IoMaintenanceMbPerServer);
        assert_eq!(reads.map(|&(_, before, after)| (before, after)), Some((54.0, 18.0)));
    }

    #[test]
    fn redundant_groups_are_eased_by_a_reserve_or_mirrors() {
        let text = format!("{SINGLE}[storage]\nbuild = \"raid\"\n");
        let found = lighter_designs("d.toml", &text);
        let keys: Vec<&str> = found.iter().map(|one| one.edit.key.as_str()).collect();
        assert!(keys.iter().any(|key| key.ends_with("usable_disk_io_percent")), "{keys:?}");
        assert!(!keys.contains(&"storage.several_databases_per_volume"), "{keys:?}");
    }

    const PRICES: &str = "[prices]\nserver = 6000\ndisk = 250\nserver_rack_units = 2\n";

    /// Every key has its cheapest change in the list before another has two, and prices decide
    /// which change is cheap: if servers are expensive, adding some comes last.
    #[test]
    fn the_cheapest_change_of_every_key_comes_first_by_price() {
        let text = format!("{SINGLE}{PRICES}");
        let found = changes_to_try("d.toml", &text, false);
        assert!(found.iter().all(|of| of.cost.is_some()));
        let (others, priced): (Vec<_>, Vec<_>) =
            found.iter().partition(|of| of.edit.key.ends_with("disks.database"));
        assert!(!others.is_empty() && found[priced.len()].edit == others[0].edit, "last");
        for costs in [others, priced.clone()] {
            assert!(costs.iter().filter_map(|of| of.cost).is_sorted_by_key(|of| of.1));
        }
        let keys: BTreeSet<&str> = found.iter().map(|of| of.edit.key.as_str()).collect();
        let all = lighter_designs("d.toml", &text);
        let possible: BTreeSet<&str> = all.iter().map(|of| of.edit.key.as_str()).collect();
        assert_eq!(keys, possible, "a key has no change in the list");
        assert!(priced.last().is_some_and(|of| of.edit.key.ends_with("servers_per_site")));
        assert!(changes_to_try("d.toml", SINGLE, false).iter().all(|of| of.cost.is_none()));
    }

    /// If the cheap changes are too little, the list still has one that may be enough.
    #[test]
    fn the_change_with_the_least_load_is_tried_however_dear() {
        let loads = |found: &[LighterDesign]| found.iter().map(|of| of.load.1).reduce(f64::min);
        for text in [SINGLE.to_owned(), format!("{SINGLE}[storage]\nbuild = \"raid\"\n")] {
            let all = lighter_designs("d.toml", &text);
            let tried = changes_to_try("d.toml", &text, true);
            assert_eq!(loads(&tried), loads(&all), "{text}");
            assert!(all.len() > tried.len() && tried.len() <= MOST_CHANGES + 1, "{tried:?}");
        }
    }

    /// More servers take more rack units.
    #[test]
    fn a_change_names_what_else_it_changes() {
        let text = format!("{SINGLE}{PRICES}");
        let found = changes_to_try("d.toml", &text, true);
        let more = found.iter().find(|of| of.edit.value == "5").expect("one more server");
        let units = more.others.iter().find(|(key, ..)| *key == Key::RackUnitsAll);
        assert_eq!(units.map(|&(_, before, after)| (before, after)), Some((8.0, 10.0)));
        // Smaller disks carry smaller databases: more are active on a server at the worst.
        let all = lighter_designs("d.toml", &text);
        let small = all.iter().find(|of| of.edit.value.contains("900GB")).expect("a smaller disk");
        let active = Key::ServerWorstActiveDbs(ServerKind::First);
        assert!(small.others.iter().any(|(key, ..)| *key == active), "{small:?}");
    }
}
