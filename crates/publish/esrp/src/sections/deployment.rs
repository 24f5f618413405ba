//! The tested configuration: the five tables of configuration, hardware, software and disks.

use record::DatabaseFacts;
use report::format;

use super::prose::{copies, iops_and_reserve};
use super::{facts, listed, said};
use crate::TestedRun;
use crate::figures::{Demand, Room, databases, volumes};
use crate::paper::{Chapter, Content, Wanted, Words};
use crate::roles::Server;
use crate::vendor::{DiskGroup, DiskPurpose, Vendor, count, text};

/// Bytes in a gigabyte, as disk vendors count it.
const GB: f64 = 1e9;

fn content(servers: &[Server<'_>], vendor: &Vendor) -> Vec<Content> {
    let mut content = vec![said(
        "Sizes of databases and volumes, processors, memory and systems are those that the \
         records of the runs tell; the rest is stated by the vendor.",
    )];
    if servers.iter().any(|server| server.shares_name) {
        content.push(said(
            "Several servers have the same host name. A number behind the name distinguishes \
             them; the records identify their machines.",
        ));
    }
    content.extend([
        facts("Table 1: Simulated Exchange Configuration", configuration(servers, vendor)),
        facts("Table 2: Storage Hardware", hardware(servers, vendor)),
        facts("Table 3: Storage Software", software(servers, vendor)),
        disks(servers, vendor, DiskPurpose::Databases),
        disks(servers, vendor, DiskPurpose::Logs),
    ]);
    content
}

pub(super) fn chapter(servers: &[Server<'_>], vendor: &Vendor) -> Chapter {
    super::chapter("deployment", "Tested Deployment", content(servers, vendor))
}

fn configuration(servers: &[Server<'_>], vendor: &Vendor) -> Vec<(&'static str, Words)> {
    let of = &vendor.configuration;
    let groups = "configuration.availability_groups";
    let in_group = "configuration.servers_per_group";
    let first = servers.first();
    let demand = first.map(|server| Demand::of(server, vendor)).unwrap_or_default();
    let of_each = servers.iter().map(|server| Demand::of(server, vendor).mailboxes);
    let simulated = of_each.sum::<Option<u64>>().filter(|all| *all > 0);
    let room = first.map(Room::of).unwrap_or_default();
    let hosted = first.map_or(0, databases);
    let each = demand.mailboxes.filter(|_| hosted > 0).map(|all| all as f64 / hosted as f64);
    let run = first.and_then(Server::facts);
    let database_volumes = run.and_then(|run| volume_sizes(run, |facts| &facts.volume));
    let log_volumes = run.and_then(|run| volume_sizes(run, |facts| &facts.log_volume));
    vec![
        (
            "Mailboxes of the solution",
            count(vendor.customer.mailboxes, "the mailboxes", "customer.mailboxes"),
        ),
        ("Mailboxes simulated", active_mailboxes(simulated.map(format::whole))),
        ("Availability groups", count(of.availability_groups, "the groups", groups)),
        ("Servers in each group", count(of.servers_per_group, "the servers", in_group)),
        ("Servers tested", Words::said(format!("{} ({})", servers.len(), names(servers)))),
        ("Active mailboxes of each server", active_mailboxes(demand.mailboxes.map(format::whole))),
        (
            "Databases of each host",
            Words::of_run((hosted > 0).then(|| hosted.to_string()), "databases"),
        ),
        ("Copies of each database", Words::of_run(run.and_then(copies), "the copies")),
        ("Mailboxes of each database", active_mailboxes(each.map(|each| format::number(each, 0)))),
        ("Simulated profile: IOPS of each mailbox", iops_and_reserve(demand)),
        ("Size of the volumes of databases", Words::of_run(database_volumes, "sizes of volumes")),
        ("Size of the volumes of logs", Words::of_run(log_volumes, "sizes of volumes")),
        ("Size of all databases of a host", Words::of_run(size(room.databases_bytes), "sizes")),
        (
            "Share of those volumes that databases use",
            Words::of_run(used(room), "sizes of volumes"),
        ),
    ]
}

fn active_mailboxes(value: Option<String>) -> Words {
    let wanted = Wanted::Key("configuration.active_mailboxes_per_server");
    Words::or_missing(value, "the active mailboxes of a server", wanted)
}

fn names(servers: &[Server<'_>]) -> String {
    servers.iter().map(|server| server.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn size(bytes: u64) -> Option<String> {
    (bytes > 0).then(|| format::size(bytes))
}

fn used(room: Room) -> Option<String> {
    let share = room.databases_bytes as f64 / room.volumes_bytes as f64;
    (room.volumes_bytes > 0 && room.databases_bytes > 0)
        .then(|| format!("{} %", format::number(share * 100.0, 2)))
}

/// The size of each volume of a kind; one for all if they are equal.
fn volume_sizes(run: &TestedRun, of: fn(&DatabaseFacts) -> &record::VolumeFacts) -> Option<String> {
    let sizes: Vec<String> = volumes(&run.record.start.databases, of)
        .values()
        .map(|&bytes| format::size(bytes))
        .collect();
    let each = listed(sizes.iter().map(String::as_str))?;
    Some(format!("{} of {each}", sizes.len()))
}

fn hardware(servers: &[Server<'_>], vendor: &Vendor) -> Vec<(&'static str, Words)> {
    let of = &vendor.hardware;
    vec![
        ("Connectivity", text(&of.connectivity, "the connection", "hardware.connectivity")),
        (
            "Model and firmware",
            text(&of.model_and_firmware, "the model", "hardware.model_and_firmware"),
        ),
        ("Controllers", text(&of.controllers, "the controllers", "hardware.controllers")),
        ("Ports", text(&of.ports, "the ports", "hardware.ports")),
        (
            "Bandwidth to the host",
            text(&of.bandwidth_to_host, "the bandwidth", "hardware.bandwidth_to_host"),
        ),
        ("Switch", text(&of.switch, "the switch", "hardware.switch")),
        (
            "Host adapter and firmware",
            text(&of.host_adapter, "the adapter", "hardware.host_adapter"),
        ),
        (
            "Host adapters of each host",
            count(of.host_adapters_per_host, "the adapters", "hardware.host_adapters_per_host"),
        ),
        ("Server", text(&of.server, "the model of the server", "hardware.server")),
        ("Processor and memory", machine(servers)),
        (
            "Disks as the system names them",
            Words::of_run(models(servers), "the models of the disks"),
        ),
        ("Disks tested", count(vendor.disks_tested(), "the disks", "hardware.disks_tested")),
        ("Most disks of the system", count(of.most_disks, "the most disks", "hardware.most_disks")),
    ]
}

fn machine(servers: &[Server<'_>]) -> Words {
    let said: Vec<String> = servers
        .iter()
        .filter_map(Server::facts)
        .map(|run| &run.record.start.machine)
        .filter(|machine| !machine.processor.is_empty())
        .map(|machine| {
            format!(
                "{}, {} logical processors, {}",
                machine.processor,
                machine.logical_processors,
                format::size(machine.memory_bytes)
            )
        })
        .collect();
    Words::of_run(listed(said.iter().map(String::as_str)), "processor and memory")
}

fn models(servers: &[Server<'_>]) -> Option<String> {
    let runs = servers.iter().filter_map(Server::facts);
    listed(
        runs.flat_map(|run| &run.record.start.databases)
            .flat_map(|facts| [facts.volume.model.as_str(), facts.log_volume.model.as_str()]),
    )
}

fn software(servers: &[Server<'_>], vendor: &Vendor) -> Vec<(&'static str, Words)> {
    let of = &vendor.software;
    let runs: Vec<&TestedRun> = servers.iter().filter_map(Server::facts).collect();
    let systems = listed(runs.iter().map(|run| run.record.start.machine.operating_system.as_str()));
    let engines = listed(runs.iter().map(|run| match run.record.imported() {
        Some(imported) => imported.engine.as_deref().unwrap_or_default(),
        None => run.record.start.database_format.as_str(),
    }));
    let volumes = runs.iter().flat_map(|run| &run.record.start.databases);
    let file_systems = listed(volumes.map(|facts| facts.volume.file_system.as_str()));
    vec![
        (
            "Driver of the host adapter",
            text(&of.host_adapter_driver, "the driver", "software.host_adapter_driver"),
        ),
        ("Its setting QueueTarget", text(&of.queue_target, "the setting", "software.queue_target")),
        ("Its setting QueueDepth", text(&of.queue_depth, "the setting", "software.queue_depth")),
        ("Multipathing", text(&of.multipathing, "the multipathing", "software.multipathing")),
        ("Operating system of the host", Words::of_run(systems, "the operating system")),
        ("File system of the databases", Words::of_run(file_systems, "the file system")),
        ("Database engine", Words::of_run(engines, "the database engine")),
        ("Replication", text(&of.replication, "the replication", "software.replication")),
    ]
}

/// The table of the disks of one kind, or a sentence if databases and logs share them.
fn disks(servers: &[Server<'_>], vendor: &Vendor, purpose: DiskPurpose) -> Content {
    let caption = match purpose {
        DiskPurpose::Databases => "Table 4: Disks of the Databases",
        DiskPurpose::Logs => "Table 5: Disks of the Logs",
    };
    let of_logs = vendor.disks_of(DiskPurpose::Logs);
    if purpose == DiskPurpose::Logs && of_logs.is_none() && shares_volumes(servers) {
        return said(format!(
            "{caption}: the logs lie on the volumes of the databases, on the same disks."
        ));
    }
    let nothing = DiskGroup::default();
    let group = vendor.disks_of(purpose).unwrap_or(&nothing);
    let mut rows = disk_rows(group);
    if purpose == DiskPurpose::Databases {
        let used: u64 = servers.iter().map(|server| Room::of(server).databases_bytes).sum();
        let raw_bytes = group.capacity_gb * group.count as f64 * GB;
        let share = (raw_bytes > 0.0).then(|| used as f64 / raw_bytes).filter(|_| used > 0);
        rows.push(("Formatted capacity of the raw capacity", utilisation(group)));
        rows.push((
            "Databases of the raw capacity",
            Words::or_missing(
                share.map(percent),
                "capacity and count of the disks",
                Wanted::Key("disks.capacity_gb"),
            ),
        ));
    }
    facts(caption, rows)
}

/// Whether every log lies on the volume of its database.
fn shares_volumes(servers: &[Server<'_>]) -> bool {
    let runs = servers.iter().filter_map(Server::facts);
    let mut databases = runs.flat_map(|run| &run.record.start.databases).peekable();
    databases.peek().is_some()
        && databases.all(|facts| facts.volume.mount == facts.log_volume.mount)
}

/// A share in percent with one decimal; a share above zero is never shown as zero.
fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.000_5 {
        return "under 0.1 %".to_owned();
    }
    format!("{} %", format::number(share * 100.0, 1))
}

fn utilisation(group: &DiskGroup) -> Words {
    let raw_gb = group.capacity_gb * group.count as f64;
    let share = (raw_gb > 0.0 && group.formatted_gb > 0.0).then(|| group.formatted_gb / raw_gb);
    let wanted = Wanted::Key("disks.formatted_gb");
    Words::or_missing(share.map(percent), "the formatted capacity", wanted)
}

fn gigabytes(value: f64, what: &'static str, key: &'static str) -> Words {
    let said = (value > 0.0).then(|| format!("{} GB", format::number(value, 0)));
    Words::or_missing(said, what, Wanted::Key(key))
}

fn disk_rows(group: &DiskGroup) -> Vec<(&'static str, Words)> {
    let raw_gb = group.capacity_gb * group.count as f64;
    vec![
        ("Type and speed", text(&group.kind, "the type", "disks.kind")),
        ("Firmware", text(&group.firmware, "the firmware", "disks.firmware")),
        (
            "Raw capacity of each disk",
            gigabytes(group.capacity_gb, "the capacity", "disks.capacity_gb"),
        ),
        ("Disks", count(group.count, "the count", "disks.count")),
        ("Raw capacity in all", gigabytes(raw_gb, "capacity and count", "disks.capacity_gb")),
        ("Slices or disks of each volume", text(&group.layout, "the layout", "disks.layout")),
        ("RAID level", text(&group.raid, "the RAID level", "disks.raid")),
        (
            "Formatted capacity in all",
            gigabytes(group.formatted_gb, "the formatted capacity", "disks.formatted_gb"),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn a_small_share_is_not_shown_as_nothing() {
        let written = [0.0, 0.000_01, 0.000_6, 0.764].map(percent);
        assert_eq!(written, ["0.0 %", "under 0.1 %", "0.1 %", "76.4 %"]);
    }
}
