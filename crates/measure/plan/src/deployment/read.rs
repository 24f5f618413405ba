//! Parses a deployment from text: every section except the tiers, with every default.

use units::{Bytes, Nanos};

use super::files::file_system;
use super::hardware::{Processor, disks, processor};
use super::metacache::metacache;
use super::model::{
    Availability, Backup, BackupFrequency, BackupMethod, Data, Deployment, Io, Mode, Names, Origin,
    RaidGroup, RaidGroups, Replication, SecondSite, Servers, SiteModel, Storage, StorageChoice,
    Transport, Witness,
};
use super::prices::prices;
use super::product::Product;
use super::relations::{Relations, check};
use super::tiers::{DAY, tiers};
use crate::complaint::Complaint;
use crate::keys::Keys;
use crate::reader::{Given, TomlSection};

/// Upper bound of every retention, delay and tolerance.
const YEAR: Nanos = Nanos(DAY.0 * 365);

/// Longest replay lag of a copy: 14 days. Source: S-W76.
const LONGEST_LAG: Nanos = Nanos(DAY.0 * 14);

pub(super) fn deployment(root: TomlSection<'_>, complaints: &mut Vec<Complaint>) -> Deployment {
    let mut root = Keys::new(root, complaints);
    let product = Product::read(&mut root);
    let mut relations = Relations::default();
    let availability = availability(root.below("availability"), &mut relations);
    let (mut servers, mut storage) = (servers(&mut root), storage(&mut root));
    let second_site = second_site(&mut root, &mut servers, &mut storage, &mut relations);
    let metacache = metacache(&mut root, &mut relations.metacache);
    let deployment = Deployment {
        name: root.text("name", "deployment"),
        description: root.text("description", ""),
        origin: Origin {
            customer: root.text("customer", ""),
            author: root.text("author", ""),
            date: root.text("date", ""),
        },
        mode: root.choice("mode").unwrap_or(Mode::Corrected),
        tiers: tiers(&mut root),
        data: data(root.below("data"), &mut relations),
        io: io(root.below("io")),
        backup: backup(root.below("backup")),
        transport: transport(root.below("transport")),
        replication: replication(root.below("replication")),
        file_system: file_system(&mut root),
        names: names(root.below("names")),
        prices: prices(&mut root),
        provenance: provenance(root.below("provenance")),
        product,
        availability,
        second_site,
        servers,
        storage,
        metacache,
    };
    root.finish();
    check(&deployment, &relations, complaints);
    deployment
}

fn availability(mut keys: Keys<'_, '_>, relations: &mut Relations) -> Availability {
    for (key, example) in [
        ("servers_per_site", "`servers_per_site = 4` to [availability]"),
        ("copies", "`copies = 3` to [availability]; 1 means none that could take over"),
    ] {
        if !keys.has(key) {
            keys.missing(key, example);
        }
    }
    relations.servers = keys.place("servers_per_site");
    relations.copies = keys.place("copies");
    relations.lagged = keys.place("lagged_copies");
    let availability = Availability {
        servers_per_site: keys.count("servers_per_site", 1, (1, 1000)),
        dags: keys.count("dags", 1, (1, 1000)),
        copies: keys.count("copies", 1, (1, 16)),
        lagged_copies: keys.count("lagged_copies", 0, (0, 2)),
        replay_lag: keys.span("replay_lag", Nanos(DAY.0 * 7), (Nanos::ZERO, LONGEST_LAG)),
        truncation_lag: keys.span("truncation_lag", Nanos::ZERO, (Nanos::ZERO, LONGEST_LAG)),
        replay_lag_manager: keys.flag("replay_lag_manager", true),
        lagged_on_own_servers: keys.flag("lagged_on_own_servers", false),
        longest_outage: keys.given("longest_outage", (Nanos::ZERO, YEAR)),
    };
    keys.finish();
    availability
}

fn servers(root: &mut Keys<'_, '_>) -> Servers {
    let mut keys = root.below("servers");
    let first = processor(&mut keys, None);
    let servers = Servers {
        multi_role: keys.flag("multi_role", true),
        virtual_machines: keys.flag("virtual_machines", false),
        hypervisor: keys.share("hypervisor_percent", 10.0, (0.0, 100.0)),
        directory_64_bit: keys.flag("directory_64_bit", true),
        first,
        second: first,
        lagged: lagged(&mut keys, first),
    };
    keys.finish();
    servers
}

/// Processors of servers for lagged copies; the same as elsewhere by default.
fn lagged(keys: &mut Keys<'_, '_>, first: Processor) -> Processor {
    let spec_rate = keys.given("lagged_spec_rate", (1.0, 1_000_000.0));
    Processor {
        cores: keys.number("lagged_cores", first.cores, (1.0, 1024.0)),
        spec_rate: spec_rate.or(first.spec_rate),
    }
}

fn storage(root: &mut Keys<'_, '_>) -> Storage {
    let first = disks(root, None);
    let mut keys = root.below("storage");
    let storage = Storage {
        consider_jbod: keys.flag("consider_jbod", true),
        several_databases_per_volume: keys.flag("several_databases_per_volume", true),
        databases_equal_copies: keys.flag("databases_equal_copies", true),
        volumes_per_server: keys.count_or_auto("volumes_per_server", (1, 100)),
        autoreseed_volumes: keys.count("autoreseed_volumes", 1, (0, 6)),
        usable_disk_io: keys.share("usable_disk_io_percent", 100.0, (1.0, 100.0)),
        choice: keys.choice("build").unwrap_or(StorageChoice::Calculated),
        raid: keys.choice("raid"),
        groups: RaidGroups {
            raid10: group(&mut keys, "raid10_group", (1, 1)),
            raid5: group(&mut keys, "raid5_group", (5, 1)),
            raid6: group(&mut keys, "raid6_group", (6, 2)),
            restore: group(&mut keys, "restore_group", (2, 1)),
        },
        second: first.clone(),
        first,
    };
    keys.finish();
    storage
}

/// A group written as `5+1`.
fn group(keys: &mut Keys<'_, '_>, key: &'static str, default: (u32, u32)) -> RaidGroup {
    let default = RaidGroup { data: default.0, redundancy: default.1 };
    let Some(given): Option<Given<String>> = keys.take(key) else {
        return default;
    };
    let redundant = if key == "raid10_group" { 1..=4 } else { 1..=2 };
    match parse_group(&given.value) {
        Some(group) if (1..=32).contains(&group.data) && redundant.contains(&group.redundancy) => {
            group
        }
        _ => {
            let message = "is no group of disks; give data and redundant disks, such as \"5+1\"";
            keys.conflict(key, message);
            default
        }
    }
}

fn parse_group(text: &str) -> Option<RaidGroup> {
    let (data, redundancy) = text.split_once('+')?;
    Some(RaidGroup { data: data.trim().parse().ok()?, redundancy: redundancy.trim().parse().ok()? })
}

fn second_site(
    root: &mut Keys<'_, '_>,
    servers: &mut Servers,
    storage: &mut Storage,
    relations: &mut Relations,
) -> Option<SecondSite> {
    let given = root.has("second_site");
    let mut keys = root.below("second_site");
    relations.second = keys.place("");
    relations.second_copies = keys.place("copies");
    relations.second_lagged = keys.place("lagged_copies");
    if given && !keys.has("model") {
        let example =
            "`model = \"active/active\"` or `model = \"active/passive\"` to [second_site]";
        keys.missing("model", example);
    }
    if given && !keys.has("copies") {
        keys.missing("copies", "`copies = 1`, those of [availability] that stand here, to it");
    }
    let site = SecondSite {
        model: keys.choice("model").unwrap_or(SiteModel::ActiveActive),
        copies: keys.count("copies", 1, (0, 16)),
        lagged_copies: keys.count("lagged_copies", 0, (0, 2)),
        recovery_point: keys.span("recovery_point", DAY, (Nanos::ZERO, DAY)),
        blocks_activation: keys.flag("blocks_activation", false),
        dedicated_servers: keys.flag("dedicated_servers", false),
        witness: keys.choice("witness").unwrap_or(Witness::First),
    };
    servers.second = processor(&mut keys, Some(servers.first));
    storage.second = disks(&mut keys, Some(&storage.first));
    keys.finish();
    given.then_some(site)
}

fn data(mut keys: Keys<'_, '_>, relations: &mut Relations) -> Data {
    relations.largest_database = keys.place("largest_database");
    let bounds = (Bytes::from_gib(1), Bytes(16 << 40));
    let data = Data {
        overhead: keys.share("overhead_percent", 20.0, (0.0, 500.0)),
        moves_per_week: keys.share("moves_per_week_percent", 1.0, (0.0, 100.0)),
        restore_volume: keys.flag("restore_volume", true),
        volume_free_space: keys.share("volume_free_space_percent", 5.0, (0.0, 90.0)),
        largest_database: keys.given("largest_database", bounds),
        database_count: keys.count_or_auto("databases", (1, 10_000)),
        symmetrical: keys.flag("symmetrical", true),
        work_days: keys.count("work_days", 5, (1, 7)),
    };
    keys.finish();
    data
}

fn io(mut keys: Keys<'_, '_>) -> Io {
    let io = Io {
        overhead: keys.share("overhead_percent", 20.0, (0.0, 500.0)),
        additional_iops: keys.number("additional_iops", 0.0, (0.0, 1_000_000.0)),
    };
    keys.finish();
    io
}

fn backup(mut keys: Keys<'_, '_>) -> Backup {
    let frequency = BackupFrequency::WeeklyFullDailyIncremental;
    let backup = Backup {
        method: keys.choice("method").unwrap_or(BackupMethod::Native),
        frequency: keys.choice("frequency").unwrap_or(frequency),
        tolerance: keys.span("tolerance", Nanos(DAY.0 * 3), (DAY, YEAR)),
        network_tolerance: keys.span("network_tolerance", Nanos::ZERO, (Nanos::ZERO, YEAR)),
    };
    keys.finish();
    backup
}

fn transport(mut keys: Keys<'_, '_>) -> Transport {
    let transport = Transport {
        queue_expiration: keys.span("queue_expiration", Nanos(DAY.0 * 2), (Nanos::ZERO, YEAR)),
        safety_net: keys.span("safety_net", Nanos(DAY.0 * 7), (Nanos::ZERO, YEAR)),
    };
    keys.finish();
    transport
}

fn replication(mut keys: Keys<'_, '_>) -> Replication {
    let replication = Replication {
        hourly_shares: hourly_shares(&mut keys),
        compression: keys.share("compression_percent", 30.0, (0.0, 99.0)),
        link_mbps: keys.given("link_mbps", (0.001, 1_000_000.0)),
        link_latency: keys.span(
            "link_latency",
            Nanos::from_millis(50),
            (Nanos::ZERO, Nanos::from_secs(60)),
        ),
    };
    keys.finish();
    replication
}

/// The 24 shares, which add up to 100 percent.
fn hourly_shares(keys: &mut Keys<'_, '_>) -> Option<[f64; 24]> {
    let shares: Vec<f64> =
        keys.list::<f64>("hourly_percent")?.iter().map(|share| share.value / 100.0).collect();
    let sum: f64 = shares.iter().sum();
    let sound = shares.iter().all(|share| (0.0..=1.0).contains(share)) && (sum - 1.0).abs() < 0.01;
    match <[f64; 24]>::try_from(shares) {
        Ok(shares) if sound => Some(shares),
        _ => {
            let message = "takes 24 shares of a day's log in percent, which add up to 100; \
                           remove it, and the network is not sized";
            keys.conflict("hourly_percent", message);
            None
        }
    }
}

/// Reads the files, rules and unusable rows; nothing is calculated from them.
fn provenance(mut keys: Keys<'_, '_>) -> Vec<String> {
    let lists = ["files", "rules", "bad_rows"].map(|key| keys.list::<String>(key));
    keys.finish();
    lists.into_iter().flatten().flatten().map(|item| item.value).collect()
}

fn names(mut keys: Keys<'_, '_>) -> Names {
    let names = Names {
        server_prefix: keys.text("servers", "EX"),
        dag_prefix: keys.text("dags", "DAG"),
        database_prefix: keys.text("databases", "DB"),
        failure_domains_per_site: keys.count("failure_domains_per_site", 0, (0, 8)),
    };
    keys.finish();
    names
}
