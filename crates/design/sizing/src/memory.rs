//! Memory of a server (facts 5.11 and 4.4).

use plan::deployment::Processor;

use crate::key::{Key, ServerKind};
use crate::number::Number;
use crate::processor::hypervisor;
use crate::work::Work;

/// Minimum memory by copies on a server. Source: S-W76.
const LEAST: [(f64, f64); 5] = [(0.0, 8.0), (11.0, 10.0), (21.0, 12.0), (31.0, 14.0), (41.0, 16.0)];

/// Memory comes in steps that grow with it. Source: S-W76.
const STEPS: [(f64, f64); 4] = [(64.0, 32.0), (32.0, 16.0), (16.0, 8.0), (4.0, 4.0)];

/// Smallest possible server. Source: S-W76.
const SMALLEST_GB: f64 = 8.0;

/// Memory of servers in both sites.
pub(crate) fn memory(work: &mut Work<'_>) {
    least(work, ServerKind::First);
    let servers = &work.deployment.servers;
    let first = site(work, ServerKind::First, servers.first);
    finish(work, &first);
    if work.deployment.second_site.is_some() {
        let second = site(work, ServerKind::Second, servers.second);
        work.put(Key::MemoryRamGb(ServerKind::Second), second.max(first));
    }
}

/// Memory of servers reserved for lagged copies.
pub(crate) fn late(work: &mut Work<'_>) {
    least(work, ServerKind::Lagged);
    let memory = site(work, ServerKind::Lagged, work.deployment.servers.lagged);
    work.put(Key::MemoryRamGb(ServerKind::Lagged), memory);
}

/// Memory that the number of copies alone requires.
fn least(work: &mut Work<'_>, kind: ServerKind) {
    let copies = work.get(Key::ServerDbCopies(kind));
    let least = LEAST.iter().rev().find(|(from, _)| *from <= copies.value());
    let least = least.map_or(SMALLEST_GB, |&(_, least)| least);
    let least = Number::of_all("least_memory", &[copies], least);
    work.put(minimum(kind), least);
}

/// Key of the minimum memory by copies; both sites share it.
const fn minimum(kind: ServerKind) -> Key {
    match kind {
        ServerKind::First | ServerKind::Second => Key::MemoryMinimumGbByCopies,
        ServerKind::Lagged => Key::MemoryMinimumGbByCopiesLagged,
    }
}

/// Kind of server whose copies count: servers of both sites are assumed to hold equally many.
const fn with_copies(kind: ServerKind) -> ServerKind {
    match kind {
        ServerKind::First | ServerKind::Second => ServerKind::First,
        ServerKind::Lagged => ServerKind::Lagged,
    }
}

/// Memory of a server in one site, rounded to available steps.
fn site(work: &mut Work<'_>, kind: ServerKind, processor: Processor) -> Number {
    let active = work.get(Key::ServerWorstActiveDbs(kind)) * work.get(Key::DatabaseMailboxes);
    let cache = (&active * work.get(Key::MailboxesCacheMb) / 1024.0).up();
    let cache = work.put(Key::MemoryCacheGb(kind), cache);
    let access = client_access(work, kind, processor);
    let needed = cache / figure!(work, cache_share_of_memory) + access;
    let raw = work.get(minimum(kind)).max(needed);
    let raw = work.put(Key::MemoryRamGbRaw(kind), raw);
    let index = content_index(work, kind, active);
    let share = figure!(work, cache_share_of_memory);
    let with = if (share * &raw + &index).value() > raw.value() { raw + index } else { raw };
    let rounded = in_steps(with).max(SMALLEST_GB);
    if kind == ServerKind::First {
        return work.put(Key::MemoryRamGb(ServerKind::First), rounded);
    }
    rounded
}

fn client_access(work: &mut Work<'_>, kind: ServerKind, processor: Processor) -> Number {
    let memory = if !work.deployment.servers.multi_role {
        Number::plain(0.0)
    } else if let Some(per_core) = work.sheet.find(Key::ProcessorMcyclesPerCore(kind)) {
        let active = work.get(Key::ServerWorstActiveDbs(kind)) * work.get(Key::DatabaseMailboxes);
        let cycles = active * client_access_cycles(work) * hypervisor(work) / per_core;
        let each = figure!(work, client_access_memory_gb_per_busy_core);
        (figure!(work, client_access_memory_gb) + each * cycles).round()
    } else {
        let cores = work.sheet.input(Key::ServersCores(kind), processor.cores);
        figure!(work, client_access_memory_gb)
            + figure!(work, client_access_memory_gb_per_core) * cores
    };
    work.put(Key::MemoryClientAccessGb(kind), memory)
}

/// Megacycles of client access per mailbox, even if the active figure includes them.
fn client_access_cycles(work: &mut Work<'_>) -> Number {
    let apart = work.get(Key::MailboxesMcyclesClientAccess);
    if apart.value() > 0.0 {
        return apart;
    }
    work.get(Key::MailboxesMcyclesActive) * figure!(work, client_access_part)
}

/// The index keeps more of active copies in memory. The number of items is MB of mailboxes divided
/// by KB of messages, as in the workbook.
fn content_index(work: &mut Work<'_>, kind: ServerKind, active: Number) -> Number {
    let items = work.get(Key::MailboxesItems);
    let all = work.get(Key::ServerDbCopies(with_copies(kind))) * work.get(Key::DatabaseMailboxes);
    let others = (all - &active).max(0.0) * &items;
    let bytes = figure!(work, content_index_bytes_per_active_item) * (active * items)
        + figure!(work, content_index_bytes_per_passive_item) * others;
    let index = figure!(work, content_index_memory_gb) + bytes / 1_073_741_824.0;
    work.put(Key::MemoryContentIndexGb(kind), index)
}

fn in_steps(memory: Number) -> Number {
    let step = STEPS.iter().find(|(from, _)| memory.value() >= *from);
    match step {
        Some(&(_, step)) => memory.up_to(step),
        None => memory,
    }
}

/// Memory per mailbox.
fn finish(work: &mut Work<'_>, memory: &Number) {
    let cache = figure!(work, cache_share_of_memory) * memory;
    let cache = work.put(Key::MemoryCacheGbAtThatRam, cache);
    let active =
        work.get(Key::ServerWorstActiveDbs(ServerKind::First)) * work.get(Key::DatabaseMailboxes);
    work.put(Key::MemoryCacheMbPerMailbox, cache * 1024.0 / active);
}
