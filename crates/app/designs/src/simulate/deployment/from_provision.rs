//! Converts the servers of a provision to hosts of a deployment, from the JSON that `plan` writes.

use host::simulate::played::sessions;
use plan::{Plan, quoted, write_duration, write_size};
use provision::layout::Witness;
use rehearsal::{PlayedCopy, PlayedDatabase, PlayedDeployment, PlayedHost, PlayedRules};
use serde_json::Value;
use units::{Bytes, Nanos, Seed};

use super::arrangement::{Arrangement, ArrayChoice, Sharing};
use super::shelf::{Shelf, ShelvedCopy};
use console::error::CommandError;

/// A cache is 1/20 of its database within the bounds below, so that reads reach the disks.
const COLD: u64 = 20;

/// Largest and smallest cache of one database, in MiB.
const CACHE_MIB: (u64, u64) = (256, 4);

/// The deployment of a provision on arrays of `choice`.
pub(crate) fn arranged(
    provision: &Value,
    choice: &ArrayChoice,
    seed: Option<u64>,
) -> Result<Arrangement, CommandError> {
    let reader = ProvisionReader { provision, choice, seed: Seed(seed.unwrap_or(1)) };
    let (hosts, held) = reader.hosts()?;
    let shelf = Shelf::of(choice, &shelved(&hosts, &held, reader.size()?.0))?;
    let mut databases = reader.databases(&hosts, &held, &shelf)?;
    let plans: Result<Vec<Plan>, CommandError> =
        held.iter().map(|of| reader.plan(&of.databases)).collect();
    let plans = plans?;
    let load = reader.set_plan(&held)?;
    let sessions = sessions(&load);
    for database in &mut databases {
        database.sessions = sessions.first().copied().unwrap_or(1);
    }
    let deployment = PlayedDeployment {
        hosts,
        arrays: shelf.into_arrays(),
        databases,
        profiles: Vec::new(),
        rules: reader.rules(),
    };
    let name = provision["title"].as_str().unwrap_or("deployment");
    let name = plan::sound_name(name).unwrap_or_else(|| "deployment".to_owned());
    let array = choice.array.clone();
    Ok(Arrangement { name, deployment, loads: vec![load], plans, array })
}

/// The databases of a host in order, each with its volume number.
struct HostDatabases {
    databases: Vec<String>,
    volumes: Vec<usize>,
}

/// The copies of all hosts, `bytes` each.
fn shelved<'a>(
    hosts: &'a [PlayedHost],
    held: &[HostDatabases],
    bytes: u64,
) -> Vec<ShelvedCopy<'a>> {
    let mut all = Vec::new();
    for (number, (host, held)) in hosts.iter().zip(held).enumerate() {
        let host = (number, host.name.as_str());
        let copies = held.volumes.iter().enumerate();
        all.extend(copies.map(|(position, &volume)| ShelvedCopy { host, position, volume, bytes }));
    }
    all
}

struct ProvisionReader<'a> {
    provision: &'a Value,
    choice: &'a ArrayChoice,
    seed: Seed,
}

impl ProvisionReader<'_> {
    fn missing(what: &str) -> CommandError {
        CommandError::new(format!(
            "the provision has no {what}; write it again with `plimsoll plan DEPLOYMENT -o DIR`"
        ))
    }

    fn number(&self, key: &str) -> Result<f64, CommandError> {
        let found = self.provision[key].as_f64().filter(|value| *value > 0.0);
        found.ok_or_else(|| Self::missing(key))
    }

    fn list<'v>(value: &'v Value, key: &str) -> Result<&'v Vec<Value>, CommandError> {
        value[key].as_array().ok_or_else(|| Self::missing(key))
    }

    fn text<'v>(value: &'v Value, key: &str) -> Result<&'v str, CommandError> {
        value[key].as_str().ok_or_else(|| Self::missing(key))
    }

    fn size(&self) -> Result<Bytes, CommandError> {
        let bytes = self.provision["database_bytes"].as_u64();
        let mib = bytes.ok_or_else(|| Self::missing("database_bytes"))? >> 20;
        Ok(Bytes(mib.max(16) << 20))
    }

    fn rules(&self) -> PlayedRules {
        let witness = match self.provision["witness_site"].as_u64() {
            Some(1) => Some(Witness::First),
            Some(2) => Some(Witness::Second),
            Some(_) => Some(Witness::Third),
            None => None,
        };
        let activates_lagged = self.provision["lagged_copies_activate"].as_bool().unwrap_or(false);
        PlayedRules {
            witness,
            activates_lagged,
            lag: Nanos(self.provision["replay_lag_ns"].as_u64().unwrap_or(0)),
            site_link: self.provision["link_mbps"].as_f64().map(|mbps| mbps * 1e6 / 8.0),
            ..PlayedRules::default()
        }
    }

    fn hosts(&self) -> Result<(Vec<PlayedHost>, Vec<HostDatabases>), CommandError> {
        let (mut hosts, mut all) = (Vec::new(), Vec::new());
        for (group, document) in Self::list(self.provision, "groups")?.iter().enumerate() {
            for server in Self::list(document, "servers")? {
                let site = server["site"].as_u64().map_or(0, |site| usize::from(site > 1));
                let name = Self::text(server, "name")?.to_owned();
                hosts.push(PlayedHost { name, site, group });
                all.push(Self::held(server)?);
            }
        }
        Ok((hosts, all))
    }

    fn held(server: &Value) -> Result<HostDatabases, CommandError> {
        let mut held = HostDatabases { databases: Vec::new(), volumes: Vec::new() };
        let volumes = Self::list(server, "volumes")?.iter();
        let carriers = volumes.filter(|volume| volume["for"] == "databases");
        for (number, volume) in carriers.enumerate() {
            for name in Self::list(volume, "databases")? {
                held.databases.push(name.as_str().unwrap_or_default().to_owned());
                held.volumes.push(number);
            }
        }
        Ok(held)
    }

    fn databases(
        &self,
        hosts: &[PlayedHost],
        held: &[HostDatabases],
        shelf: &Shelf,
    ) -> Result<Vec<PlayedDatabase>, CommandError> {
        let iops = self.number("iops_per_database")?;
        let mut databases = Vec::new();
        for group in Self::list(self.provision, "groups")? {
            for database in Self::list(group, "databases")? {
                let name = Self::text(database, "name")?.to_owned();
                let mut copies = Vec::new();
                for copy in Self::list(database, "copies")? {
                    let server = Self::text(copy, "server")?;
                    let host = hosts.iter().position(|of| of.name == server);
                    let host = host.ok_or_else(|| Self::missing(server))?;
                    let position = held[host].databases.iter().position(|of| *of == name);
                    let places = position.and_then(|position| shelf.place(host, position));
                    let (place, log) = places.ok_or_else(|| Self::missing(&name))?;
                    let is_lagged = copy["lagged"].as_bool().unwrap_or(false);
                    copies.push(PlayedCopy { host, place, log, is_lagged });
                }
                let (profile, sessions, iops) = (0, 1, Some(iops));
                databases.push(PlayedDatabase { name, profile, iops, sessions, copies });
            }
        }
        Ok(databases)
    }

    /// The plan of the databases that share the first host's first array.
    fn set_plan(&self, held: &[HostDatabases]) -> Result<Plan, CommandError> {
        let first = held.first().ok_or_else(|| Self::missing("server"))?;
        let count = match self.choice.sharing {
            Sharing::All | Sharing::Host => first.databases.len(),
            Sharing::Folder => first.volumes.iter().filter(|volume| **volume == 0).count(),
            Sharing::Sets(each) => each.min(first.databases.len()),
        };
        self.plan(&first.databases[..count])
    }

    /// The section of a plan on background maintenance; empty for a provision that was written
    /// before it stated the pause.
    fn maintenance(&self) -> String {
        match self.provision.get("maintenance_pause_ns") {
            None => String::new(),
            Some(Value::Number(pause)) => {
                let pause = Nanos(pause.as_u64().unwrap_or_default());
                format!("[test]\nmaintenance_throttle = {}\n", quoted(&write_duration(pause)))
            }
            Some(_) => "[test]\nmaintenance = false\n".to_owned(),
        }
    }

    /// A plan of these databases, all active.
    fn plan(&self, databases: &[String]) -> Result<Plan, CommandError> {
        let (size, iops) = (self.size()?, self.number("iops_per_database")?);
        let (most, least) = CACHE_MIB;
        let cache = ((size.0 / COLD) >> 20).clamp(least, most);
        let target = (iops * databases.len() as f64).ceil().max(1.0);
        let mut text = format!(
            "name = \"deployment\"\ndescription = {}\nseed = {}\n[databases]\nsize = {}\n[engine]\n\
             cache_minimum = \"{}MiB\"\ncache_maximum = \"{cache}MiB\"\n[workload]\n\
             target_iops = {target:.0}\n",
            quoted(self.provision["assumption"].as_str().unwrap_or_default()),
            self.seed.0,
            quoted(&write_size(size)),
            (cache / 2).max(1)
        );
        let each = (self.number("mailboxes_per_database")?, iops);
        text += &provision::mailboxes_section(each, databases.len(), size);
        text += &self.maintenance();
        for name in databases {
            let folder = quoted(&format!("/mnt/mail/{name}"));
            text.extend(["[[database]]\nfolder = ", folder.as_str(), "\n"]);
        }
        Ok(Plan::parse("provision", &text)?)
    }
}
