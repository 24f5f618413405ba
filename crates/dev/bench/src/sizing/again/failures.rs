//! Active databases of the busiest server in each failure (facts 5.15).

use super::databases::Databases;
use super::given::GivenInputs;
use super::{Values, up};

/// Active databases of a server; `None` if the facts show a dash.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FailureLoads {
    pub normal: f64,
    pub one: Option<f64>,
    pub two: Option<f64>,
    pub site: Option<f64>,
    pub site_and_one: Option<f64>,
    pub site_and_two: Option<f64>,
    /// Maximum for each site.
    pub worst: [f64; 2],
    /// Servers of the second site, with none, one or two of them failed.
    pub there: [Option<f64>; 3],
}

/// Inputs of the rules for one site.
struct SiteRules<'a> {
    given: &'a GivenInputs<'a>,
    blocked: bool,
    /// Databases whose home is the site, and copies on a server.
    home: f64,
    held: f64,
    plus: f64,
}

impl FailureLoads {
    pub(super) fn of(given: &GivenInputs<'_>, databases: &Databases, values: &mut Values) -> Self {
        let mut found = Self::default();
        if given.copies {
            found.with_copies(given, databases);
        } else {
            found.normal = databases.home[0];
            found.worst[0] = databases.home[0];
        }
        found.write(given, values);
        found
    }

    fn with_copies(&mut self, given: &GivenInputs<'_>, databases: &Databases) {
        let blocked =
            given.deployment.second_site.as_ref().is_some_and(|site| site.blocks_activation);
        let uneven = given.p[0] * databases.home[0] < databases.symmetrical;
        let rules = SiteRules {
            given,
            blocked,
            home: databases.home[0],
            held: databases.held,
            plus: if uneven { 2.0 } else { 0.0 },
        };
        self.normal = rules.normal();
        self.one = rules.one();
        let beyond = taking_over(given, databases);
        let copies = f64::from(given.deployment.availability.copies);
        let may = match (given.two, blocked) {
            (false, _) => given.p[0] >= 3.0 && given.s >= 4.0,
            (true, false) => copies >= 3.0 && beyond >= 4.0,
            (true, true) => given.p[0] >= 3.0 && given.s + databases.waiting[1] >= 4.0,
        };
        self.two = may.then(|| rules.two());
        if given.two {
            self.second_site(given, databases, &rules);
        }
        self.worst_of_both(given);
    }

    fn second_site(
        &mut self,
        given: &GivenInputs<'_>,
        databases: &Databases,
        here: &SiteRules<'_>,
    ) {
        let away = databases.home[1];
        let there = SiteRules { home: away, plus: 0.0, ..*here };
        self.there = if given.both {
            let copies = f64::from(given.deployment.availability.copies);
            let may = if here.blocked {
                given.p[0] >= 3.0 && given.s >= 4.0
            } else {
                copies >= 3.0 && 2.0 * given.s >= 4.0
            };
            let two = may.then(|| there.two());
            [Some(there.normal()), there.one(), two]
        } else {
            self.of_waiting(given, databases, here.blocked)
        };
        self.site = site(given, databases);
        let ready = catching_up(given, 1);
        let servers = taking_over(given, databases);
        if given.p[1] + ready >= 2.0 && servers >= 2.0 {
            self.site_and_one = Self::site_and(given, databases, (1.0, self.one, self.there[1]));
        }
        if given.p[1] >= 3.0 && servers >= 4.0 {
            self.site_and_two = Self::site_and(given, databases, (2.0, self.two, self.there[2]));
        }
    }

    /// Databases that standby servers take over when servers of the first site fail (facts 5.12).
    fn of_waiting(
        &self,
        given: &GivenInputs<'_>,
        databases: &Databases,
        blocked: bool,
    ) -> [Option<f64>; 3] {
        let waiting = databases.waiting[1];
        let one = if given.p[0] >= 3.0 || blocked {
            None
        } else if given.p[0] == 1.0 && waiting > 0.0 {
            Some(up((databases.home[0] - self.one.unwrap_or(0.0)) / waiting))
        } else {
            Some(0.0)
        };
        let may = (given.p[0] < 3.0 || given.s < 4.0) && !blocked && waiting > 0.0;
        let two = match (self.one, self.two) {
            (Some(one), Some(_)) if may => Some(up(2.0 * (one - self.normal) / waiting)),
            _ => None,
        };
        [Some(0.0), one, two]
    }

    /// Active databases of a server after the loss of the other site and of `failed` servers.
    fn site_and(
        given: &GivenInputs<'_>,
        databases: &Databases,
        (failed, here, there): (f64, Option<f64>, Option<f64>),
    ) -> Option<f64> {
        let servers = taking_over(given, databases);
        let alike = servers == given.s;
        let spread = Some(up(databases.count / (servers - failed)));
        if given.both && !given.dr {
            let first = if alike { there } else { spread };
            return Some(first? + here?);
        }
        if alike { here } else { spread }
    }

    fn worst_of_both(&mut self, given: &GivenInputs<'_>) {
        let there = [self.site, self.site_and_one, self.site_and_two];
        let there = there.into_iter().flatten().fold(0.0, f64::max);
        self.worst[0] = match (self.one, self.two) {
            (None, None) if given.both && given.p[0] == 1.0 => 2.0 * self.normal,
            (None, None) => self.normal,
            (one, two) => {
                let here = one.unwrap_or(0.0).max(two.unwrap_or(0.0));
                if given.both && !given.dr { here.max(there) } else { here }
            }
        };
        let alone = given.both && given.s == 1.0 && given.p[0] + catching_up(given, 0) == 1.0;
        self.worst[1] = if alone { self.worst[0] } else { there };
    }

    fn write(&self, given: &GivenInputs<'_>, values: &mut Values) {
        for (mode, active) in [
            ("normal", Some(self.normal)),
            ("one_failed", self.one),
            ("two_failed", self.two),
            ("site_failed", self.site),
            ("site_plus_one", self.site_and_one),
            ("site_plus_two", self.site_and_two),
        ] {
            values.may(format!("fail.active_per_server_{mode}"), active);
        }
        values.put("srv.worst_active_dbs_dc1", self.worst[0]);
        values.put("srv.worst_active_dbs_dc2", self.worst[1]);
        values.put("fail.max_active_dbs_dc1", self.worst[0]);
        values.put("fail.max_active_dbs_dc2", self.worst[1]);
        if given.copies && given.c >= 4.0 {
            let two = self.two.filter(|two| *two < self.worst[0]);
            values.may("fail.max_preferred_active_dbs_dc1", two.or(self.one));
        }
    }
}

impl SiteRules<'_> {
    fn normal(&self) -> f64 {
        if self.home == 1.0 { 1.0 } else { self.home / self.given.s }
    }

    fn one(&self) -> Option<f64> {
        let s = self.given.s;
        if self.given.p[0] >= 2.0 {
            let spread = self.normal() + self.normal() / (s - 1.0);
            return Some(if self.home == 1.0 { self.home } else { up(spread) });
        }
        (s > 1.0 && !self.blocked).then(|| self.normal())
    }

    /// Two failed servers. The workbook's value falls below zero if there are fewer databases than
    /// servers; then none is active.
    fn two(&self) -> f64 {
        let s = self.given.s;
        let spread = up(self.normal() + 2.0 * self.normal() / (s - 2.0)) + self.plus;
        let active = if self.given.p[0] < 3.0 {
            if s <= 2.0 {
                return 0.0;
            }
            up((self.home - 2.0 * up(self.normal() / (s - 1.0))) / (s - 2.0)) + self.plus
        } else if s == 3.0 && !self.blocked {
            self.held / 2.0
        } else {
            spread
        };
        active.min(self.held).max(0.0)
    }
}

/// Number of servers in the second site that take over.
fn taking_over(given: &GivenInputs<'_>, databases: &Databases) -> f64 {
    if given.both && !given.dr { databases.active[1] } else { databases.waiting[1] }
}

/// Lagged copies of a site that the replay lag manager brings up to date automatically.
pub(super) fn catching_up(given: &GivenInputs<'_>, site: usize) -> f64 {
    let availability = &given.deployment.availability;
    let counts = availability.replay_lag_manager && availability.copies >= 3 && !given.own;
    if counts { given.l[site] } else { 0.0 }
}

/// Active databases of a server after the other site is lost.
fn site(given: &GivenInputs<'_>, databases: &Databases) -> Option<f64> {
    if given.p[1] < 1.0 {
        return None;
    }
    let alone = given.s == 1.0 && given.p[0] == 1.0;
    let (count, servers) = if given.both && (!given.dr || alone) {
        (databases.count, databases.active[1])
    } else if given.p[1] == 1.0 {
        (databases.home[0], databases.waiting[1])
    } else if given.both {
        (databases.home[1], databases.waiting[1])
    } else {
        (databases.count, databases.waiting[1])
    };
    (servers > 0.0).then(|| up(count / servers))
}
