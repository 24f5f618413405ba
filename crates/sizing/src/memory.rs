//! Memory of a server (facts 5.11 and 4.4).

use plan::deployment::Processor;

use crate::number::Number;
use crate::processor::hypervisor;
use crate::work::Work;

/// Least memory by copies on a server. Source: S-W76.
const LEAST: [(f64, f64); 5] = [
    (0.0, 8.0),
    (11.0, 10.0),
    (21.0, 12.0),
    (31.0, 14.0),
    (41.0, 16.0),
];

/// Memory comes in steps that grow with it. Source: S-W76.
const STEPS: [(f64, f64); 4] = [(64.0, 32.0), (32.0, 16.0), (16.0, 8.0), (4.0, 4.0)];

/// Smallest server there is. Source: S-W76.
const SMALLEST_GB: f64 = 8.0;

/// Memory of servers in both sites.
pub(crate) fn memory(work: &mut Work<'_>) {
    least(work, "");
    let servers = &work.deployment.servers;
    let first = site(work, "_dc1", servers.first);
    finish(work, &first);
    if work.deployment.second_site.is_some() {
        let second = site(work, "_dc2", servers.second);
        work.put("mem.ram_gb_dc2", "GB", second.max(first));
    }
}

/// Memory of servers that are kept for late copies.
pub(crate) fn late(work: &mut Work<'_>) {
    least(work, "_lagged");
    let memory = site(work, "_lagged", work.deployment.servers.lagged);
    work.put("mem.ram_gb_lagged", "GB", memory);
}

/// What the number of copies alone asks for.
fn least(work: &mut Work<'_>, kind: &str) {
    let copies = work.get(&format!("srv.db_copies{kind}"));
    let least = LEAST.iter().rev().find(|(from, _)| *from <= copies.value());
    let least = least.map_or(SMALLEST_GB, |&(_, least)| least);
    let least = Number::of_all("least_memory", &[copies], least);
    work.put(&format!("mem.minimum_gb_by_copies{kind}"), "GB", least);
}

/// The part of a key that says whose copies are meant.
fn kind(site: &str) -> &str {
    if site == "_lagged" { site } else { "" }
}

/// Memory of a server in one site, in the steps that it comes in.
fn site(work: &mut Work<'_>, site: &str, processor: Processor) -> Number {
    let active = work.get(&format!("srv.worst_active_dbs{site}")) * work.get("db.mailboxes");
    let cache = (&active * work.get("mailboxes.cache_mb") / 1024.0).up();
    let cache = work.put(&format!("mem.cache_gb{site}"), "GB", cache);
    let access = client_access(work, site, processor);
    let needed = cache / figure!(work, cache_share_of_memory) + access;
    let least = format!("mem.minimum_gb_by_copies{}", kind(site));
    let raw = work.get(&least).max(needed);
    let raw = work.put(&key("mem.ram_gb_raw", site), "GB", raw);
    let index = content_index(work, site, active);
    let share = figure!(work, cache_share_of_memory);
    let with = if (share * &raw + &index).value() > raw.value() {
        raw + index
    } else {
        raw
    };
    let rounded = in_steps(with).max(SMALLEST_GB);
    if site == "_dc1" {
        return work.put("mem.ram_gb_dc1", "GB", rounded);
    }
    rounded
}

/// Names of the first site stand without its number where the second's are not listed.
fn key(name: &str, site: &str) -> String {
    let site = if site == "_dc1" { "" } else { site };
    format!("{name}{site}")
}

fn client_access(work: &mut Work<'_>, site: &str, processor: Processor) -> Number {
    let memory = if !work.deployment.servers.multi_role {
        Number::plain(0.0)
    } else if let Some(per_core) = work.sheet.find(&format!("cpu.mcycles_per_core{site}")) {
        let active = work.get(&format!("srv.worst_active_dbs{site}")) * work.get("db.mailboxes");
        let cycles = active * client_access_cycles(work) * hypervisor(work) / per_core;
        let each = figure!(work, client_access_memory_gb_per_busy_core);
        (figure!(work, client_access_memory_gb) + each * cycles).round()
    } else {
        let cores = work
            .sheet
            .input(&format!("servers.cores{site}"), "", processor.cores);
        figure!(work, client_access_memory_gb)
            + figure!(work, client_access_memory_gb_per_core) * cores
    };
    work.put(&key("mem.client_access_gb", site), "GB", memory)
}

/// Megacycles of client access of a mailbox, also where they are part of the active figure.
fn client_access_cycles(work: &mut Work<'_>) -> Number {
    let apart = work.get("mailboxes.mcycles_client_access");
    if apart.value() > 0.0 {
        return apart;
    }
    work.get("mailboxes.mcycles_active") * figure!(work, client_access_part)
}

/// The index keeps more of active copies in memory. Items are counted as MB of mailboxes by KB of
/// messages, as the workbook does.
fn content_index(work: &mut Work<'_>, site: &str, active: Number) -> Number {
    let items = work.get("mailboxes.items");
    let all = work.get(&format!("srv.db_copies{}", kind(site))) * work.get("db.mailboxes");
    let others = (all - &active).max(0.0) * &items;
    let bytes = figure!(work, content_index_bytes_per_active_item) * (active * items)
        + figure!(work, content_index_bytes_per_passive_item) * others;
    let index = figure!(work, content_index_memory_gb) + bytes / 1_073_741_824.0;
    work.put(&key("mem.content_index_gb", site), "GB", index)
}

fn in_steps(memory: Number) -> Number {
    let step = STEPS.iter().find(|(from, _)| memory.value() >= *from);
    match step {
        Some(&(_, step)) => memory.up_to(step),
        None => memory,
    }
}

/// What the memory amounts to for each mailbox.
fn finish(work: &mut Work<'_>, memory: &Number) {
    let cache = figure!(work, cache_share_of_memory) * memory;
    let cache = work.put("mem.cache_gb_at_that_ram", "GB", cache);
    let active = work.get("srv.worst_active_dbs_dc1") * work.get("db.mailboxes");
    work.put("mem.cache_mb_per_mailbox", "MB", cache * 1024.0 / active);
}
