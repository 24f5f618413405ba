//! Gives names and disks to a layout.

use super::names::{check, numbered};
use super::{
    ActiveLimits, Database, DatabaseCopy, Group, Prefixes, Provision, ProvisionError, Purpose,
    Requirements, Server, Volume,
};
use crate::layout::{self, Failure, Layout, Mode, lay_out, play};

/// The number of the first disk that is not the system's.
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
    let server = |number: usize| {
        let second_half = needs.mirrored && 2 * at >= needs.groups;
        let own = layout.servers[number];
        let site = own.site ^ usize::from(second_half);
        let spares = *needs.spare_volumes.of(site, own.only_lagged);
        let volumes = volumes(needs, layout, &namer, number, spares);
        let metacache = needs.metacache.as_ref();
        Server {
            name: namer.server(number),
            site,
            only_lagged: own.only_lagged,
            limits: limits(modes, own),
            metacache: metacache.map_or_else(Vec::new, |disks| disks.volumes(&volumes)),
            volumes,
        }
    };
    let database = |(number, copies): (usize, &Vec<crate::layout::Copy>)| {
        let copy = |copy: &crate::layout::Copy| DatabaseCopy {
            server: namer.server(copy.server),
            lagged: copy.lagged,
        };
        Database { name: namer.database(number), copies: copies.iter().map(copy).collect() }
    };
    Group {
        name: numbered(&needs.names.group, at + 1, needs.groups),
        servers: (0..layout.servers.len()).map(server).collect(),
        databases: layout.databases.iter().enumerate().map(database).collect(),
    }
}

/// What servers like `own` carry: of the same site, and kept for late copies or not.
fn limits(modes: &[Mode], own: layout::Server) -> ActiveLimits {
    let most_in = |within: fn(&Mode) -> bool| {
        let loads = modes.iter().filter(|mode| within(mode)).flat_map(|mode| &mode.loads);
        loads
            .filter(|load| load.site == own.site && load.only_lagged == own.only_lagged)
            .map(|load| load.active)
            .max()
            .unwrap_or(0)
    };
    let most = most_in(|_| true);
    let preferred = most_in(|mode| matches!(mode.failure, Failure::Servers(0..=2)));
    let preferred = if preferred > 0 { preferred } else { most };
    ActiveLimits { most, preferred }
}

/// Numbers run on over all groups, because names must differ in the whole organisation.
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

/// The volumes of a server: databases, their logs where they are apart, spares, restore; disks
/// count on in that order, which is the one that the calculator's own scripts expect.
fn volumes(
    needs: &Requirements,
    layout: &Layout,
    namer: &Namer<'_>,
    server: usize,
    spares: usize,
) -> Vec<Volume> {
    let held = layout.volumes(server);
    let names = |volume: &Vec<usize>| -> Vec<String> {
        volume.iter().map(|&number| namer.database(number)).collect()
    };
    let data = held.iter().map(|volume| (needs.database_volume, Purpose::Databases, names(volume)));
    let logs = needs
        .log_volume
        .into_iter()
        .flat_map(|size| held.iter().map(move |volume| (size, Purpose::Logs, names(volume))));
    let restore = needs.restore_volume.map(|size| (size, Purpose::Restore, Vec::new()));
    let spare = (needs.database_volume, Purpose::Spare, Vec::new());
    let spares = std::iter::repeat_n(spare, spares);
    let all: Vec<_> = data.chain(logs).chain(spares).chain(restore).collect();
    let count = all.len();
    let volume = |(at, (size, purpose, databases))| Volume {
        name: match purpose {
            Purpose::Restore => "Restore".to_owned(),
            _ => numbered("ExVol", at + 1, count),
        },
        disk: FIRST_DISK + at,
        size,
        purpose,
        databases,
    };
    all.into_iter().enumerate().map(volume).collect()
}
