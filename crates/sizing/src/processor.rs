//! Megacycles that servers have and need in every failure mode (facts 5.12).

use plan::deployment::{Processor, SiteModel};

use crate::number::Number;
use crate::quirk::Quirk;
use crate::work::Work;

/// Failure modes with their short name and the active databases in it.
const MODES: [(&str, &str); 6] = [
    ("normal", "fail.active_per_server_normal"),
    ("one_failed", "fail.active_per_server_one_failed"),
    ("two_failed", "fail.active_per_server_two_failed"),
    ("site_failed", "fail.active_per_server_site_failed"),
    ("site_plus_one", "fail.active_per_server_site_plus_one"),
    ("worst", "srv.worst_active_dbs_dc1"),
];

/// Share of a client access server that may be used. Source: S-W76.
const CLIENT_ACCESS_SHARE: f64 = 0.8;

/// Client access servers on top, to stand failures. Source: S-W76.
const CLIENT_ACCESS_SPARES: f64 = 2.0;

/// Needs, and where speeds are known, utilisations.
pub fn processor(work: &mut Work<'_>) {
    let servers = &work.deployment.servers;
    let first = available(work, "_dc1", servers.first);
    let second = work.deployment.second_site.is_some();
    let second = second
        .then(|| available(work, "_dc2", servers.second))
        .flatten();
    let waits = second_waits(work);
    for (mode, key) in MODES {
        let Some(active) = work.sheet.find(key) else {
            continue;
        };
        if mode == "worst" && !work.deployment.has_copies() {
            work.note(Quirk::StandaloneProcessor, "cpu.active_worst_dc1", None);
            if work.deployment.is_compatible() {
                continue;
            }
        }
        let loses_first = mode.starts_with("site");
        if !(waits && loses_first) {
            let needed = need(work, mode, "_dc1", &active);
            used(work, mode, "_dc1", &needed, first.as_ref());
            if !waits {
                used(work, mode, "_dc2", &needed, second.as_ref());
            }
        }
        if waits {
            let there = active_there(work, mode, active);
            let needed = need(work, mode, "_dc2", &there);
            used(work, mode, "_dc2", &needed, second.as_ref());
        }
    }
    other_servers(work, first);
}

/// Whether nothing is active in the second site until the first fails.
fn second_waits(work: &Work<'_>) -> bool {
    let model = work.deployment.site_model();
    model.is_some_and(|model| model != SiteModel::ActiveActive)
}

/// Active databases of a server that waits: none before the first site is lost.
fn active_there(work: &Work<'_>, mode: &str, active: Number) -> Number {
    match mode {
        "worst" => work.get("srv.worst_active_dbs_dc2"),
        mode if mode.starts_with("site") => active,
        _ => Number::plain(0.0),
    }
}

/// Servers that are kept for late copies, at their worst.
pub fn late(work: &mut Work<'_>) {
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
    // Rounded copies may be fewer than the databases that are active on average.
    let copies = match site {
        "_lagged" => work.get("srv.db_copies_lagged"),
        _ => work.get("srv.db_copies"),
    };
    let passive = (copies - active).max(0.0) * &each;
    let passive = passive * work.get("mailboxes.mcycles_passive");
    let active = active * each;
    let access = &active * work.get("mailboxes.mcycles_client_access");
    let active = active * work.get("mailboxes.mcycles_active");
    let key = |what: &str| format!("cpu.{what}_{mode}{site}");
    let active = work.put(&key("active"), "megacycles", active);
    let passive = work.put(&key("passive"), "megacycles", passive);
    let access = work.put(&key("client_access"), "megacycles", access);
    let servers = &work.deployment.servers;
    let mut need = if servers.multi_role {
        active + passive + access
    } else {
        active + passive
    };
    if servers.virtual_machines {
        need = need
            * (1.0
                + work
                    .sheet
                    .share("servers.hypervisor_percent", servers.hypervisor));
    }
    let factor = work.deployment.file_system.processor_factor;
    if (factor - 1.0).abs() > 1e-9 {
        need = need * work.sheet.input("file_system.processor_factor", "", factor);
    }
    work.put(&key("need"), "megacycles", need)
}

/// Directory servers, and client access servers where that is a role of its own.
fn other_servers(work: &mut Work<'_>, available: Option<Number>) {
    let Some(available) = available else {
        return;
    };
    let all = work.get("mailboxes.total");
    let total = &all * work.get("mailboxes.mcycles_active");
    let per_core = if work.deployment.servers.directory_64_bit {
        8.0
    } else {
        4.0
    };
    let cores = (total / work.get("cpu.mcycles_per_core_dc1") / per_core).up();
    work.put("cpu.gc_cores_dc1", "cores", cores);
    if !work.deployment.servers.multi_role {
        let total = all * work.get("mailboxes.mcycles_client_access");
        let servers = (total / (CLIENT_ACCESS_SHARE * available)).up() + CLIENT_ACCESS_SPARES;
        work.put("srv.client_access", "", servers);
    }
}
