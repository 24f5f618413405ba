//! Megacycles that servers have and need in every failure mode (facts 5.12).

use plan::deployment::Processor;

use crate::failure::{Failures, Modes};
use crate::number::Number;
use crate::quirk::Quirk;
use crate::work::Work;

/// Share of a client access server that may be used. Source: S-W76.
const CLIENT_ACCESS_SHARE: f64 = 0.8;

/// Client access servers on top, to stand failures. Source: S-W76.
const CLIENT_ACCESS_SPARES: f64 = 2.0;

/// Needs, and where speeds are known, utilisations.
pub(crate) fn processor(work: &mut Work<'_>, failures: &Failures) {
    let servers = &work.deployment.servers;
    let first = available(work, "_dc1", servers.first);
    modes(work, "_dc1", &failures.first, first.as_ref());
    let mut second = None;
    if let Some(there) = &failures.second {
        second = available(work, "_dc2", servers.second);
        modes(work, "_dc2", there, second.as_ref());
        if failures.first.site.is_none() && first.is_some() {
            // Nothing is active in the first site that the loss of the second could change.
            work.put("cpu.util_site_failed_dc1", "", 0.0);
        }
    }
    other_servers(work, first, second.is_some());
}

/// Every failure of a site.
fn modes(work: &mut Work<'_>, site: &str, modes: &Modes, available: Option<&Number>) {
    for (mode, active) in modes.named() {
        let Some(active) = active else {
            continue;
        };
        if mode == "worst" && !work.deployment.has_copies() {
            work.note(Quirk::StandaloneProcessor, "cpu.active_worst_dc1", None);
            if work.deployment.is_compatible() {
                continue;
            }
        }
        let needed = need(work, mode, site, active);
        used(work, mode, site, &needed, available);
    }
}

/// Servers that are kept for late copies, at their worst.
pub(crate) fn late(work: &mut Work<'_>) {
    let has = available(work, "_lagged", work.deployment.servers.lagged);
    let active = work.get("srv.worst_active_dbs_lagged");
    let needed = need(work, "worst", "_lagged", &active);
    used(work, "worst", "_lagged", &needed, has.as_ref());
}

fn used(work: &mut Work<'_>, mode: &str, site: &str, need: &Number, has: Option<&Number>) {
    if let Some(has) = has {
        work.put(&format!("cpu.util_{mode}{site}"), "", need / has);
    }
}

/// Megacycles of a server.
fn available(work: &mut Work<'_>, site: &str, processor: Processor) -> Option<Number> {
    let rate = processor.spec_rate?;
    let rate = work
        .sheet
        .input(&format!("servers.spec_rate{site}"), "", rate);
    let cores = work
        .sheet
        .input(&format!("servers.cores{site}"), "", processor.cores);
    let each = rate / &cores;
    let each = work.put(&format!("cpu.spec_rate_per_core{site}"), "", each);
    let core =
        each * figure!(work, baseline_megacycles_per_core) / figure!(work, baseline_spec_per_core);
    let core = work.put(&format!("cpu.mcycles_per_core{site}"), "megacycles", core);
    let key = format!("cpu.mcycles_available{site}");
    Some(work.put(&key, "megacycles", core * cores))
}

/// Megacycles that a server needs with `active` databases of its copies active.
fn need(work: &mut Work<'_>, mode: &str, site: &str, active: &Number) -> Number {
    let each = work.get("db.mailboxes");
    let copies = match site {
        "_lagged" => work.get("srv.db_copies_lagged"),
        _ => work.get("srv.db_copies"),
    };
    let none_there = site == "_dc2" && work.value("copies.second_site") == 0.0;
    // Rounded copies may be fewer than the databases that are active on average.
    let passive = if none_there && work.deployment.is_compatible() {
        copies
    } else {
        (copies - active).max(0.0)
    };
    let passive = passive * &each * work.get("mailboxes.mcycles_passive");
    let active = active * each;
    let access = &active * work.get("mailboxes.mcycles_client_access");
    let active = active * work.get("mailboxes.mcycles_active");
    let taken = hypervisor(work);
    let key = |what: &str| format!("cpu.{what}_{mode}{site}");
    let active = work.put(&key("active"), "megacycles", active * &taken);
    let passive = work.put(&key("passive"), "megacycles", passive * &taken);
    let access = work.put(&key("client_access"), "megacycles", access * taken);
    let mut need = active + passive;
    if work.deployment.servers.multi_role {
        need = need + access;
    }
    let factor = work.deployment.file_system.processor_factor;
    if (factor - 1.0).abs() > 1e-9 {
        need = need * work.sheet.input("file_system.processor_factor", "", factor);
    }
    work.put(&key("need"), "megacycles", need)
}

/// What a hypervisor makes of a megacycle; 1 where there is none.
pub(crate) fn hypervisor(work: &mut Work<'_>) -> Number {
    let servers = &work.deployment.servers;
    if !servers.virtual_machines {
        return Number::plain(1.0);
    }
    1.0 + work
        .sheet
        .share("servers.hypervisor_percent", servers.hypervisor)
}

/// Directory servers, and client access servers where that is a role of its own.
fn other_servers(work: &mut Work<'_>, available: Option<Number>, second: bool) {
    let all = work.get("mailboxes.total");
    let total = &all * work.get("mailboxes.mcycles_active");
    let per_core = if work.deployment.servers.directory_64_bit {
        8.0
    } else {
        4.0
    };
    let sites = [("_dc1", available.is_some()), ("_dc2", second)];
    for (site, _) in sites.into_iter().filter(|(_, known)| *known) {
        let core = work.get(&format!("cpu.mcycles_per_core{site}"));
        let cores = (&total / core / per_core).up();
        work.put(&format!("cpu.gc_cores{site}"), "cores", cores);
    }
    let Some(available) = available else {
        return;
    };
    if !work.deployment.servers.multi_role {
        let total = all * work.get("mailboxes.mcycles_client_access") * hypervisor(work);
        let servers = (total / (CLIENT_ACCESS_SHARE * available)).up() + CLIENT_ACCESS_SPARES;
        work.put("srv.client_access", "", servers);
    }
}
