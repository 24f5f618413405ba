//! The plan that tests one server of a provision: every copy it holds, at its final size.

use std::fmt::{self, Write as _};

use plan::{quoted, sound_name, write_duration, write_size};
use units::{Bytes, Nanos, decimal};

use super::pool::scaled;
use super::{Provision, Requirements, Server};

/// How a server is tested.
#[derive(Clone, Debug, PartialEq)]
pub struct TestPlan {
    /// The server; if `None`, the first.
    pub server: Option<String>,
    /// Folder below which its volumes are mounted.
    pub root: String,
    /// Scale of each database relative to its real size; 1 tests the real size.
    pub scale: f64,
    /// Limits the plan to the first `n` databases of the server, those of one set of disks; `None`:
    /// all.
    pub databases: Option<usize>,
}

/// Why there is no test plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// No server has that name.
    NoServer {
        /// The name.
        found: String,
        /// The first and the last server.
        known: (String, String),
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::NoServer { found, known: (first, last) } = self;
        write!(f, "there is no server {found:?}; name one of {first} to {last}")
    }
}

impl std::error::Error for PlanError {}

/// Smallest database file that can be filled.
const SMALLEST: Bytes = Bytes::from_mib(16);

/// A cache is 1/20 of a file within the bounds below, so that reads reach the disk.
const COLD: u64 = 20;

/// Largest cache of one database, the usual size in the test.
const CACHE: Bytes = Bytes::from_mib(256);

/// Smallest cache that an engine works with.
const SMALLEST_CACHE: Bytes = Bytes::from_mib(4);

/// Largest mailbox that a plan accepts, in MiB.
const MOST_MAILBOX_MIB: f64 = 1_048_576.0;

impl TestPlan {
    /// Returns the server under test.
    pub fn server_of<'p>(&self, provision: &'p Provision) -> Result<&'p Server, PlanError> {
        let mut servers = provision.groups.iter().flat_map(|group| &group.servers);
        let mut names = servers.clone().map(|server| server.name.clone());
        servers
            .find(|server| self.server.as_ref().is_none_or(|name| *name == server.name))
            .ok_or_else(|| {
                let first = names.next().unwrap_or_default();
                let last = names.next_back().unwrap_or_else(|| first.clone());
                let found = self.server.clone().unwrap_or_default();
                PlanError::NoServer { found, known: (first, last) }
            })
    }

    /// Folder and log folder of each database.
    pub fn folders(&self, server: &Server) -> Vec<(String, String)> {
        let root = self.root.trim_end_matches('/');
        let mut folders = Vec::new();
        for (database, volume) in server.databases().take(self.databases.unwrap_or(usize::MAX)) {
            let log = server.log_volume(database).unwrap_or(volume);
            let folder = format!("{root}/{}/{database}", volume.name);
            folders.push((folder, format!("{root}/{}/{database}", log.name)));
        }
        folders
    }

    /// The mount points of the folders, unless each folder has its own.
    fn volumes(&self, server: &Server) -> Vec<String> {
        let root = self.root.trim_end_matches('/');
        let (mut data, mut logs) = (Vec::new(), Vec::new());
        let taken = server.databases().take(self.databases.unwrap_or(usize::MAX));
        let mut count = 0;
        for (database, volume) in taken {
            count += 1;
            let log = server.log_volume(database).unwrap_or(volume);
            for (of, list) in [(volume, &mut data), (log, &mut logs)] {
                let mount = format!("{root}/{}", of.name);
                if !list.contains(&mount) {
                    list.push(mount);
                }
            }
        }
        let is_shared = data.len() < count || logs.len() < count;
        logs.retain(|mount| !data.contains(mount));
        data.extend(logs);
        if is_shared { data } else { Vec::new() }
    }

    /// Length of each database file.
    pub(crate) fn size(&self, provision: &Provision) -> Bytes {
        let exact = scaled(provision.needs.database, self.scale);
        let mib = Bytes::from_mib(1).0;
        Bytes(exact.0 / mib * mib).max(SMALLEST)
    }

    /// Length of all database files together.
    fn bytes(&self, provision: &Provision, server: &Server) -> Bytes {
        Bytes(self.size(provision).0 * self.folders(server).len() as u64)
    }

    /// What a rehearsal lacks if its root has `free` bytes, and the remedy; `None` if it lacks
    /// nothing, or volumes of full size are mounted there.
    pub fn missing_room(&self, provision: &Provision, free: Bytes) -> Option<String> {
        let server = self.server_of(provision).ok()?;
        let needed = self.bytes(provision, server);
        if self.scale >= 1.0 || with_logs(needed) <= free.0 as f64 {
            return None;
        }
        let whole = Self { scale: 1.0, ..self.clone() }.bytes(provision, server);
        let percent = floored(free.0 as f64 / with_logs(whole) * 100.0);
        let largest = Self { scale: percent / 100.0, ..self.clone() };
        let fits = percent > 0.0 && with_logs(largest.bytes(provision, server)) <= free.0 as f64;
        let remedy = if fits { format!("say --scale {percent}") } else { "free some".to_owned() };
        Some(format!(
            "{}: the databases take {needed}, logs a tenth more, and {free} are free; {remedy}, or \
             name another --root",
            self.root
        ))
    }

    /// A plan that `prepare` and `run` accept unchanged.
    pub fn to_toml(&self, provision: &Provision) -> Result<String, PlanError> {
        let server = self.server_of(provision)?;
        let mut text = String::new();
        self.write(provision, server, &mut text)
            .expect("invariant: writing to a string cannot fail");
        Ok(text)
    }

    fn write(&self, provision: &Provision, server: &Server, text: &mut String) -> fmt::Result {
        let needs = &provision.needs;
        let folders = self.folders(server);
        let iops = (needs.iops_per_database * folders.len() as f64).ceil().max(1.0);
        let size = self.size(provision);
        let which =
            if self.databases.is_some() { "Copies of one set of disks" } else { "Every copy" };
        writeln!(
            text,
            "# {which} that {} holds, all active at once: a passive copy causes as",
            server.name
        )?;
        writeln!(
            text,
            "# much I/O. The run is held at {iops:.0} I/O per second; the server is good\n\
             # enough if it carries them within the limits."
        )?;
        if self.scale < 1.0 {
            let percent = self.scale * 100.0;
            writeln!(
                text,
                "# Scaled down to {percent} % of the real size: a rehearsal, no proof."
            )?;
        }
        if let Some(assumption) = &needs.assumption {
            writeln!(text, "# {assumption}.")?;
        }
        let title = format!("{} on {}", needs.title, server.name);
        let name = sound_name(&title).unwrap_or_else(|| "plimsoll".to_owned());
        writeln!(text, "name = {}", quoted(&name))?;
        let copies = match folders.len() {
            1 => "one copy".to_owned(),
            copies => format!("{copies} copies"),
        };
        let description = format!(
            "{iops:.0} I/O per second are needed of {copies}{}",
            about(needs, &counted_mailboxes(provision, folders.len()))
        );
        writeln!(text, "description = {}", quoted(&description))?;
        let each = (needs.mailboxes_per_database, needs.iops_per_database);
        write!(text, "\n{}", mailboxes_section(each, folders.len(), size))?;
        writeln!(text, "\n[databases]\nsize = {}", quoted(&write_size(size)))?;
        write_volumes(&self.volumes(server), text)?;
        let cache = Bytes(size.0 / COLD).clamp(SMALLEST_CACHE, CACHE);
        let mib = Bytes::from_mib(1).0;
        let cache = Bytes(cache.0 / mib * mib);
        writeln!(text, "\n[engine]")?;
        writeln!(text, "cache_minimum = {}", quoted(&write_size(Bytes(cache.0 / 2 / mib * mib))))?;
        writeln!(text, "cache_maximum = {}", quoted(&write_size(cache)))?;
        writeln!(text, "\n[workload]\ntarget_iops = {iops:.0}")?;
        write_maintenance(needs.build.maintenance_pause, text)?;
        for (folder, log) in folders {
            writeln!(text, "\n[[database]]\nfolder = {}", quoted(&folder))?;
            if folder != log {
                writeln!(text, "log_folder = {}", quoted(&log))?;
            }
        }
        Ok(())
    }
}

/// Bytes of databases with the logs of a rehearsal beside them.
fn with_logs(databases: Bytes) -> f64 {
    databases.0 as f64 * 1.1
}

/// A percentage rounded down to two digits.
fn floored(percent: f64) -> f64 {
    let unit = 10_f64.powf(percent.log10().floor() - 1.0);
    let digits = (percent / unit + 1e-9).floor();
    sizing::without_error(digits * unit)
}

/// The scan at the pace of the product: at that of another one a test says little of this design.
fn write_maintenance(pause: Option<Nanos>, text: &mut String) -> fmt::Result {
    let Some(pause) = pause else {
        return writeln!(text, "\n[test]\nmaintenance = false");
    };
    let pause = quoted(&write_duration(pause));
    writeln!(text, "\n[test]\nmaintenance_throttle = {pause}")
}

/// The key that lets a simulation put the databases of one volume on one array.
fn write_volumes(volumes: &[String], text: &mut String) -> fmt::Result {
    if volumes.is_empty() {
        return Ok(());
    }
    writeln!(text, "volumes = [")?;
    for volume in volumes {
        writeln!(text, "    {},", quoted(volume))?;
    }
    writeln!(text, "]")
}

/// For whom and by whom the design is, which mailboxes are `counted`, and what it assumes: reports
/// of its test are read alone.
fn about(needs: &Requirements, counted: &str) -> String {
    let parts = [(", for ", &needs.origin.customer), (", by ", &needs.origin.author)];
    let mut origin = String::new();
    for (before, given) in parts.into_iter().filter(|(_, of)| !of.is_empty()) {
        origin.push_str(before);
        origin.push_str(given);
    }
    let assumption = needs.assumption.as_ref().map(|of| format!(". {of}"));
    origin + counted + &assumption.unwrap_or_default()
}

/// Why a plan has other mailboxes than the design: those of a server's copies, each with its part
/// of the reserves.
fn counted_mailboxes(provision: &Provision, copies: usize) -> String {
    let each = provision.needs.mailboxes_per_database;
    let databases: usize = provision.groups.iter().map(|group| group.databases.len()).sum();
    let [here, all] = [copies, databases].map(|count| whole_mailboxes(each * count as f64));
    if here <= 0.0 {
        return String::new();
    }
    let (here, all) = (decimal(here, 0), decimal(all, 0));
    format!(
        ". [mailboxes] counts the {here} mailboxes of these copies, each with its part of the \
         reserves of I/O and space; the design has {all} in all, without these reserves"
    )
}

/// A number of mailboxes rounded up: storage for a part of one is storage for one.
pub(crate) fn whole_mailboxes(exact: f64) -> f64 {
    // 2,500 must not become 2,501 by a quotient that is not exact.
    (exact * (1.0 - 1e-9)).ceil()
}

/// The section `[mailboxes]` of a plan for some databases: the I/O that the design counts for each
/// mailbox, its reserve included. Without it a report converts the load by the usual figure of a
/// mailbox. Empty for databases without mailboxes.
pub fn mailboxes_section((each, iops): (f64, f64), databases: usize, size: Bytes) -> String {
    if each <= 0.0 || iops <= 0.0 {
        return String::new();
    }
    let count = whole_mailboxes(each * databases as f64).max(1.0);
    let iops = sizing::without_error(iops / each).clamp(0.001, 100.0);
    let mib = (size.as_mib_f64() / each).floor().clamp(1.0, MOST_MAILBOX_MIB);
    format!(
        "[mailboxes]\ncount = {count:.0}\niops_each = {iops:?}\nsize = \"{mib:.0}MiB\"\n\
         headroom = 0\n"
    )
}

#[cfg(test)]
mod tests {
    use super::{floored, whole_mailboxes};

    #[test]
    fn part_of_a_mailbox_is_a_mailbox_and_an_inexact_quotient_is_none() {
        let shown = [62.5 * 40.0, 2_500.000_000_1, 53.3 * 4.0].map(whole_mailboxes);
        assert_eq!(shown.map(|count| count.to_string()), ["2500", "2500", "214"]);
    }

    #[test]
    fn a_scale_is_rounded_down_to_two_digits() {
        let shown = [12.39, 0.0567, 99.99, 3.0].map(floored);
        assert_eq!(shown.map(|percent| percent.to_string()), ["12", "0.056", "99", "3"]);
    }
}
