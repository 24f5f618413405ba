//! The hosts of a fleet plan as a deployment.

use std::path::{Path, PathBuf};

use fleet::{EventAction, FleetOrder};
use host::StopFlag;
use host::simulate::played::{sessions, side_by_side};
use plan::{Database, Plan};
use rehearsal::{
    Happening, Occurrence, PlayedCopy, PlayedDatabase, PlayedDeployment, PlayedHost, PlayedRules,
};

use super::super::flags::SimulateFlags;
use super::super::overrides;
use super::arrangement::{Arrangement, ArrayChoice, Sharing};
use super::conduct::{FleetNotes, host_folder};
use super::shelf::{Shelf, ShelvedCopy};
use console::Console;
use console::documents::read_plan;
use console::error::CommandError;

/// Whether neither the fleet plan nor the command line has events.
pub(super) const fn has_no_events(order: &FleetOrder, events: &[String]) -> bool {
    order.events.is_empty() && events.is_empty()
}

/// Simulates every host alone, into the folder of a fleet run. Each result equals that of
/// `simulate` with the same plan, but its report refers to the verdict on the deployment.
pub(super) fn each_alone(
    flags: &SimulateFlags,
    order: &FleetOrder,
    folder: &Path,
    console: &mut Console,
) -> Result<(), CommandError> {
    let names: Vec<String> = order.hosts.iter().map(|host| host.host.clone()).collect();
    let hosts = units::plural(names.len() as u64, "host");
    console.remark(format_args!("{hosts} simulated alone: nothing is shared."))?;
    let statuses = side_by_side(names.len(), |number| {
        let own = host_flags(flags, order, (number, &host_folder(folder, number, &names[number])));
        let (measured, _) = super::super::measured(&own, &StopFlag::default(), true)?;
        Ok::<u8, CommandError>(measured.verdict.exit_code())
    })?;
    let mut notes = FleetNotes::begin(folder, &order.name, &names)?;
    for (host, status) in statuses.into_iter().enumerate() {
        notes.ended(host, status)?;
    }
    notes.end()
}

/// The flags of `simulate` for one host.
pub(super) fn host_flags(
    flags: &SimulateFlags,
    order: &FleetOrder,
    (number, folder): (usize, &Path),
) -> SimulateFlags {
    let plan = plan_path(flags, order, number);
    SimulateFlags {
        level: flags.level,
        each_folder: flags.each_folder,
        test: flags.test.clone(),
        duration: flags.duration,
        threads: flags.threads,
        target_iops: flags.target_iops,
        rest: flags.rest,
        seed: flags.seed,
        is_host_of_deployment: true,
        ..SimulateFlags::of(plan, flags.array.clone(), folder.to_path_buf())
    }
}

fn plan_path(flags: &SimulateFlags, order: &FleetOrder, number: usize) -> PathBuf {
    flags.plan.parent().unwrap_or(Path::new("")).join(&order.hosts[number].plan)
}

/// The deployment of a fleet plan, and its events.
pub(super) fn arranged(
    flags: &SimulateFlags,
    order: &FleetOrder,
    choice: &ArrayChoice,
) -> Result<(Arrangement, Vec<Occurrence>), CommandError> {
    let mut plans = Vec::new();
    for (number, host) in order.hosts.iter().enumerate() {
        let own = host_flags(flags, order, (number, Path::new("")));
        let plan = read_plan(&own.plan, &overrides(&own)?)?;
        if !plan.test.kind.is_load() {
            return Err(CommandError::new(format!(
                "{}: hosts that share an array or have events run loads, and this is a {} test; \
                 simulate it alone",
                host.host, plan.test.kind
            )));
        }
        plans.push(plan);
    }
    let names: Vec<Vec<String>> = plans.iter().enumerate().map(|of| copies_on(order, of)).collect();
    let shelf = Shelf::of(choice, &shelved(order, (&plans, &names)))?;
    let mut deployment = PlayedDeployment {
        hosts: hosts(order),
        arrays: Vec::new(),
        databases: Vec::new(),
        profiles: Vec::new(),
        rules: PlayedRules {
            replay_share: f64::from(order.passive_percent) / 100.0,
            ..PlayedRules::default()
        },
    };
    let mut loads = Vec::new();
    for (number, copies) in names.iter().enumerate() {
        let load = match choice.sharing {
            Sharing::All => beside_the_others(&plans, number),
            Sharing::Host | Sharing::Folder | Sharing::Sets(_) => plans[number].clone(),
        };
        let sessions = sessions(&load);
        add_host(&mut deployment, (order, &plans), (number, copies), (&shelf, &sessions))?;
        loads.push(load);
    }
    deployment.arrays = shelf.into_arrays();
    let occurrences = occurrences(order, &deployment);
    let (name, array) = (order.name.clone(), choice.array.clone());
    Ok((Arrangement { name, deployment, loads, plans, array }, occurrences))
}

fn hosts(order: &FleetOrder) -> Vec<PlayedHost> {
    order.hosts.iter().map(|of| PlayedHost { name: of.host.clone(), site: 0, group: 0 }).collect()
}

/// Names of a host's databases, from the last parts of their folders.
fn copies_on(order: &FleetOrder, (host, plan): (usize, &Plan)) -> Vec<String> {
    let own = &order.hosts[host].host;
    let mut names = Vec::new();
    for (at, database) in plan.databases.iter().enumerate() {
        let last = database.folder.rsplit(['/', '\\']).next().unwrap_or_default();
        let is_known = order.databases.iter().any(|of| of.database == last);
        names.push(if is_known { last.to_owned() } else { format!("{own}:{}", at + 1) });
    }
    names
}

/// The copies of all hosts, with the volumes of their databases.
fn shelved<'a>(
    order: &'a FleetOrder,
    (plans, names): (&[Plan], &[Vec<String>]),
) -> Vec<ShelvedCopy<'a>> {
    let mut all = Vec::new();
    for (number, (plan, names)) in plans.iter().zip(names).enumerate() {
        let host = (number, order.hosts[number].host.as_str());
        let bytes = plan.size.0;
        let numbers = volume_numbers(plan);
        let copies = numbers.into_iter().take(names.len()).enumerate();
        all.extend(copies.map(|(position, volume)| ShelvedCopy { host, position, volume, bytes }));
    }
    all
}

/// The number of each database's volume among those of its host.
fn volume_numbers(plan: &Plan) -> Vec<usize> {
    let mut known: Vec<&str> = Vec::new();
    let numbers = plan.databases.iter().map(|database| {
        known.iter().position(|of| *of == database.volume).unwrap_or_else(|| {
            known.push(&database.volume);
            known.len() - 1
        })
    });
    numbers.collect()
}

/// Adds the databases that are active on a host, with their copies on others.
fn add_host(
    deployment: &mut PlayedDeployment,
    (order, plans): (&FleetOrder, &[Plan]),
    (number, names): (usize, &[String]),
    (shelf, sessions): (&Shelf, &[u32]),
) -> Result<(), CommandError> {
    for (position, name) in names.iter().enumerate() {
        let set = order.databases.iter().find(|of| of.database == *name);
        let holders = set.map_or_else(|| vec![number], |of| of.hosts.clone());
        let places = shelf.place(number, position);
        let (place, log) = places
            .ok_or_else(|| CommandError::new(format!("{name}: it was given no array to lie on")))?;
        let copy = PlayedCopy { host: number, place, log, is_lagged: false };
        if let Some(known) = deployment.databases.iter_mut().find(|of| of.name == *name) {
            known.copies.push(copy);
            known.copies.sort_by_key(|of| holders.iter().position(|host| *host == of.host));
            continue;
        }
        let first = holders.first().copied().unwrap_or(number);
        deployment.databases.push(PlayedDatabase {
            name: name.clone(),
            profile: number,
            iops: target(&plans[first], position),
            sessions: sessions[position],
            copies: vec![copy],
        });
    }
    Ok(())
}

/// Returns the plan of host `number` with the load of all hosts: as many databases as all of them
/// have, and their combined target. Its page writes then come in bursts at the pace of the shared
/// array.
fn beside_the_others(plans: &[Plan], number: usize) -> Plan {
    let mut plan = plans[number].clone();
    let more = plans.iter().enumerate().filter(|(other, _)| *other != number);
    let more: usize = more.map(|(_, of)| of.databases.len()).sum();
    for index in (0..).skip(plan.databases.len()).take(more) {
        plan.databases.push(Database { index, ..plan.databases[0].clone() });
    }
    plan.workload.target_iops = plans.iter().map(|of| of.workload.target_iops).sum();
    plan
}

/// Target load of a database of `plan`.
fn target(plan: &Plan, position: usize) -> Option<f64> {
    let database = plan.databases.get(position)?;
    let target = f64::from(plan.workload.target_iops?);
    Some(target / plan.databases.len() as f64 * plan.share(database))
}

/// The database called `name`, and its copy on `host`.
fn copy_at(deployment: &PlayedDeployment, name: &str, host: usize) -> Option<(usize, usize)> {
    let database = deployment.databases.iter().position(|of| of.name == name)?;
    let copies = &deployment.databases[database].copies;
    Some((database, copies.iter().position(|of| of.host == host)?))
}

fn occurrences(order: &FleetOrder, deployment: &PlayedDeployment) -> Vec<Occurrence> {
    let names: Vec<&str> = order.names();
    let mut all = Vec::new();
    for event in &order.events {
        let (what, until, take_over) = match &event.action {
            EventAction::Rejoin { .. } => continue,
            EventAction::Lose { host, take_over } => {
                let back = order.events.iter().find(|later| {
                    later.at > event.at && later.action == EventAction::Rejoin { host: *host }
                });
                let moved =
                    take_over.iter().filter_map(|of| copy_at(deployment, &of.database, of.by));
                (Happening::HostLost { host: *host }, back.map(|of| of.at), moved.collect())
            }
            EventAction::Reseed { database, target, bytes_per_second, .. } => {
                let Some((database, copy)) = copy_at(deployment, database, *target) else {
                    continue;
                };
                let rate = Some(*bytes_per_second);
                (Happening::Reseed { database, copy, rate }, None, Vec::new())
            }
        };
        let text = event.action.words(&names);
        all.push(Occurrence { at: event.at, until, what, text, take_over });
    }
    all
}

#[cfg(test)]
mod tests {
    use fleet::FleetOrder;
    use plan::Plan;

    use super::shelved;

    #[test]
    fn copies_on_one_volume_have_its_number() {
        let order = FleetOrder::parse("f.toml", FleetOrder::example()).expect("the example");
        let text = "[databases]\nsize = \"1GiB\"\nfolders = [\"/2/a\", \"/1/b\", \"/2/c\"]\n";
        let numbers = |volumes: &str| {
            let plan = Plan::parse("p", &format!("{text}{volumes}")).expect("a plan");
            let names = vec![String::new(); plan.databases.len()];
            let copies = shelved(&order, (&[plan], &[names]));
            copies.iter().map(|of| of.volume).collect::<Vec<_>>()
        };
        assert_eq!(numbers(""), [0, 1, 2]);
        assert_eq!(numbers("volumes = [\"/1\", \"/2\"]\n"), [0, 1, 0]);
    }
}
