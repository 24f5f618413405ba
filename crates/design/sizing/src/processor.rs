//! Megacycles that servers have and need in every failure mode (facts 5.12).

use plan::deployment::Processor;

use crate::failure::{Failures, Modes};
use crate::key::{FailureMode, Key, ProcessorKey, ServerKind};
use crate::number::Number;
use crate::quirk::Quirk;
use crate::work::Work;

/// Maximum share of its processors that a server may use in the worst case. Source: S-PA19.
pub(crate) const MOST_PROCESSOR: f64 = 0.8;

/// Share of a client access server that may be used. Source: S-W76.
const CLIENT_ACCESS_SHARE: f64 = 0.8;

/// Additional client access servers, to survive failures. Source: S-W76.
const CLIENT_ACCESS_SPARES: f64 = 2.0;

/// Requirements and, if speeds are known, utilisations.
pub(crate) fn processor(work: &mut Work<'_>, failures: &Failures) {
    let servers = &work.deployment.servers;
    let first = available(work, ServerKind::First, servers.first);
    modes(work, ServerKind::First, &failures.first, first.as_ref());
    let mut second = None;
    if let Some(there) = &failures.second {
        second = available(work, ServerKind::Second, servers.second);
        modes(work, ServerKind::Second, there, second.as_ref());
        if failures.first.site.is_none() && first.is_some() {
            // Nothing is active in the first site, so the loss of the second changes nothing there.
            work.put(
                Key::Processor(ProcessorKey::Util, FailureMode::SiteFailed, ServerKind::First),
                0.0,
            );
        }
    }
    other_servers(work, first, second.is_some());
}

/// Every failure of a site.
fn modes(work: &mut Work<'_>, site: ServerKind, modes: &Modes, available: Option<&Number>) {
    for (mode, active) in modes.named() {
        let Some(active) = active else {
            continue;
        };
        if mode == FailureMode::Worst && !work.deployment.has_copies() {
            work.note(
                Quirk::StandaloneProcessor,
                Key::Processor(ProcessorKey::Active, FailureMode::Worst, ServerKind::First),
                None,
            );
            if work.deployment.is_compatible() {
                continue;
            }
        }
        let needed = need(work, mode, site, active);
        used(work, mode, site, &needed, available);
    }
}

/// Servers kept for lagged copies, in their worst case.
pub(crate) fn late(work: &mut Work<'_>) {
    let has = available(work, ServerKind::Lagged, work.deployment.servers.lagged);
    let active = work.get(Key::ServerWorstActiveDbs(ServerKind::Lagged));
    let needed = need(work, FailureMode::Worst, ServerKind::Lagged, &active);
    used(work, FailureMode::Worst, ServerKind::Lagged, &needed, has.as_ref());
}

fn used(
    work: &mut Work<'_>,
    mode: FailureMode,
    site: ServerKind,
    need: &Number,
    has: Option<&Number>,
) {
    if let Some(has) = has {
        work.put(Key::Processor(ProcessorKey::Util, mode, site), need / has);
    }
}

/// Megacycles of a server.
fn available(work: &mut Work<'_>, site: ServerKind, processor: Processor) -> Option<Number> {
    let rate = processor.spec_rate?;
    let rate = work.sheet.input(Key::ServersSpecRate(site), rate);
    let cores = work.sheet.input(Key::ServersCores(site), processor.cores);
    let each = rate / &cores;
    let each = work.put(Key::ProcessorSpecRatePerCore(site), each);
    let core =
        each * figure!(work, baseline_megacycles_per_core) / figure!(work, baseline_spec_per_core);
    let core = work.put(Key::ProcessorMcyclesPerCore(site), core);
    let key = Key::ProcessorMcyclesAvailable(site);
    Some(work.put(key, core * cores))
}

/// Megacycles that a server needs with `active` databases of its copies active.
fn need(work: &mut Work<'_>, mode: FailureMode, site: ServerKind, active: &Number) -> Number {
    let each = work.get(Key::DatabaseMailboxes);
    let copies = match site {
        ServerKind::Lagged => work.get(Key::ServerDbCopies(ServerKind::Lagged)),
        _ => work.get(Key::ServerDbCopies(ServerKind::First)),
    };
    let none_there = site == ServerKind::Second && work.value(Key::CopiesSecondSite) == 0.0;
    // Rounded copies may be fewer than the average number of active databases.
    let passive = if none_there && work.deployment.is_compatible() {
        copies
    } else {
        if copies.value() < active.value() {
            let key = Key::Processor(ProcessorKey::Util, mode, site);
            work.note(Quirk::PassiveBelowNone, key, None);
        }
        (copies - active).max(0.0)
    };
    let passive = passive * &each * work.get(Key::MailboxesMcyclesPassive);
    let active = active * each;
    let access = &active * work.get(Key::MailboxesMcyclesClientAccess);
    let active = active * work.get(Key::MailboxesMcyclesActive);
    let taken = hypervisor(work);
    let active = work.put(Key::Processor(ProcessorKey::Active, mode, site), active * &taken);
    let passive = work.put(Key::Processor(ProcessorKey::Passive, mode, site), passive * &taken);
    let access = work.put(Key::Processor(ProcessorKey::ClientAccess, mode, site), access * taken);
    let mut need = active + passive;
    if work.deployment.servers.multi_role {
        need = need + access;
    }
    let factor = work.deployment.file_system.processor_factor;
    if (factor - 1.0).abs() > 1e-9 {
        need = need * work.sheet.input(Key::FileSystemProcessorFactor, factor);
    }
    work.put(Key::Processor(ProcessorKey::Need, mode, site), need)
}

/// Factor on a megacycle under a hypervisor; 1 without one.
pub(crate) fn hypervisor(work: &mut Work<'_>) -> Number {
    let servers = &work.deployment.servers;
    if !servers.virtual_machines {
        return Number::plain(1.0);
    }
    1.0 + work.sheet.share(Key::ServersHypervisorPercent, servers.hypervisor)
}

/// Directory servers, and client access servers if that is a separate role.
fn other_servers(work: &mut Work<'_>, available: Option<Number>, second: bool) {
    let all = work.get(Key::MailboxesTotal);
    let total = &all * work.get(Key::MailboxesMcyclesActive);
    let per_core = if work.deployment.servers.directory_64_bit { 8.0 } else { 4.0 };
    let sites = [(ServerKind::First, available.is_some()), (ServerKind::Second, second)];
    for (site, _) in sites.into_iter().filter(|(_, known)| *known) {
        let core = work.get(Key::ProcessorMcyclesPerCore(site));
        let cores = (&total / core / per_core).up();
        work.put(Key::ProcessorGcCores(site), cores);
    }
    let Some(available) = available else {
        return;
    };
    if !work.deployment.servers.multi_role {
        let total = all * work.get(Key::MailboxesMcyclesClientAccess) * hypervisor(work);
        let servers = (total / (CLIENT_ACCESS_SHARE * available)).up() + CLIENT_ACCESS_SPARES;
        work.put(Key::ServerClientAccess, servers);
    }
}
