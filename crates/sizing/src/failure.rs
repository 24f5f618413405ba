//! Active databases of the busiest server when servers or a site fail, by the workbook's formulas
//! (facts 5.15). The layout plays the same failures through; these numbers size processors and
//! memory.

use plan::Deployment;
use plan::deployment::SiteModel;

use crate::number::Number;
use crate::quirk::Quirk;
use crate::work::Work;

/// Servers of both sites, then every mode that the deployment survives, then the worst.
pub fn failures(work: &mut Work<'_>) {
    second_site_servers(work);
    // Without copies each server has databases of its own, and they are counted for one.
    let normal = if work.deployment.has_copies() {
        work.get("db.active_dc1") / work.get("srv.active_dc1")
    } else {
        work.get("db.active_dc1")
    };
    let normal = work.put("fail.active_per_server_normal", "", normal);
    let each = &normal * work.get("db.mailboxes");
    work.put("srv.active_mailboxes_normal", "", each);
    let mut modes = vec![Mode {
        active: normal,
        lost: 0.0,
    }];
    if work.deployment.has_copies() {
        modes.extend(one_failed(work));
        modes.extend(two_failed(work));
        modes.extend(site_failed(work));
        modes.extend(site_and_one_failed(work));
    }
    worst(work, &modes);
}

/// A way to fail: active databases of the busiest server, servers of a group that are gone.
struct Mode {
    active: Number,
    lost: f64,
}

/// Servers of the second site, and of a whole group.
fn second_site_servers(work: &mut Work<'_>) {
    let first = work.get("srv.active_dc1");
    let second = match work.deployment.site_model() {
        None => Number::plain(0.0),
        Some(SiteModel::ActiveActive) => work.put("srv.active_dc2", "", first.clone()),
        Some(_) => {
            let mut there = work.get("copies.second_site");
            if !work.deployment.availability.lagged_on_own_servers {
                there = there + work.get("copies.second_site_lagged");
            }
            let passive = work.get("db.count") * there;
            let passive = work.put("db.passive_dc2", "", passive);
            let needed = (passive / work.get("srv.db_copies")).up();
            work.put("srv.waiting_dc2", "", first.clone().min(needed))
        }
    };
    work.put("srv.per_dag", "", first + second);
}

fn one_failed(work: &mut Work<'_>) -> Option<Mode> {
    let servers = work.get("srv.active_dc1");
    let normal = work.get("fail.active_per_server_normal");
    (servers.value() > 1.0).then(|| {
        let active = (&normal + &normal / (servers - 1.0)).up();
        mode(work, "fail.active_per_server_one_failed", active, 1.0)
    })
}

fn mode(work: &mut Work<'_>, key: &str, active: Number, lost: f64) -> Mode {
    let copies = work.get("srv.db_copies");
    let active = work.put(key, "", active.min(copies));
    Mode { active, lost }
}

fn two_failed(work: &mut Work<'_>) -> Option<Mode> {
    let servers = work.get("srv.active_dc1");
    let here = work.get("copies.first_site").value();
    let enough = work.deployment.availability.copies >= 3 && work.value("srv.per_dag") >= 4.0;
    if !enough || servers.value() <= 2.0 {
        return None;
    }
    let normal = work.get("fail.active_per_server_normal");
    let active = if here >= 3.0 {
        (&normal + 2.0 * &normal / (servers - 2.0)).up()
    } else if here >= 2.0 && crosses_sites(work.deployment) {
        let moved = 2.0 * (&normal / (&servers - 1.0)).up();
        ((work.get("db.active_dc1") - moved) / (servers - 2.0)).up()
    } else {
        return None;
    };
    let uneven = work
        .get("db.count")
        .modulo(work.get("db.symmetrical_block"))
        .value()
        > 0.0;
    let active = if uneven { active + 2.0 } else { active };
    work.note(
        Quirk::TwoFailures,
        "fail.active_per_server_two_failed",
        None,
    );
    Some(mode(work, "fail.active_per_server_two_failed", active, 2.0))
}

/// Whether databases may become active in the other site by themselves.
fn crosses_sites(deployment: &Deployment) -> bool {
    let open = |site: &plan::deployment::SecondSite| !site.blocks_activation && site.copies > 0;
    deployment.second_site.as_ref().is_some_and(open)
}

/// Databases of a group over the servers of the surviving site.
fn site_failed(work: &mut Work<'_>) -> Option<Mode> {
    let first = work.value("srv.active_dc1");
    let active = match work.deployment.site_model()? {
        SiteModel::ActiveActive => work.get("db.count") / work.get("srv.active_dc2"),
        _ if work.value("copies.second_site") == 0.0 => return None,
        _ => work.get("db.count") / work.get("srv.waiting_dc2"),
    };
    Some(mode(
        work,
        "fail.active_per_server_site_failed",
        active.up(),
        first,
    ))
}

/// One more server of the surviving site, where another copy is left there.
fn site_and_one_failed(work: &mut Work<'_>) -> Option<Mode> {
    let model = work.deployment.site_model()?;
    let servers = if model == SiteModel::ActiveActive {
        work.get("srv.active_dc2")
    } else {
        work.get("srv.waiting_dc2")
    };
    if activatable_there(work.deployment) < 2 || servers.value() < 2.0 {
        return None;
    }
    let lost = work.value("srv.active_dc1") + 1.0;
    let active = (work.get("db.count") / (servers - 1.0)).up();
    Some(mode(
        work,
        "fail.active_per_server_site_plus_one",
        active,
        lost,
    ))
}

/// Copies in the second site that can become active: a late one can where something makes it catch
/// up and three others exist.
fn activatable_there(deployment: &Deployment) -> u32 {
    let (copies, lagged) = deployment.copies_in_second_site();
    let availability = &deployment.availability;
    let catches_up = availability.replay_lag_manager && availability.copies >= 3;
    copies + if catches_up { lagged } else { 0 }
}

/// Whether the loss of a site is a matter of the second site's servers alone.
fn second_site_waits(deployment: &Deployment) -> bool {
    let model = deployment.site_model();
    model.is_some_and(|model| model != SiteModel::ActiveActive)
}

fn worst(work: &mut Work<'_>, modes: &[Mode]) {
    let first_serves = work.value("srv.active_dc1");
    let waits = second_site_waits(work.deployment);
    let survives = |mode: &&Mode| !waits || mode.lost < first_serves;
    let numbers = modes.iter().filter(survives);
    let numbers: Vec<Number> = numbers.map(|mode| mode.active.clone()).collect();
    let worst = numbers.iter().map(Number::value).fold(0.0, f64::max);
    let worst = Number::of_all("max", &numbers, worst);
    let worst = work.put("srv.worst_active_dbs_dc1", "", worst);
    work.put("fail.max_active_dbs_dc1", "", &worst);
    if work.deployment.second_site.is_some() {
        let there = worst_there(work, &worst);
        let there = work.put("srv.worst_active_dbs_dc2", "", there);
        work.put("fail.max_active_dbs_dc2", "", there);
    }
    preferred(work, &worst);
    let lost = modes.iter().map(|mode| mode.lost).fold(0.0, f64::max);
    let group = if work.deployment.has_copies() {
        work.get("srv.per_dag") - lost
    } else {
        work.get("srv.active_dc1")
    };
    let left = group * work.get("srv.dags");
    work.put("srv.remaining_after_worst_failure", "", left);
}

/// The busiest server of the second site: as the first's where both serve users, else what the
/// loss of the first leaves it.
fn worst_there(work: &Work<'_>, worst: &Number) -> Number {
    if !second_site_waits(work.deployment) {
        return worst.clone();
    }
    let one_more = work.sheet.find("fail.active_per_server_site_plus_one");
    let site = work.sheet.find("fail.active_per_server_site_failed");
    one_more.or(site).unwrap_or_else(|| Number::plain(0.0))
}

/// What a server is asked to keep to while others are left: only with four copies or more.
fn preferred(work: &mut Work<'_>, worst: &Number) {
    if work.deployment.total_copies() < 4 || !work.deployment.has_copies() {
        return;
    }
    let one = work.sheet.find("fail.active_per_server_one_failed");
    let two = work.sheet.find("fail.active_per_server_two_failed");
    let two = two.filter(|two| two.value() < worst.value());
    if let Some(active) = two.or(one) {
        work.put("fail.max_preferred_active_dbs_dc1", "", &active);
        if work.deployment.site_model() == Some(SiteModel::ActiveActive) {
            work.put("fail.max_preferred_active_dbs_dc2", "", active);
        }
    }
}
