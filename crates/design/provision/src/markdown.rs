//! A provision for people: what to order, what goes where, and how each failure plays out.

use std::fmt::Write as _;

use plan::deployment::Raid;
use sizing::as_formatted;
use units::{Bytes, plural};

use super::{Group, Provision, QUORUM, REPLAYED, Requirements, Server, quorum_word};
use crate::export::{METACACHE_DATABASES, METACACHE_VOLUMES};
use crate::layout::Mode;
use crate::pool::Pool;
use crate::test_plan::whole_mailboxes;

/// Settings for controllers and disks of any make. Source: Microsoft, "Exchange Server storage
/// configuration options".
const HARDWARE: &str = "
Settings of the hardware, to be made before volumes are cut:

- Controllers of disks in the server: cache protected by battery or flash, 100 % for writes.
  Arrays: 75 % for writes, 25 % for reads, or as the vendor says.
- The disks' own write cache: off, unless the power is protected.
- Single disks behind a caching controller: each as a RAID-0 of one, not passed through.
- Stripes of 256 KiB or more; at most seven disks in a group of RAID-5.
";

impl Provision {
    /// A Markdown text.
    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        self.write(&mut text).expect("invariant: writing to a string cannot fail");
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        let needs = &self.needs;
        writeln!(text, "# {}\n", cell(&needs.title))?;
        if let Some(assumption) = &needs.assumption {
            writeln!(text, "**{}.**\n", cell(assumption))?;
        }
        writeln!(text, "| | |\n|---|---|")?;
        let origin = &needs.origin;
        for (name, said) in [
            ("customer", &origin.customer),
            ("date", &origin.date),
            ("author", &origin.author),
            ("description", &needs.description),
        ] {
            if !said.is_empty() {
                writeln!(text, "| {name} | {} |", cell(said))?;
            }
        }
        let databases: usize = self.groups.iter().map(|group| group.databases.len()).sum();
        let servers: usize = self.groups.iter().map(|group| group.servers.len()).sum();
        writeln!(text, "| servers | {servers} |")?;
        writeln!(text, "| databases | {databases} |")?;
        let each = whole_mailboxes(needs.mailboxes_per_database);
        writeln!(text, "| mailboxes per database | {each:.0} |")?;
        writeln!(text, "| database | {} |", as_formatted(needs.database))?;
        writeln!(text, "| log of a database | {} |", as_formatted(needs.log))?;
        writeln!(text, "| I/O per second of a copy | {:.2} |", needs.iops_per_database)?;
        let (file_system, encryption) = (&needs.build.file_system, &needs.build.encryption);
        writeln!(text, "| file system | {file_system}, encryption {encryption} |")?;
        let mut kinds = self.kinds().into_iter();
        kinds.try_for_each(|server| self.write_pools(server, text))?;
        if !needs.provenance.is_empty() {
            writeln!(text, "\nWhere the figures of the mailboxes come from:\n")?;
        }
        for line in &needs.provenance {
            writeln!(text, "- {}", cell(line))?;
        }
        text.push_str(HARDWARE);
        self.write_failures(text)?;
        self.groups.iter().try_for_each(|group| write_group(needs, group, text))
    }

    /// Disks of a server and their contents, if volumes are cut from redundant groups.
    fn write_pools(&self, server: &Server, text: &mut String) -> std::fmt::Result {
        let pools = self.pools(server).iter();
        for ((purpose, pool), used) in pools.zip(self.pool_shares(server)) {
            let (name, purpose) = (&server.name, purpose.name());
            writeln!(text, "| disks of {name} for {purpose} | {} |", arrays(pool))?;
            let [part, whole] = [pool.formatted(), pool.raw()].map(as_formatted);
            writeln!(text, "| formatted | {part} of {whole} |")?;
            write_share(text, "taken by volumes", used)?;
        }
        if let Some(capacity) = self.capacity(server) {
            let formatted = "formatted by raw disks, GiB by GB as in test reports";
            write_share(text, formatted, capacity.formatted_share())?;
            write_share(text, "databases by their volumes", capacity.share_of_volumes())?;
            write_share(text, "databases by raw disks, likewise", capacity.share_of_raw())?;
        }
        if let Some(load) = self.pool_load(server) {
            write_share(text, "I/O of the databases' disks taken", load)?;
        }
        // On an array, volume sizes depend only on the mailboxes' data.
        if self.needs.grown_database.is_some() {
            for half_gib in [1, 2, 3, 4, 6] {
                let size = Bytes::from_mib(512 * half_gib);
                let mailboxes = self.mailboxes_of(size);
                writeln!(text, "| mailboxes of {size} in the same volumes | {mailboxes} |")?;
            }
        }
        Ok(())
    }

    /// Minimum to maximum load of a survivor, over every way in which the failure can happen.
    fn write_failures(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "\n## Failures, played through\n")?;
        writeln!(
            text,
            "| failure | ways | quorum | active databases per survivor | not active | \
             no copy left | megacycles | processor | I/O per second | worst case |\n\
             |---|---|---|---|---|---|---|---|---|---|"
        )?;
        for mode in &self.modes {
            let Some(burden) = self.needs.burden(mode) else {
                continue;
            };
            let processor = burden
                .processor
                .map_or_else(|| "not known".to_owned(), |share| format!("{:.1} %", share * 100.0));
            let (megacycles, iops) = (burden.megacycles, burden.iops);
            let worst: Vec<String> = self.worst(mode).into_iter().map(cell).collect();
            let cells = [
                mode.failure.to_string(),
                mode.cases.to_string(),
                if self.needs.copies { quorum(mode) } else { "-".to_owned() },
                format!("{} to {}", burden.active.0, burden.active.1),
                not_active(mode),
                mode.lost.to_string(),
                format!("{:.0} to {:.0}", megacycles.0, megacycles.1),
                processor,
                format!("{:.0} to {:.0}", iops.0, iops.1),
                worst.join(", "),
            ];
            writeln!(text, "| {} |", cells.join(" | "))?;
        }
        if self.needs.copies {
            writeln!(text, "\n{QUORUM}")?;
        }
        if self.modes.iter().any(|mode| mode.replayed > 0) {
            writeln!(text, "\n{REPLAYED}")?;
        }
        Ok(())
    }
}

/// The arrays to build of a pool: mirrors are the members of one striped array, as the scripts make
/// it; groups with parity are arrays of their own.
fn arrays(pool: &Pool) -> String {
    let (disks, level) = (pool.disks(), pool.level.word());
    if pool.level == Raid::Raid10 {
        let pairs = plural(pool.groups.into(), "mirrored pair");
        return format!("{disks} in one array of {level}, striped over {pairs}");
    }
    let groups = plural(pool.groups.into(), "group");
    format!("{disks} in {groups} of {level} {}+{}", pool.data_disks, pool.redundant_disks)
}

/// Writes a row with a share (1 is the whole) in percent.
fn write_share(text: &mut String, name: &str, share: f64) -> std::fmt::Result {
    writeln!(text, "| {name} | {:.1} % |", share * 100.0)
}

/// The databases down, and those that are only until a lagged copy has replayed its log.
fn not_active(mode: &Mode) -> String {
    match mode.replayed {
        0 => mode.not_active.to_string(),
        replayed => format!("{}, and {replayed} until a replay ends", mode.not_active),
    }
}

/// Whether the group keeps quorum, and in how many ways it loses it.
fn quorum(mode: &Mode) -> String {
    let word = quorum_word(mode);
    match mode.stopped {
        0 => word.to_owned(),
        stopped => format!("{word} ({stopped} of {})", mode.cases),
    }
}

fn write_group(needs: &Requirements, group: &Group, text: &mut String) -> std::fmt::Result {
    // Without copies the servers form no group, and its name is only that of the documents.
    let heading = if needs.copies { cell(&group.name) } else { "Servers".to_owned() };
    writeln!(text, "\n## {heading}\n")?;
    write_limits(needs, group, text)?;
    if let Some(disks) = needs.metacache {
        writeln!(
            text,
            "Each server has {} of {} for MetaCache databases. Manage-MCDB mounts them \
             under {METACACHE_VOLUMES} and the cache of a copy at {METACACHE_DATABASES}\\DATABASE; \
             its file is DATABASE.mcdb\\DATABASE-mcdb.edb there.\n",
            plural(disks.ssds as u64, "empty SSD"),
            disks.ssd
        )?;
    }
    writeln!(
        text,
        "| database | servers by activation preference (late copies in brackets) |\n|---|---|"
    )?;
    for database in &group.databases {
        let mut copies = Vec::new();
        for copy in &database.copies {
            let server = cell(&copy.server);
            copies.push(if copy.lagged { format!("({server})") } else { server });
        }
        writeln!(text, "| {} | {} |", cell(&database.name), copies.join(", "))?;
    }
    let disk = if needs.pools.first.is_empty() { "disk" } else { "virtual disk" };
    group.servers.iter().try_for_each(|server| write_server(server, disk, text))
}

/// How many databases may be active on a server: a waiting site prefers fewer than the other.
fn write_limits(needs: &Requirements, group: &Group, text: &mut String) -> std::fmt::Result {
    let sites = [0, 1].map(|site| group.limits_in(site));
    let [first, second] = sites;
    let differ = first.zip(second).is_some_and(|(first, second)| first != second);
    let all = if differ { sites } else { [Some(group.limits()), None] };
    for (number, limits) in (1..).zip(all).filter_map(|(number, of)| Some((number, of?))) {
        let site = if differ { format!(" in site {number}") } else { String::new() };
        write!(text, "Active databases of a server{site}: {} at most", limits.most)?;
        // Without copies no server takes over from another.
        if needs.copies {
            write!(text, ", {} preferred", limits.preferred)?;
        }
        writeln!(text, ".\n")?;
    }
    Ok(())
}

/// The volumes of a server; with redundant groups each is a virtual `disk` of their arrays.
fn write_server(server: &Server, disk: &str, text: &mut String) -> std::fmt::Result {
    writeln!(text, "\n### {}, site {}\n", cell(&server.name), server.site + 1)?;
    writeln!(text, "| volume | {disk} | size | for | databases |\n|---|---|---|---|---|")?;
    for volume in server.volumes.iter().chain(&server.metacache) {
        let databases: Vec<String> = volume.databases.iter().map(|name| cell(name)).collect();
        let (name, disk, purpose) = (&volume.name, volume.disk, volume.purpose.name());
        let databases = databases.join(", ");
        let size = as_formatted(volume.size);
        writeln!(text, "| {name} | {disk} | {size} | {purpose} | {databases} |")?;
    }
    Ok(())
}

/// Escapes text so that it stays in its cell and is not parsed as markup.
fn cell(text: &str) -> String {
    let mut plain = String::new();
    for symbol in text.chars() {
        if "\\`*_{}[]<>#|&".contains(symbol) {
            plain.push('\\');
        }
        plain.push(if symbol.is_control() { ' ' } else { symbol });
    }
    plain
}
