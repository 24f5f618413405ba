//! Servers of each kind and site: active ones, those that wait, those kept for late copies (facts
//! 5.7).

use plan::deployment::SiteModel;

use crate::architecture::Architecture;
use crate::count::late_copies;
use crate::number::{Number, sum};
use crate::quirk::Quirk;
use crate::work::Work;

/// Servers of a group.
pub(crate) fn sites(work: &mut Work<'_>, architecture: Architecture) {
    let mut all = vec![work.get("srv.active_dc1")];
    match work.deployment.site_model() {
        None => {}
        Some(SiteModel::ActiveActive) => {
            all.push(active_there(work, architecture));
            if architecture.waiting_apart && work.value("srv.active_dc1") > 1.0 {
                all.extend(waiting_beside(work, architecture));
            }
        }
        Some(_) => all.push(waiting_there(work, architecture)),
    }
    work.put("srv.per_dag", "", sum(all));
    if architecture.late_apart {
        kept_for_late_copies(work);
    }
}

/// Servers for `copies`, as full as those of the first site.
fn servers_for(work: &Work<'_>, copies: Number) -> Number {
    (copies / work.get("srv.db_copies").max(1.0)).up()
}

/// Servers of the second of two active sites; the layout gives both the same.
fn active_there(work: &mut Work<'_>, architecture: Architecture) -> Number {
    let first = work.get("srv.active_dc1");
    if !work.deployment.is_compatible() {
        return work.put("srv.active_dc2", "", first);
    }
    let mut copies = work.get("copies.first_site") * work.get("db.active_dc2");
    if !architecture.waiting_apart {
        copies = copies + work.get("copies.second_site") * work.get("db.active_dc1");
    }
    if !architecture.late_apart {
        copies = copies + late_copies(work, true);
    }
    let needed = servers_for(work, copies);
    work.put("srv.active_dc2", "", first.min(needed))
}

/// Servers of both active sites that hold copies of the other's databases and nothing else.
fn waiting_beside(work: &mut Work<'_>, architecture: Architecture) -> [Number; 2] {
    let late = |second| {
        let there = work.value("copies.second_site_lagged") > 0.0 && !architecture.late_apart;
        there.then(|| late_copies(work, second))
    };
    let copies = |home: &str, second| {
        let copies = work.get("copies.second_site") * work.get(home);
        late(second).map_or(copies.clone(), |late| copies + late)
    };
    let first = servers_for(work, copies("db.active_dc2", true));
    let second = servers_for(work, copies("db.active_dc1", true));
    let second = work.get("srv.active_dc1").min(second);
    [
        work.put("srv.passive_dc1", "", first),
        work.put("srv.passive_dc2", "", second),
    ]
}

/// Servers of a second site in which nothing is active until the first fails: no more than the
/// first has, and as many as a database has copies there.
fn waiting_there(work: &mut Work<'_>, architecture: Architecture) -> Number {
    let mut there = work.get("copies.second_site");
    if !architecture.late_apart {
        there = there + work.get("copies.second_site_lagged");
    }
    let copies = work.get("db.active_dc1") * &there;
    let copies = work.put("db.passive_dc2", "", copies);
    let needed = work.get("srv.active_dc1").min(servers_for(work, copies));
    let needed = if work.deployment.is_compatible() {
        needed
    } else {
        needed.max(there)
    };
    work.put("srv.passive_dc2", "", needed)
}

/// Servers that hold nothing but late copies. Corrected mode adds what the workbook leaves out: as
/// many as a database has late copies in a site.
fn kept_for_late_copies(work: &mut Work<'_>) {
    let (near, far) = (
        work.get("copies.first_site_lagged"),
        work.get("copies.second_site_lagged"),
    );
    let both = work.deployment.site_model() == Some(SiteModel::ActiveActive);
    let deepest = near.clone().max(&far);
    let mut servers = Vec::new();
    let mut most = Vec::new();
    for (site, second, own) in [("_dc1", false, near), ("_dc2", true, far)] {
        let late = late_copies(work, second);
        let late = work.put(&format!("copies.late{site}"), "", late);
        let mut count = servers_for(work, late.clone());
        if !work.deployment.is_compatible() {
            count = count.max(if both { deepest.clone() } else { own });
        }
        let count = work.put(&format!("srv.lagged{site}"), "", count);
        if count.value() > 0.0 {
            most.push((late / &count).up());
        }
        servers.push(count);
    }
    work.put("srv.lagged_per_dag", "", sum(servers));
    let value = most.iter().map(Number::value).fold(0.0, f64::max);
    let each = Number::of_all("max", &most, value);
    let all = work.get("srv.db_copies");
    let each = work.either(Quirk::LateServersFull, "srv.db_copies_lagged", all, each);
    work.put("srv.db_copies_lagged", "", each);
}
