//! Processors, memory and the queue of a server (facts 5.11 to 5.13).

use plan::deployment::Processor;

use super::databases::Databases;
use super::failures::{FailureLoads, catching_up};
use super::given::GivenInputs;
use super::tiers::{Tiers, days};
use super::{Values, looked_up, multiple, round, up};

/// Minimum memory by the number of copies on a server (facts 4.4).
const LEAST_GB: [(f64, f64); 5] =
    [(0.0, 8.0), (11.0, 10.0), (21.0, 12.0), (31.0, 14.0), (41.0, 16.0)];

/// Megacycles per database, including the hypervisor's overhead.
struct DatabaseCycles {
    active: f64,
    passive: f64,
    access: f64,
    /// Like `access`, but kept even if client access is part of the active figure.
    remembered: f64,
}

pub(super) fn servers(
    given: &GivenInputs<'_>,
    tiers: &Tiers,
    (databases, failures): (&Databases, &FailureLoads),
    values: &mut Values,
) {
    let servers = &given.deployment.servers;
    let taken = if servers.virtual_machines { 1.0 + servers.hypervisor } else { 1.0 };
    let each = databases.mailboxes * taken;
    let access = if tiers.access > 0.0 { tiers.access } else { tiers.active * 0.375 / 1.375 };
    let work = DatabaseCycles {
        active: each * tiers.active,
        passive: each * tiers.passive,
        access: if servers.multi_role { each * tiers.access } else { 0.0 },
        remembered: each * access,
    };
    values.put("srv.active_mailboxes_normal", failures.normal * databases.mailboxes);
    let held = databases.held;
    let first = ("dc1", servers.first);
    let here = [
        ("normal", Some(failures.normal)),
        ("one_failed", failures.one),
        ("two_failed", failures.two),
        // Without copies the workbook's worst case is an error (quirk 5).
        ("worst", given.copies.then_some(failures.worst[0])),
    ];
    processors(&work, held, first, &here, values);
    let least = memory(given, tiers, databases, (&work, failures.worst[0]), first, values);
    cache(least, databases.mailboxes * failures.worst[0], values);
    if given.two {
        let second = ("dc2", servers.second);
        let there =
            [("site_failed", failures.site), ("worst", failures.site.map(|_| failures.worst[1]))];
        processors(&work, held, second, &there, values);
        if failures.site.is_some() {
            let worst = failures.worst[1];
            let own = memory(given, tiers, databases, (&work, worst), second, values);
            values.put("mem.ram_gb_dc2", own.max(least));
        }
    }
    around(given, tiers, taken, values);
    queue(given, tiers, (databases, failures), values);
}

/// Cores of directory servers and of separate client access servers.
fn around(given: &GivenInputs<'_>, tiers: &Tiers, taken: f64, values: &mut Values) {
    let servers = &given.deployment.servers;
    let Some(rate) = servers.first.spec_rate else {
        return;
    };
    let per_core = rate / servers.first.cores * 2_000.0 / 33.75;
    let eighth = if servers.directory_64_bit { 8.0 } else { 4.0 };
    let active = tiers.mailboxes * tiers.active;
    values.put("cpu.gc_cores_dc1", up(active / per_core / eighth));
    if !servers.multi_role {
        let access = tiers.mailboxes * tiers.access * taken;
        values.put("srv.client_access", up(access / (0.8 * per_core * servers.first.cores)) + 2.0);
    }
}

/// Megacycles that a server needs in each failure and, if its speed is known, their share of the
/// available ones.
fn processors(
    work: &DatabaseCycles,
    held: f64,
    (site, processor): (&str, Processor),
    modes: &[(&str, Option<f64>)],
    values: &mut Values,
) {
    let Some(rate) = processor.spec_rate else {
        return;
    };
    let per_core = rate / processor.cores * 2_000.0 / 33.75;
    values.put(format!("cpu.mcycles_per_core_{site}"), per_core);
    values.put(format!("cpu.mcycles_available_{site}"), per_core * processor.cores);
    for (mode, count) in modes {
        let Some(count) = count else {
            continue;
        };
        // More databases can be active than a server has copies; then none is passive.
        let passive = (held - count).max(0.0) * work.passive;
        let all = count * (work.active + work.access) + passive;
        values.put(format!("cpu.util_{mode}_{site}"), all / (per_core * processor.cores));
        values.put(format!("cpu.active_{mode}_{site}"), count * work.active);
        values.put(format!("cpu.passive_{mode}_{site}"), passive);
    }
}

/// Memory of a server of a site, in GB.
fn memory(
    given: &GivenInputs<'_>,
    tiers: &Tiers,
    databases: &Databases,
    (work, worst): (&DatabaseCycles, f64),
    (site, processor): (&str, Processor),
    values: &mut Values,
) -> f64 {
    let active = worst * databases.mailboxes;
    let cache = up(active * tiers.cache_mb / 1024.0);
    values.put(format!("mem.cache_gb_{site}"), cache);
    let access = match processor.spec_rate {
        _ if !given.deployment.servers.multi_role => 0.0,
        Some(rate) => {
            let per_core = rate / processor.cores * 2_000.0 / 33.75;
            round(2.0 + 2.0 * worst * work.remembered / per_core)
        }
        None => 2.0 + 0.4 * processor.cores,
    };
    let least = looked_up(&LEAST_GB, databases.held);
    let raw = least.max(cache / 0.25 + access);
    let others = (databases.held * databases.mailboxes - active).max(0.0);
    let bytes = (110.0 * active + 24.0 * others) * tiers.items;
    let index = 7.0 + bytes / 1_073_741_824.0;
    let suffix = if site == "dc1" { "" } else { "_dc2" };
    values.put(format!("mem.client_access_gb{suffix}"), access);
    values.put(format!("mem.ram_gb_raw{suffix}"), raw);
    values.put(format!("mem.content_index_gb{suffix}"), index);
    let all = if 0.25 * raw + index > raw { raw + index } else { raw };
    let step = [(64.0, 32.0), (32.0, 16.0), (16.0, 8.0), (4.0, 4.0)]
        .into_iter()
        .find(|(from, _)| all >= *from);
    let memory = step.map_or(all, |(_, step)| multiple(all, step)).max(8.0);
    if site == "dc1" {
        values.put("mem.minimum_gb_by_copies", least);
        values.put("mem.ram_gb_dc1", memory);
    }
    memory
}

fn cache(memory: f64, active: f64, values: &mut Values) {
    values.put("mem.cache_gb_at_that_ram", 0.25 * memory);
    values.put("mem.cache_mb_per_mailbox", 0.25 * memory * 1024.0 / active);
}

/// Size of the queue database after the worst failure, and where to put it.
fn queue(
    given: &GivenInputs<'_>,
    tiers: &Tiers,
    (databases, failures): (&Databases, &FailureLoads),
    values: &mut Values,
) {
    let left = servers_left(given, databases, failures);
    values.put("srv.remaining_after_worst_failure", left);
    values.put("transport.messages_per_day", tiers.messages);
    let each = tiers.messages / left.max(1.0);
    values.put("transport.messages_per_day_per_server", each);
    let transport = given.deployment.transport;
    let availability = &given.deployment.availability;
    let mut net = days(transport.safety_net);
    if given.l[0] + given.l[1] > 0.0 {
        net = net.max(days(availability.replay_lag).min(14.0));
    }
    let kept = 1.0 + 0.5 * days(transport.queue_expiration) + net;
    let size = each * 2.0 * kept * tiers.message_kb / 1_048_576.0;
    values.put("transport.db_gb_per_server", size);
    let disk = given.deployment.storage.first.system.capacity.0 as f64 / 1_073_741_824.0;
    let place = if size + 150.0 < disk { "System Disk" } else { "Dedicated RAID-1 Disk" };
    values.word("transport.location", place);
}

/// Number of further failed servers in the worst failure for which the facts have a value.
const fn besides(two: Option<f64>, one: Option<f64>) -> f64 {
    match (two, one) {
        (Some(_), _) => 2.0,
        (None, Some(_)) => 1.0,
        (None, None) => 0.0,
    }
}

/// Number of servers in all groups that survive the worst failure.
fn servers_left(given: &GivenInputs<'_>, databases: &Databases, failures: &FailureLoads) -> f64 {
    if !given.copies {
        return given.s;
    }
    let lost = if given.p[1] + catching_up(given, 1) > 0.0 {
        let first = databases.active[0] + databases.waiting[0] + databases.late[0];
        first + besides(failures.site_and_two, failures.site_and_one)
    } else {
        besides(failures.two, failures.one)
    };
    let members = databases.of_group() + databases.late[0] + databases.late[1];
    (members - lost).max(0.0) * given.dags
}
