//! Every failure of a deployment by rules that stay within the copies of a server.

use plan::Deployment;
use plan::deployment::SiteModel;

use super::{Failures, Modes, normal};
use crate::key::{FailureMode, Key, ServerKind};
use crate::number::Number;
use crate::quirk::Quirk;
use crate::work::Work;

/// A failure mode: active databases of the busiest server, and failed servers of a group.
struct CorrectedMode {
    active: Number,
    lost: f64,
}

/// Every failure that the deployment survives.
pub(super) fn failures(work: &mut Work<'_>) -> Failures {
    let normal = normal(work);
    let [mut one, mut two, mut site, mut site_and_one] = [const { None }; 4];
    if work.deployment.has_copies() {
        one = one_failed(work);
        two = two_failed(work);
        site = site_failed(work);
        site_and_one = site_and_one_failed(work);
    }
    let all = [&one, &two, &site, &site_and_one].into_iter().flatten();
    let lost = all.clone().map(|mode| mode.lost).fold(0.0, f64::max);
    let waits = second_site_waits(work.deployment);
    let here = work.value(Key::ServerActiveDc1);
    let mut active = vec![normal.clone()];
    active.extend(all.filter(|mode| !waits || mode.lost < here).map(|mode| mode.active.clone()));
    let worst = greatest(&active);
    preferred(work, &worst);
    let [one, two, site, site_and_one] =
        [one, two, site, site_and_one].map(|mode| mode.map(|mode| mode.active));
    let both = Modes { normal, one, two, site, site_and_one, site_and_two: None, worst };
    let second = work.deployment.second_site.is_some();
    let second = second.then(|| if waits { waiting(&both) } else { both.clone() });
    let first = if waits { Modes { site: None, site_and_one: None, ..both } } else { both };
    Failures { first, second, lost }
}

/// The modes of a second site in which nothing is active until the first is lost.
fn waiting(all: &Modes) -> Modes {
    let nothing = Number::plain(0.0);
    let last = all.site_and_one.as_ref().or(all.site.as_ref());
    Modes {
        normal: nothing.clone(),
        one: all.one.as_ref().map(|_| nothing.clone()),
        two: all.two.as_ref().map(|_| nothing.clone()),
        site: all.site.clone(),
        site_and_one: all.site_and_one.clone(),
        site_and_two: None,
        worst: last.cloned().unwrap_or(nothing),
    }
}

fn greatest(all: &[Number]) -> Number {
    let value = all.iter().map(Number::value).fold(0.0, f64::max);
    Number::of_all("max", all, value)
}

fn one_failed(work: &mut Work<'_>) -> Option<CorrectedMode> {
    let servers = work.get(Key::ServerActiveDc1);
    let normal = work.get(Key::FailureActive(FailureMode::Normal));
    (servers.value() > 1.0).then(|| {
        let active = (&normal + &normal / (servers - 1.0)).up();
        mode(work, Key::FailureActive(FailureMode::OneFailed), active, 1.0)
    })
}

fn mode(work: &mut Work<'_>, key: Key, active: Number, lost: f64) -> CorrectedMode {
    let copies = work.get(Key::ServerDbCopies(ServerKind::First));
    let active = work.put(key, active.min(copies));
    CorrectedMode { active, lost }
}

fn two_failed(work: &mut Work<'_>) -> Option<CorrectedMode> {
    let servers = work.get(Key::ServerActiveDc1);
    let here = work.get(Key::CopiesFirstSite).value();
    let enough = work.deployment.availability.copies >= 3 && work.value(Key::ServerPerDag) >= 4.0;
    if !enough || servers.value() <= 2.0 {
        return None;
    }
    let normal = work.get(Key::FailureActive(FailureMode::Normal));
    let active = if here >= 3.0 {
        (&normal + 2.0 * &normal / (servers - 2.0)).up()
    } else if here >= 2.0 && crosses_sites(work.deployment) {
        let moved = 2.0 * (&normal / (&servers - 1.0)).up();
        ((work.get(Key::DatabaseActiveDc1) - moved) / (servers - 2.0)).up()
    } else {
        return None;
    };
    let uneven =
        work.get(Key::DatabaseCount).modulo(work.get(Key::DatabaseSymmetricalBlock)).value() > 0.0;
    let active = if uneven { active + 2.0 } else { active };
    work.note(Quirk::TwoFailures, Key::FailureActive(FailureMode::TwoFailed), None);
    Some(mode(work, Key::FailureActive(FailureMode::TwoFailed), active, 2.0))
}

/// Whether databases may become active in the other site automatically.
fn crosses_sites(deployment: &Deployment) -> bool {
    deployment.second_site.as_ref().is_some_and(|site| !site.blocks_activation && site.copies > 0)
}

/// Spreads the databases of a group over the servers of the surviving site.
fn site_failed(work: &mut Work<'_>) -> Option<CorrectedMode> {
    let first = work.value(Key::ServerActiveDc1);
    let active = match work.deployment.site_model()? {
        SiteModel::ActiveActive => work.get(Key::DatabaseCount) / work.get(Key::ServerActiveDc2),
        _ if work.value(Key::CopiesSecondSite) == 0.0 => return None,
        _ => work.get(Key::DatabaseCount) / work.get(Key::ServerPassiveDc2),
    };
    Some(mode(work, Key::FailureActive(FailureMode::SiteFailed), active.up(), first))
}

/// Also loses a server of the surviving site; `None` unless another copy is left there.
fn site_and_one_failed(work: &mut Work<'_>) -> Option<CorrectedMode> {
    let model = work.deployment.site_model()?;
    let servers = if model == SiteModel::ActiveActive {
        work.get(Key::ServerActiveDc2)
    } else {
        work.get(Key::ServerPassiveDc2)
    };
    if activatable_there(work.deployment) < 2 || servers.value() < 2.0 {
        return None;
    }
    let lost = work.value(Key::ServerActiveDc1) + 1.0;
    let active = (work.get(Key::DatabaseCount) / (servers - 1.0)).up();
    Some(mode(work, Key::FailureActive(FailureMode::SitePlusOne), active, lost))
}

/// Copies in the second site that can become active: lagged ones included if they catch up
/// automatically and three others exist.
fn activatable_there(deployment: &Deployment) -> u32 {
    let (copies, lagged) = deployment.copies_in_second_site();
    let availability = &deployment.availability;
    let catches_up = availability.replay_lag_manager && availability.copies >= 3;
    copies + if catches_up { lagged } else { 0 }
}

/// Whether all databases are active in the first site, so that only the second site's servers take
/// over from a lost site.
fn second_site_waits(deployment: &Deployment) -> bool {
    let model = deployment.site_model();
    model.is_some_and(|model| model != SiteModel::ActiveActive)
}

/// Limit that a server should respect while others survive; only with four copies or more.
fn preferred(work: &mut Work<'_>, worst: &Number) {
    if work.deployment.total_copies() < 4 || !work.deployment.has_copies() {
        return;
    }
    let one = work.sheet.find(Key::FailureActive(FailureMode::OneFailed));
    let two = work.sheet.find(Key::FailureActive(FailureMode::TwoFailed));
    let two = two.filter(|two| two.value() < worst.value());
    if let Some(active) = two.or(one) {
        work.put(Key::FailureMaxPreferredActiveDbsDc1, &active);
        if work.deployment.site_model() == Some(SiteModel::ActiveActive) {
            work.put(Key::FailureMaxPreferredActiveDbsDc2, active);
        }
    }
}
