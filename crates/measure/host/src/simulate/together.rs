//! Hosts that share an array and pass over whole databases at the same time: one simulation of the
//! engine, and a journal for each host.

use std::collections::BTreeSet;
use std::ops::Range;

use plan::{Database, Plan};
use record::{DatabaseInterval, Event, Interval};

use super::alike::database_of;
use super::engine_run::{EngineRun, SimulatedJournal};
use super::played::as_judged_part;
use super::{SimulationOrder, facts};
use crate::error::HostError;
use crate::measure::Measured;
use crate::stop::StopFlag;

/// A host on the shared array.
pub struct SharedHost<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its plan and the folder of its record; storage, seed and rest are those of the first host.
    pub order: SimulationOrder<'a>,
}

/// Simulates hosts on one array concurrently, with the engine; the results are in host order.
pub fn simulate_together(
    hosts: &[SharedHost<'_>],
    stop: &StopFlag,
) -> Result<Vec<Measured>, HostError> {
    let (plan, shares) = joined(hosts)?;
    let Some(first) = hosts.first() else { return Ok(Vec::new()) };
    let SimulationOrder { storage, rest_percent, seed, folder, .. } = first.order;
    let order = SimulationOrder {
        plan: &plan,
        storage,
        profile: None,
        rest_percent,
        seed,
        command: String::new(),
        options: Vec::new(),
        tags: &[],
        folder,
    };
    let run = EngineRun::prepared(&order)?;
    let mut journals = Vec::new();
    for SharedHost { order, .. } in hosts {
        let own = Plan { databases: order.plan.databases.clone(), ..run.plan.clone() };
        let start = as_judged_part(facts::start(order, &own, run.stretch, run.epoch()));
        journals.push(SimulatedJournal::create(order.folder, &Event::Start(Box::new(start)))?);
    }
    let noted = journals.clone();
    let ended = run.play(&order, stop, move |event| {
        for (journal, share) in noted.iter().zip(&shares) {
            if let Some(own) = share.part_of(event) {
                journal.add(&own);
            }
        }
    });
    { journals.into_iter().zip(hosts) }
        .map(|(journal, host)| journal.end(host.order.folder, ended.clone()))
        .collect()
}

/// The databases of one host within the joined plan.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HostShare {
    databases: Range<u32>,
    /// Prefix of the paths of its files.
    prefix: String,
}

/// One plan with the databases of all hosts, each host's folders under its name, and the share of
/// each host.
fn joined(hosts: &[SharedHost<'_>]) -> Result<(Plan, Vec<HostShare>), HostError> {
    let Some(first) = hosts.first() else {
        return Err(HostError::new("no host: nothing to simulate"));
    };
    let mut plan = Plan { databases: Vec::new(), ..first.order.plan.clone() };
    let (mut shares, mut names) = (Vec::new(), BTreeSet::new());
    for SharedHost { name, order } in hosts {
        if !names.insert(name.to_ascii_lowercase()) || !is_alike(order.plan, first.order.plan) {
            return Err(HostError::new(format!(
                "{name}: hosts that pass over their databases on one array need plans that differ \
                 in folders and in the number of databases alone; {} has other values",
                first.name
            )));
        }
        let (begun, prefix) = (count(&plan), format!("/{name}/"));
        for database in &order.plan.databases {
            let mut database = database.clone();
            database.index = count(&plan);
            let Database { folder, log_folder, volume, log_volume, .. } = &mut database;
            for path in [folder, log_folder, volume, log_volume] {
                path.insert_str(0, &prefix);
            }
            plan.databases.push(database);
        }
        shares.push(HostShare { databases: begun..count(&plan), prefix });
    }
    Ok((plan, shares))
}

/// Whether two plans ask the same of the engine, apart from names, folders and seeds.
fn is_alike(one: &Plan, other: &Plan) -> bool {
    bare(one) == bare(other)
}

/// A plan without names, folders and seed.
fn bare(plan: &Plan) -> Plan {
    Plan {
        name: String::new(),
        description: String::new(),
        seed: units::Seed(0),
        databases: Vec::new(),
        ..plan.clone()
    }
}

fn count(plan: &Plan) -> u32 {
    u32::try_from(plan.databases.len()).unwrap_or(u32::MAX)
}

impl HostShare {
    /// The part of an event that belongs to the host, with numbers and paths of the host's plan.
    fn part_of(&self, event: &Event) -> Option<Event> {
        let mut own = event.clone();
        match &mut own {
            Event::Interval(interval) => return Some(Event::Interval(self.interval(interval))),
            Event::Issue(issue) => {
                if let Some(database) = &mut issue.database {
                    *database = self.number(*database)?;
                }
                issue.volume = issue.volume.take().map(|path| self.path(&path));
                issue.file = issue.file.take().map(|path| self.path(&path));
            }
            Event::LongRequest(request) => request.file = self.path(&request.file),
            _ => {}
        }
        if let Some(database) = database_of(&mut own) {
            *database = self.number(*database)?;
        }
        Some(own)
    }

    fn interval(&self, of_all: &Interval) -> Interval {
        let own = of_all.databases.iter().filter_map(|of| {
            Some(DatabaseInterval { index: self.number(of.index)?, ..of.clone() })
        });
        Interval { databases: own.collect(), ..of_all.clone() }
    }

    /// Returns the host's own number of a database; `None` if it is another host's.
    fn number(&self, of_all: u32) -> Option<u32> {
        self.databases.contains(&of_all).then(|| of_all - self.databases.start)
    }

    fn path(&self, of_all: &str) -> String {
        of_all.strip_prefix(&self.prefix).unwrap_or(of_all).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use plan::Plan;
    use record::{Checksum, DatabaseInterval, Event, Interval, LogLine, Phase};

    use super::{HostShare, SharedHost, joined};
    use crate::simulate::{SimulatedStorage, SimulationOrder};

    const SHELF: &str = include_str!("../../../../../arrays/shelf-15k.toml");

    fn plan(count: u32, more: &str) -> Plan {
        let text = format!(
            "[databases]\nfolders = [\"/a\"]\ncount = {count}\nsize = \"64MiB\"\n[test]\n\
             type = \"checksum\"\n{more}"
        );
        Plan::parse("test", &text).expect("a valid plan")
    }

    fn hosts<'a>(plans: &'a [Plan], storage: &'a SimulatedStorage) -> Vec<SharedHost<'a>> {
        let order = |plan: &'a Plan| SimulationOrder {
            plan,
            storage,
            profile: None,
            rest_percent: 0,
            seed: plan.seed,
            command: String::new(),
            options: Vec::new(),
            tags: &[],
            folder: std::path::Path::new(""),
        };
        let named = plans.iter().zip(["EX01", "EX02"]);
        named.map(|(plan, name)| SharedHost { name, order: order(plan) }).collect()
    }

    fn storage() -> SimulatedStorage {
        let array = simdisk::ArrayDescription::parse("shelf", SHELF, &[]).expect("it ships");
        SimulatedStorage { array, is_each_folder: false }
    }

    #[test]
    fn the_databases_of_all_hosts_have_their_own_folders_and_numbers() {
        let (plans, storage) = ([plan(1, ""), plan(2, "")], storage());
        let (all, shares) = joined(&hosts(&plans, &storage)).expect("alike plans");
        let folders: Vec<&str> = all.databases.iter().map(|of| &*of.folder).collect();
        assert_eq!(folders, ["/EX01//a", "/EX02//a", "/EX02//a"]);
        let numbers: Vec<u32> = all.databases.iter().map(|of| of.index).collect();
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(shares[1].databases, 1..3);
        assert_eq!(shares[1].path("/EX02//a/x.edb"), "/a/x.edb");
    }

    #[test]
    fn hosts_with_other_values_are_refused() {
        let plans = [plan(1, ""), plan(1, "duration = \"7h\"\n")];
        let storage = storage();
        let error = joined(&hosts(&plans, &storage)).expect_err("other plans");
        assert!(error.to_string().contains("EX02") && error.to_string().contains("EX01"));
    }

    #[test]
    fn an_event_reaches_the_host_that_it_is_about() {
        let share = HostShare { databases: 1..3, prefix: "/EX02/".to_owned() };
        let pass = |database| Event::Checksum(Checksum { database, ..Checksum::default() });
        assert_eq!(share.part_of(&pass(0)), None);
        assert_eq!(share.part_of(&pass(2)), Some(pass(1)));
        let log = Event::Log(LogLine { at_ns: 0, text: String::new() });
        assert_eq!(share.part_of(&log), Some(log));
        let index = |index| DatabaseInterval { index, ..DatabaseInterval::default() };
        let interval = |databases| {
            Event::Interval(Interval {
                phase: Phase::Measure,
                from_ns: 0,
                to_ns: 1,
                databases,
                host: None,
                processors: None,
                flash_cache: None,
            })
        };
        let of_all = interval(vec![index(0), index(1), index(2)]);
        assert_eq!(share.part_of(&of_all), Some(interval(vec![index(0), index(1)])));
    }
}
