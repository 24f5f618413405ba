//! Servers of each kind and site: active ones, those on standby, those reserved for lagged copies
//! (facts 5.7).

use plan::deployment::SiteModel;

use crate::architecture::Architecture;
use crate::count::late_copies;
use crate::key::{Key, ServerKind};
use crate::number::{Number, sum};
use crate::quirk::Quirk;
use crate::work::Work;

/// Servers of a group.
pub(crate) fn sites(work: &mut Work<'_>, architecture: Architecture) {
    let mut all = vec![work.get(Key::ServerActiveDc1)];
    match work.deployment.site_model() {
        None => {}
        Some(SiteModel::ActiveActive) => {
            all.push(active_there(work, architecture));
            if architecture.waiting_apart && work.value(Key::ServerActiveDc1) > 1.0 {
                all.extend(waiting_beside(work, architecture));
            }
        }
        Some(_) => all.push(waiting_there(work, architecture)),
    }
    work.put(Key::ServerPerDag, sum(all));
    if architecture.late_apart {
        kept_for_late_copies(work);
    }
}

/// Number of servers for `copies`, each as full as those of the first site.
fn servers_for(work: &Work<'_>, copies: Number) -> Number {
    (copies / work.get(Key::ServerDbCopies(ServerKind::First)).max(1.0)).up()
}

/// Servers of the second of two active sites; the layout gives both sites equally many.
fn active_there(work: &mut Work<'_>, architecture: Architecture) -> Number {
    let first = work.get(Key::ServerActiveDc1);
    if !work.deployment.is_compatible() {
        return work.put(Key::ServerActiveDc2, first);
    }
    let mut copies = work.get(Key::CopiesFirstSite) * work.get(Key::DatabaseActiveDc2);
    if !architecture.waiting_apart {
        copies = copies + work.get(Key::CopiesSecondSite) * work.get(Key::DatabaseActiveDc1);
    }
    if !architecture.late_apart {
        copies = copies + late_copies(work, true);
    }
    let needed = servers_for(work, copies);
    work.put(Key::ServerActiveDc2, first.min(needed))
}

/// Servers of both active sites that hold copies of the other's databases and nothing else.
fn waiting_beside(work: &mut Work<'_>, architecture: Architecture) -> [Number; 2] {
    let mut first = work.get(Key::CopiesSecondSite) * work.get(Key::DatabaseActiveDc2);
    let mut second = work.get(Key::CopiesSecondSite) * work.get(Key::DatabaseActiveDc1);
    if work.value(Key::CopiesSecondSiteLagged) > 0.0 && !architecture.late_apart {
        first = first + late_copies(work, true);
        second = second + late_copies(work, true);
    }
    let first = servers_for(work, first);
    let second = servers_for(work, second);
    let second = work.get(Key::ServerActiveDc1).min(second);
    [work.put(Key::ServerPassiveDc1, first), work.put(Key::ServerPassiveDc2, second)]
}

/// Servers of a second site in which nothing is active until the first fails: no more than in the
/// first, and at least as many as a database has copies there.
fn waiting_there(work: &mut Work<'_>, architecture: Architecture) -> Number {
    let mut there = work.get(Key::CopiesSecondSite);
    if !architecture.late_apart {
        there = there + work.get(Key::CopiesSecondSiteLagged);
    }
    let copies = work.get(Key::DatabaseActiveDc1) * &there;
    let copies = work.put(Key::DatabasePassiveDc2, copies);
    let needed = work.get(Key::ServerActiveDc1).min(servers_for(work, copies));
    let needed = if work.deployment.is_compatible() { needed } else { needed.max(there) };
    work.put(Key::ServerPassiveDc2, needed)
}

/// Servers that hold only lagged copies. Corrected mode also requires, unlike the workbook, at
/// least as many as a database has lagged copies in a site.
fn kept_for_late_copies(work: &mut Work<'_>) {
    let (near, far) = (work.get(Key::CopiesFirstSiteLagged), work.get(Key::CopiesSecondSiteLagged));
    let both = work.deployment.site_model() == Some(SiteModel::ActiveActive);
    let deepest = near.clone().max(&far);
    let mut servers = Vec::new();
    let mut most = Vec::new();
    for (site, second, own) in [(ServerKind::First, false, near), (ServerKind::Second, true, far)] {
        let late = late_copies(work, second);
        let late = work.put(Key::CopiesLate(site), late);
        let mut count = servers_for(work, late.clone());
        if !work.deployment.is_compatible() {
            count = count.max(if both { deepest.clone() } else { own });
        }
        let count = work.put(Key::ServerLagged(site), count);
        if count.value() > 0.0 {
            most.push((late / &count).up());
        }
        servers.push(count);
    }
    work.put(Key::ServerLaggedPerDag, sum(servers));
    let value = most.iter().map(Number::value).fold(0.0, f64::max);
    let each = Number::of_all("max", &most, value);
    let all = work.get(Key::ServerDbCopies(ServerKind::First));
    let each =
        work.either(Quirk::LateServersFull, Key::ServerDbCopies(ServerKind::Lagged), all, each);
    work.put(Key::ServerDbCopies(ServerKind::Lagged), each);
}
