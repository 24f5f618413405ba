//! Gives names and disks to a layout.

use super::names::{check, numbered};
use super::{
    ActiveLimits, Database, DatabaseCopy, Group, Prefixes, Provision, ProvisionError, Purpose,
    Requirements, Server, Volume,
};
use crate::layout::{self, Failure, Layout, Mode, lay_out, play};

/// The number of the first disk after the system disk.
const FIRST_DISK: usize = 1;

/// Lays everything out and names it.
pub fn provision(needs: Requirements) -> Result<Provision, ProvisionError> {
    for (key, prefix) in [
        ("servers", &needs.names.server),
        ("dags", &needs.names.group),
        ("databases", &needs.names.database),
    ] {
        check(key, prefix).map_err(ProvisionError::Name)?;
    }
    let layout = lay_out(&needs.wish).map_err(ProvisionError::Layout)?;
    let modes = play(&layout, needs.rules());
    let groups = (0..needs.groups).map(|at| group(&needs, &layout, &modes, at));
    Ok(Provision { groups: groups.collect(), modes, needs })
}

fn group(needs: &Requirements, layout: &Layout, modes: &[Mode], at: usize) -> Group {
    let namer = Namer {
        prefixes: &needs.names,
        group: at,
        groups: needs.groups,
        servers: layout.servers.len(),
        databases: layout.databases.len(),
    };
    let mut servers = Vec::new();
    for (number, own) in layout.servers.iter().enumerate() {
        let second_half = needs.mirrored && 2 * at >= needs.groups;
        let site = own.site ^ usize::from(second_half);
        let spares = *needs.spare_volumes.of(site, own.only_lagged);
        let volumes = volumes(needs, layout, &namer, number, spares);
        let metacache = needs.metacache.as_ref();
        servers.push(Server {
            name: namer.server(number),
            site,
            only_lagged: own.only_lagged,
            limits: limits(needs, modes, *own),
            metacache: metacache.map_or_else(Vec::new, |disks| disks.volumes(&volumes)),
            volumes,
        });
    }
    let mut databases = Vec::new();
    for (number, copies) in layout.databases.iter().enumerate() {
        let copies = copies
            .iter()
            .map(|copy| DatabaseCopy { server: namer.server(copy.server), lagged: copy.lagged });
        databases.push(Database { name: namer.database(number), copies: copies.collect() });
    }
    Group { name: numbered(&needs.names.group, at + 1, needs.groups), servers, databases }
}

/// Returns the active limits of servers like `own`: those of the same site that are equally
/// reserved, or not, for lagged copies. A server must not activate more than it is sized for, or
/// than the failures need after which the group is said to have every database active.
fn limits(needs: &Requirements, modes: &[Mode], own: layout::Server) -> ActiveLimits {
    let (mut most, mut preferred) = (*needs.sized_active.of(own.site, own.only_lagged), 0);
    for mode in modes {
        let loads = mode.loads.iter();
        let own = loads.filter(|load| load.site == own.site && load.only_lagged == own.only_lagged);
        let active = own.map(|load| load.active).max().unwrap_or(0);
        if mode.not_active == 0 && mode.stopped == 0 {
            most = most.max(active);
        }
        if matches!(mode.failure, Failure::Servers(0..=2)) {
            preferred = preferred.max(active);
        }
    }
    let preferred = preferred.min(most);
    ActiveLimits { most, preferred: if preferred > 0 { preferred } else { most } }
}

/// Numbers continue across all groups, because names must be unique in the whole organisation.
struct Namer<'a> {
    prefixes: &'a Prefixes,
    group: usize,
    groups: usize,
    servers: usize,
    databases: usize,
}

impl Namer<'_> {
    fn server(&self, number: usize) -> String {
        let most = self.groups * self.servers;
        numbered(&self.prefixes.server, self.group * self.servers + number + 1, most)
    }

    fn database(&self, number: usize) -> String {
        let most = self.groups * self.databases;
        numbered(&self.prefixes.database, self.group * self.databases + number + 1, most)
    }
}

/// The volumes of a server: databases, logs if they are separate, spares, restore. Disks are
/// numbered in that order, as the calculator's own scripts expect.
fn volumes(
    needs: &Requirements,
    layout: &Layout,
    namer: &Namer<'_>,
    server: usize,
    spares: usize,
) -> Vec<Volume> {
    let databases: Vec<Vec<String>> = layout
        .volumes(server)
        .iter()
        .map(|held| held.iter().map(|&number| namer.database(number)).collect())
        .collect();
    let mut all = Vec::new();
    all.extend(databases.iter().map(|held| (needs.database_volume, Purpose::Databases, &held[..])));
    if let Some(size) = needs.log_volume {
        all.extend(databases.iter().map(|held| (size, Purpose::Logs, &held[..])));
    }
    all.extend(std::iter::repeat_n((needs.database_volume, Purpose::Spare, &[][..]), spares));
    all.extend(needs.restore_volume.map(|size| (size, Purpose::Restore, &[][..])));
    let count = all.len();
    all.into_iter()
        .enumerate()
        .map(|(at, (size, purpose, held))| Volume {
            name: match purpose {
                Purpose::Restore => "Restore".to_owned(),
                _ => numbered("ExVol", at + 1, count),
            },
            disk: FIRST_DISK + at,
            size,
            purpose,
            databases: held.to_vec(),
        })
        .collect()
}
