//! The workbook's rules for every failure, including its approximations.

use plan::deployment::{Deployment, SiteModel};

use super::{Failures, Modes, normal};
use crate::architecture::Architecture;
use crate::key::{FailureMode, Key, ServerKind};
use crate::number::Number;
use crate::quirk::Quirk;
use crate::work::Work;

/// Facts that the workbook's rules depend on.
struct ServerGroup {
    /// Whether both sites serve the same group of users.
    both: bool,
    /// The same, without additional standby servers.
    both_share: bool,
    /// Whether the second site never activates databases automatically.
    blocked: bool,
    /// Copies in all sites that can take over.
    copies: f64,
    /// Copies in the first and in the second site that can take over.
    first: f64,
    second: f64,
    /// The same, including lagged ones that catch up.
    first_ready: f64,
    second_ready: f64,
    /// Servers that serve users, in each site.
    servers: Number,
    /// Copies that a server holds.
    held: Number,
    /// Databases of the group, and those at home in each site.
    databases: Number,
    home: Number,
    away: Number,
    /// Servers of the second site that serve users, and those on standby.
    active_there: Number,
    waiting_there: Number,
}

/// Every failure by the rules.
pub(super) fn failures(work: &mut Work<'_>, architecture: Architecture) -> Failures {
    let normal = normal(work);
    if !work.deployment.has_copies() {
        return alone(normal);
    }
    let group = ServerGroup::of(work, architecture);
    let home = group.home_failures(work, normal);
    let second = work.deployment.second_site.is_some();
    let mut first = home.clone();
    let second = second.then(|| group.second_site(work, &home));
    first.worst = group.worst(&home, second.as_ref());
    if let Some(there) = &second {
        first.site = survivors_here(work.deployment, there);
    }
    let second = second.map(|there| group.worst_there(there, &first));
    write_down(work, &first, second.as_ref());
    let lost = group.lost(work, &first, second.as_ref());
    Failures { first, second, lost }
}

/// Servers without copies fail with their databases.
fn alone(normal: Number) -> Failures {
    let worst = normal.clone();
    Failures { first: only(normal, worst), second: None, lost: 0.0 }
}

const fn only(normal: Number, worst: Number) -> Modes {
    Modes {
        normal,
        one: None,
        two: None,
        site: None,
        site_and_one: None,
        site_and_two: None,
        worst,
    }
}

impl ServerGroup {
    fn of(work: &Work<'_>, architecture: Architecture) -> Self {
        let deployment = work.deployment;
        let both = deployment.site_model() == Some(SiteModel::ActiveActive);
        let site = deployment.second_site.as_ref();
        let availability = &deployment.availability;
        let catches_up =
            availability.replay_lag_manager && availability.copies >= 3 && !architecture.late_apart;
        let (mut first_ready, mut second_ready) =
            (work.value(Key::CopiesFirstSite), work.value(Key::CopiesSecondSite));
        if catches_up {
            first_ready += work.value(Key::CopiesFirstSiteLagged);
            second_ready += work.value(Key::CopiesSecondSiteLagged);
        }
        Self {
            both,
            both_share: both && !architecture.waiting_apart,
            blocked: site.is_some_and(|site| site.blocks_activation),
            copies: f64::from(availability.copies),
            first: work.value(Key::CopiesFirstSite),
            second: work.value(Key::CopiesSecondSite),
            first_ready,
            second_ready,
            servers: work.get(Key::ServerActiveDc1),
            held: work.get(Key::ServerDbCopies(ServerKind::First)),
            databases: work.get(Key::DatabaseCount),
            home: work.get(Key::DatabaseActiveDc1),
            away: work.sheet.find_or_0(Key::DatabaseActiveDc2),
            active_there: work.sheet.find_or_0(Key::ServerActiveDc2),
            waiting_there: work.sheet.find_or_0(Key::ServerPassiveDc2),
        }
    }

    /// Servers of the second site that take over.
    const fn takes_over(&self) -> &Number {
        if self.both_share { &self.active_there } else { &self.waiting_there }
    }

    /// Failures of the first site's own servers.
    fn home_failures(&self, work: &mut Work<'_>, normal: Number) -> Modes {
        let one = self.one_failed(&normal, &self.home);
        let single = work.deployment.second_site.is_none();
        let may = if single {
            self.first >= 3.0 && self.servers.value() >= 4.0
        } else if self.blocked {
            self.first >= 3.0 && self.servers.value() + self.waiting_there.value() >= 4.0
        } else {
            self.copies >= 3.0 && self.takes_over().value() >= 4.0
        };
        let uneven = self.first * self.home.value() < work.value(Key::DatabaseCountSymmetrical);
        let plus = if uneven { 2.0 } else { 0.0 };
        let two = may.then(|| self.two_failed(&normal, &self.home, plus)).flatten();
        if two.is_some() {
            let key = Key::FailureActive(FailureMode::TwoFailed);
            work.note(Quirk::TwoFailures, key, None);
        }
        let worst = normal.clone();
        Modes { one, two, ..only(normal, worst) }
    }

    /// With one copy per site, its servers cannot take over from one another.
    fn one_failed(&self, normal: &Number, home: &Number) -> Option<Number> {
        if self.servers.value() < 2.0 {
            return None;
        }
        if self.first < 2.0 {
            return (!self.blocked).then(|| normal.clone());
        }
        if (home.value() - 1.0).abs() < 0.5 {
            return Some(home.clone());
        }
        Some((normal + normal / (&self.servers - 1.0)).up())
    }

    fn two_failed(&self, normal: &Number, home: &Number, plus: f64) -> Option<Number> {
        let servers = self.servers.value();
        let others = &self.servers - 2.0;
        if self.first < 3.0 && servers <= 2.0 {
            return Some(Number::plain(0.0));
        }
        if servers <= 2.0 {
            return None;
        }
        let active = if self.first < 3.0 {
            let moved = 2.0 * (normal / (&self.servers - 1.0)).up();
            ((home - moved) / others).up() + plus
        } else if servers < 4.0 && !self.blocked {
            &self.held / 2.0
        } else {
            (normal + 2.0 * normal / others).up() + plus
        };
        // With fewer databases than servers, the formula moves more than exist.
        let none = active.value() < 0.0;
        Some(if none { Number::plain(0.0) } else { active.min(&self.held) })
    }

    /// The second site: its own failures if it serves users, and the loss of the first.
    fn second_site(&self, work: &Work<'_>, home: &Modes) -> Modes {
        let mut modes =
            if self.both { self.own_failures_there() } else { self.waiting_failures(work, home) };
        modes.site = self.site_failed();
        modes.site_and_one = self.site_and(1.0, home.one.as_ref(), modes.one.as_ref());
        modes.site_and_two = self.site_and(2.0, home.two.as_ref(), modes.two.as_ref());
        modes
    }

    fn own_failures_there(&self) -> Modes {
        let normal = if (self.away.value() - 1.0).abs() < 0.5 {
            self.away.clone()
        } else {
            &self.away / &self.servers
        };
        let may = if self.blocked {
            self.first >= 3.0 && self.servers.value() >= 4.0
        } else {
            self.copies >= 3.0 && self.servers.value() * 2.0 >= 4.0
        };
        let two = may.then(|| self.two_failed(&normal, &self.away, 0.0)).flatten();
        let one = self.one_failed(&normal, &self.away);
        let worst = normal.clone();
        Modes { one, two, ..only(normal, worst) }
    }

    /// Databases that standby servers take over from the first site's.
    fn waiting_failures(&self, work: &Work<'_>, home: &Modes) -> Modes {
        let nothing = Number::plain(0.0);
        let waits = self.waiting_there.value() > 0.0;
        let one = if self.first >= 3.0 || self.blocked {
            None
        } else if self.first < 2.0 && waits {
            let kept = home.one.clone().unwrap_or_else(|| nothing.clone());
            Some(((work.get(Key::DatabaseActiveDc1) - kept) / &self.waiting_there).up())
        } else {
            Some(nothing.clone())
        };
        let may = (self.first < 3.0 || self.servers.value() < 4.0) && !self.blocked && waits;
        let two = match (&home.one, &home.two) {
            (Some(one), Some(_)) if may => {
                Some((2.0 * (one - &home.normal) / &self.waiting_there).up())
            }
            _ => None,
        };
        let worst = nothing.clone();
        Modes { one, two, ..only(nothing, worst) }
    }

    /// Spreads the databases of the lost site over the servers of the other; the workbook does not
    /// limit them to the copies of a server.
    fn site_failed(&self) -> Option<Number> {
        if self.second < 1.0 {
            return None;
        }
        let alone = self.servers.value() < 2.0 && self.first < 2.0;
        let (databases, servers) = if self.both_share || (alone && self.both) {
            (&self.databases, &self.active_there)
        } else if self.second < 2.0 {
            (&self.home, &self.waiting_there)
        } else if self.both {
            (&self.away, &self.waiting_there)
        } else {
            (&self.databases, &self.waiting_there)
        };
        (servers.value() > 0.0).then(|| (databases / servers).up())
    }

    /// The loss of a site plus `failed` servers of the surviving one.
    fn site_and(
        &self,
        failed: f64,
        here: Option<&Number>,
        there: Option<&Number>,
    ) -> Option<Number> {
        let enough = if failed < 2.0 {
            self.second_ready >= 2.0 && self.takes_over().value() >= 2.0
        } else {
            self.second >= 3.0 && self.takes_over().value() >= 4.0
        };
        if !enough {
            return None;
        }
        let servers = self.takes_over();
        let alike = (servers.value() - self.servers.value()).abs() < 0.5;
        if alike && !self.both_share {
            return here.cloned();
        }
        let first =
            if alike { there?.clone() } else { (&self.databases / (servers - failed)).up() };
        Some(if self.both_share { first + here? } else { first })
    }

    /// The worst case of the first site. In a group of two active sites it includes the second's.
    fn worst(&self, home: &Modes, second: Option<&Modes>) -> Number {
        let mut all: Vec<Number> = [&home.one, &home.two].into_iter().flatten().cloned().collect();
        if all.is_empty() {
            return if self.both && self.first < 2.0 {
                &home.normal * 2.0
            } else {
                home.normal.clone()
            };
        }
        if let Some(there) = second.filter(|_| self.both_share) {
            all.push(worst_of_site(there));
        }
        greatest(&all)
    }

    fn worst_there(&self, mut there: Modes, first: &Modes) -> Modes {
        let alone = self.servers.value() < 2.0 && self.first_ready < 2.0;
        there.worst = if self.both && alone { first.worst.clone() } else { worst_of_site(&there) };
        there
    }

    /// Servers lost in the worst failure, as the workbook counts them for transport.
    fn lost(&self, work: &Work<'_>, first: &Modes, second: Option<&Modes>) -> f64 {
        let Some(there) = second.filter(|_| self.second_ready > 0.0) else {
            return match (&first.two, &first.one) {
                (Some(_), _) => 2.0,
                (None, Some(_)) => 1.0,
                (None, None) => 0.0,
            };
        };
        let here = work.sheet.find_or_0(Key::ServerActiveDc1).value()
            + work.sheet.find_or_0(Key::ServerPassiveDc1).value()
            + work.sheet.find_or_0(Key::ServerLagged(ServerKind::First)).value();
        let besides = match (&there.site_and_two, &there.site_and_one) {
            (Some(_), _) => 2.0,
            (None, Some(_)) => 1.0,
            (None, None) => 0.0,
        };
        here + besides
    }
}

/// Load of the first site once the second is lost: the workbook uses the second's value.
fn survivors_here(deployment: &Deployment, there: &Modes) -> Option<Number> {
    let waits = deployment.site_model() == Some(SiteModel::ActivePassive);
    there.site.as_ref().filter(|_| !waits).cloned()
}

/// The maximum when the other site is lost; 0 if that is not survived.
fn worst_of_site(modes: &Modes) -> Number {
    let modes = [&modes.site, &modes.site_and_one, &modes.site_and_two];
    greatest(&modes.into_iter().flatten().cloned().collect::<Vec<_>>())
}

fn greatest(all: &[Number]) -> Number {
    let value = all.iter().map(Number::value).fold(0.0, f64::max);
    Number::of_all("max", all, value)
}

fn put(work: &mut Work<'_>, mode: FailureMode, number: Option<&Number>) {
    if let Some(number) = number {
        work.put(Key::FailureActive(mode), number);
    }
}

fn write_down(work: &mut Work<'_>, first: &Modes, second: Option<&Modes>) {
    put(work, FailureMode::OneFailed, first.one.as_ref());
    put(work, FailureMode::TwoFailed, first.two.as_ref());
    if let Some(there) = second {
        put(work, FailureMode::SiteFailed, there.site.as_ref());
        put(work, FailureMode::SitePlusOne, there.site_and_one.as_ref());
        put(work, FailureMode::SitePlusTwo, there.site_and_two.as_ref());
    }
    preferred(work, first, second);
}

/// Limit that a server should respect while others survive; only with four copies or more.
fn preferred(work: &mut Work<'_>, first: &Modes, second: Option<&Modes>) {
    if work.deployment.total_copies() < 4 {
        return;
    }
    let two = first.two.as_ref().filter(|two: &&Number| two.value() < first.worst.value());
    if let Some(active) = two.or(first.one.as_ref()) {
        work.put(Key::FailureMaxPreferredActiveDbsDc1, active);
    }
    let Some(there) = second.filter(|there| there.site_and_two.is_some()) else {
        return;
    };
    let both = work.deployment.site_model() == Some(SiteModel::ActiveActive);
    let active = if both { there.two.as_ref() } else { Some(&there.worst) };
    if let Some(active) = active {
        work.put(Key::FailureMaxPreferredActiveDbsDc2, active);
    }
}
