//! A provision for programs.

use provision::layout::Mode;
use provision::pool::Pool;
use provision::{Capacity, Database, Group, Provision, Purpose, Server, Volume};
use serde_json::{Value, json};

/// Everything to be built.
pub(super) fn of(provision: &Provision) -> Value {
    let needs = &provision.needs;
    let failures: Vec<Value> =
        provision.modes.iter().filter_map(|mode| failure(provision, mode)).collect();
    let kinds: Vec<Value> =
        provision.kinds().into_iter().map(|server| disks(provision, server)).collect();
    json!({
        "title": needs.title,
        "description": needs.description,
        "customer": needs.origin.customer,
        "author": needs.origin.author,
        "date": needs.origin.date,
        "assumption": needs.assumption,
        "provenance": needs.provenance,
        "mailboxes_per_database": needs.mailboxes_per_database,
        "database_bytes": needs.database.0,
        "log_bytes": needs.log.0,
        "iops_per_database": needs.iops_per_database,
        "witness_site": needs.witness.map(|witness| witness.site().map_or(3, |site| site + 1)),
        "lagged_copies_activate": needs.build.replay_lag_manager,
        "replay_lag_ns": needs.build.replay_lag.0,
        "maintenance_pause_ns": needs.build.maintenance_pause.map(|pause| pause.0),
        "link_mbps": needs.build.link_mbps,
        "databases_per_volume": needs.wish.databases_per_volume,
        "file_system": needs.build.file_system,
        "encryption": needs.build.encryption,
        "disks": kinds,
        "failures": failures,
        "groups": provision.groups.iter().map(group).collect::<Vec<_>>(),
    })
}

/// Redundant groups of `server` and of all servers of its kind: in the same site, and likewise
/// reserved for lagged copies or not.
fn disks(provision: &Provision, server: &Server) -> Value {
    let pools: Vec<Value> = provision.pools(server).iter().map(pool).collect();
    let taken: Vec<f64> = provision.pool_shares(server).iter().map(|share| share * 100.0).collect();
    json!({
        "server": server.name,
        "site": server.site + 1,
        "only_lagged": server.only_lagged,
        "most_active": server.limits.most,
        "most_preferred_active": server.limits.preferred,
        "pools": pools,
        "pool_percent_taken": taken,
        "capacity": provision.capacity(server).map(|capacity| self::capacity(&capacity)),
        "pool_io_percent_taken": provision.pool_load(server).map(|load| load * 100.0),
    })
}

fn capacity(capacity: &Capacity) -> Value {
    json!({
        "raw_bytes": capacity.raw.0,
        "formatted_bytes": capacity.formatted.0,
        "database_volume_bytes": capacity.database_volumes.0,
        "database_bytes": capacity.databases.0,
        "formatted_by_raw_percent": capacity.formatted_share() * 100.0,
        "databases_by_volumes_percent": capacity.share_of_volumes() * 100.0,
        "databases_by_raw_percent": capacity.share_of_raw() * 100.0,
    })
}

fn failure(provision: &Provision, mode: &Mode) -> Option<Value> {
    let mut members = blueprint::failure_json(&provision.needs, mode)?;
    members.insert("worst".to_owned(), json!(provision.worst(mode)));
    Some(Value::Object(members))
}

fn pool((purpose, pool): &(Purpose, Pool)) -> Value {
    json!({
        "for": purpose.name(),
        "level": pool.level.word(),
        "groups": pool.groups,
        "data_disks": pool.data_disks,
        "redundant_disks": pool.redundant_disks,
        "disks": pool.disks(),
        "raw_bytes": pool.raw().0,
        "formatted_bytes": pool.formatted().0,
    })
}

fn group(group: &Group) -> Value {
    json!({
        "name": group.name,
        "most_active": group.limits().most,
        "most_preferred_active": group.limits().preferred,
        "servers": group.servers.iter().map(server).collect::<Vec<_>>(),
        "databases": group.databases.iter().map(database).collect::<Vec<_>>(),
    })
}

fn server(server: &Server) -> Value {
    let volumes = server.volumes.iter().chain(&server.metacache);
    json!({
        "name": server.name,
        "site": server.site + 1,
        "only_lagged": server.only_lagged,
        "volumes": volumes.map(volume).collect::<Vec<_>>(),
    })
}

fn volume(volume: &Volume) -> Value {
    json!({
        "name": volume.name,
        "disk": volume.disk,
        "bytes": volume.size.0,
        "for": volume.purpose.name(),
        "databases": volume.databases,
    })
}

fn database(database: &Database) -> Value {
    let copies: Vec<Value> = database
        .copies
        .iter()
        .map(|copy| json!({ "server": copy.server, "lagged": copy.lagged }))
        .collect();
    json!({ "name": database.name, "copies": copies })
}
