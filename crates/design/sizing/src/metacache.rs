//! SSDs with `MetaCache` databases: how many, how much of each copy they hold, whether they
//! suffice.
//!
//! The vendor publishes how many SSDs there should be and how much of them is used, but nothing
//! about the I/O that they take off the disks, so load, memory and disks are calculated as if there
//! were none.

use plan::deployment::MetaCache;

use crate::architecture::Architecture;
use crate::database::raw_gb_of;
use crate::decision::Build;
use crate::finding::Severity::{Remark, Violation, Warning};
use crate::key::{Key, ServerKind};
use crate::number::Number;
use crate::quantity::beside;
use crate::remedy;
use crate::work::Work;

/// Database disks per SSD. Source: S-MCDB.
const DISKS_PER_SSD: f64 = 3.0;

/// The part of an SSD that is used. Source: S-MCDB.
const USED: f64 = 0.95;

/// Maximum recommended ratio of the SSDs' capacity to that of the disks. Source: S-PA19.
const MOST_ADVISED: f64 = 0.1;

/// SSDs per server and in total, if the deployment has any.
pub(crate) fn metacache(work: &mut Work<'_>, architecture: Architecture) {
    let Some(given) = work.deployment.metacache else {
        return;
    };
    let disks = disks_of_databases(work, architecture);
    let ssds = ssds_per_server(work, given, disks);
    let ssd = work.sheet.input(Key::MetaCacheSsdGb, raw_gb_of(given.ssd));
    let capacity = work.get(Key::MetaCacheDiskGbPerServer);
    let share = &ssds * &ssd / &capacity;
    work.put(Key::MetaCacheSsdShare, share);
    let wanted = work.sheet.share(Key::MetaCacheCapacityPercent, given.capacity);
    let least = (wanted * capacity / &ssds).up();
    work.put(Key::MetaCacheLeastSsdGb, least);
    let copies = copies_per_server(work);
    let used = USED * &ssds * ssd * 1e9 / 1_073_741_824.0;
    work.put(Key::MetaCacheGbPerCopy, used / copies);
    let all = ssds * work.get(Key::ServerAll);
    work.put(Key::MetaCacheSsdsAll, all);
}

/// Database disks of the server with the most of them, and the largest capacity of a server's: all
/// servers have the same SSDs.
fn disks_of_databases(work: &mut Work<'_>, architecture: Architecture) -> Number {
    let builds = [
        (ServerKind::First, architecture.first),
        (ServerKind::Second, architecture.second),
        (ServerKind::Lagged, architecture.first),
    ];
    let found = builds.into_iter().filter_map(|(kind, build)| {
        let disks = match build {
            Build::Jbod => work.sheet.find(Key::VolumeDbVolumes(kind)),
            Build::Raid => work.sheet.find(Key::DiskRaidDisksDb(kind)),
        };
        let disks = disks?.up();
        let capacity = &disks * work.get(Key::DiskRawGb(kind.with_disks()));
        Some((disks, capacity))
    });
    let most = found.reduce(|most, other| (most.0.max(other.0), most.1.max(other.1)));
    let (disks, capacity) = most.unwrap_or_else(|| (Number::plain(0.0), Number::plain(0.0)));
    work.put(Key::MetaCacheDiskGbPerServer, capacity);
    work.put(Key::MetaCacheDisksPerServer, disks)
}

fn ssds_per_server(work: &mut Work<'_>, given: MetaCache, disks: Number) -> Number {
    let ssds = match given.ssds_per_server {
        Some(ssds) => work.sheet.input(Key::MetaCacheSsdsGiven, f64::from(ssds)),
        None => (disks / DISKS_PER_SSD).up(),
    };
    work.put(Key::MetaCacheSsdsPerServer, ssds)
}

/// Copies among which a server's SSDs are divided, counted as in the group's own settings: those of
/// all databases, evenly over all members.
fn copies_per_server(work: &mut Work<'_>) -> Number {
    let mut members = work.get(Key::ServerPerDag);
    if let Some(late) = work.sheet.find(Key::ServerLaggedPerDag) {
        members = members + late;
    }
    let copies = work.get(Key::DatabaseCount) * work.get(Key::CopiesTotal) / members;
    work.put(Key::MetaCacheCopiesPerServer, copies)
}

/// Reports the numbers that speak against the SSDs.
pub(crate) fn judge(work: &mut Work<'_>, architecture: Architecture) {
    let Some(given) = work.deployment.metacache else {
        return;
    };
    without_spares(work, architecture);
    let ssds = work.value(Key::MetaCacheSsdsPerServer);
    let disks = work.value(Key::MetaCacheDisksPerServer);
    let share = work.value(Key::MetaCacheSsdShare);
    if !share.is_finite() {
        return;
    }
    if share < given.capacity - 1e-9 {
        let key = Key::MetaCacheSsdShare;
        let [has, needs] = beside((key, share), (key, given.capacity));
        let text = format!(
            "the SSDs of a server have {has} of the capacity of its databases' disks and need \
             {needs}: each {} or more",
            work.shown(Key::MetaCacheLeastSsdGb),
        );
        let found = [remedy::larger_ssds, remedy::more_ssds];
        let otherwise = "raise metacache.ssd_size and metacache.ssds_per_server";
        let remedy = remedy::one_of(work, key, &found, otherwise);
        work.find(Violation, Key::MetaCacheSsdShare, text, remedy);
    }
    if share > MOST_ADVISED.max(given.capacity) + 1e-9 {
        let text = format!(
            "the SSDs of a server have {} of the capacity of its databases' disks; 5 % to 10 % \
             are advised",
            work.shown(Key::MetaCacheSsdShare)
        );
        let remedy = "smaller SSDs will do";
        work.find(Remark, Key::MetaCacheSsdShare, text, remedy);
    }
    if ssds * DISKS_PER_SSD < disks {
        let text = format!(
            "a server has an SSD for every {} disks of databases; one for every three is advised",
            units::three_digits(disks / ssds)
        );
        let remedy = "remove metacache.ssds_per_server, or raise it";
        work.find(Warning, Key::MetaCacheSsdsPerServer, text, remedy);
    }
}

/// `AutoReseed` rebuilds the caches on a new SSD. It needs spare volumes and therefore single
/// disks.
fn without_spares(work: &mut Work<'_>, architecture: Architecture) {
    let second = work.deployment.second_site.is_some() && architecture.second == Build::Raid;
    let is_raid = architecture.first == Build::Raid || second;
    if !is_raid && work.value(Key::VolumeAutoreseed) > 0.0 {
        return;
    }
    let text = "MetaCache databases need AutoReseed, and a server has no spare volume".to_owned();
    let remedy = "give storage.autoreseed_volumes = 1, three copies or more and single disks with \
                  several databases on a volume; or remove [metacache]";
    work.find(Violation, Key::VolumeAutoreseed, text, remedy);
}
