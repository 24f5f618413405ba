//! Active databases of the busiest server when servers or a site fail (facts 5.15). The layout
//! plays the same failures through; these numbers size processors and memory.

mod corrected;
mod workbook;

use crate::architecture::Architecture;
use crate::layout::Failure;
use crate::number::Number;
use crate::work::Work;

/// Active databases of the busiest server of a site; none where the failure is not survived, or
/// nothing is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Modes {
    /// When nothing fails.
    pub normal: Number,
    /// When a server of the site fails.
    pub one: Option<Number>,
    /// When two fail.
    pub two: Option<Number>,
    /// When the other site fails.
    pub site: Option<Number>,
    /// When a server of this site fails besides.
    pub site_and_one: Option<Number>,
    /// When two of this site fail besides.
    pub site_and_two: Option<Number>,
    /// In the worst of these.
    pub worst: Number,
}

impl Modes {
    /// Every failure with the word that ends its key.
    pub(crate) fn named(&self) -> [(&'static str, Option<&Number>); 7] {
        [
            ("normal", Some(&self.normal)),
            ("one_failed", self.one.as_ref()),
            ("two_failed", self.two.as_ref()),
            ("site_failed", self.site.as_ref()),
            ("site_plus_one", self.site_and_one.as_ref()),
            ("site_plus_two", self.site_and_two.as_ref()),
            ("worst", Some(&self.worst)),
        ]
    }
}

/// Both sites in every failure.
#[derive(Clone, Debug)]
pub(crate) struct Failures {
    /// The first site.
    pub first: Modes,
    /// The second; none where there is none.
    pub second: Option<Modes>,
    /// Servers of a group, those for late copies included, that the worst failure takes.
    pub lost: f64,
}

impl Failures {
    /// Whether servers are sized for this failure.
    pub(crate) const fn is_survived(&self, failure: Failure) -> bool {
        let last = match &self.second {
            Some(second) => second,
            None => &self.first,
        };
        match failure {
            Failure::Servers(0) => true,
            Failure::Servers(1) => self.first.one.is_some(),
            Failure::Servers(2) => self.first.two.is_some(),
            Failure::Site => last.site.is_some(),
            Failure::SiteAndServer => last.site_and_one.is_some(),
            Failure::Servers(_) | Failure::WitnessAndServer | Failure::Domain | Failure::Link => {
                false
            }
        }
    }
}

/// Every failure that the deployment survives, and the worst.
pub(crate) fn failures(work: &mut Work<'_>, architecture: Architecture) -> Failures {
    let failures = if work.deployment.is_compatible() {
        workbook::failures(work, architecture)
    } else {
        corrected::failures(work)
    };
    let worst = work.put("srv.worst_active_dbs_dc1", "", &failures.first.worst);
    work.put("fail.max_active_dbs_dc1", "", worst);
    if let Some(second) = &failures.second {
        let worst = work.put("srv.worst_active_dbs_dc2", "", &second.worst);
        work.put("fail.max_active_dbs_dc2", "", worst);
    }
    failures
}

/// Active databases of a server when nothing fails. Without copies each server has databases of its
/// own, and they are counted for one.
fn normal(work: &mut Work<'_>) -> Number {
    let home = work.get("db.active_dc1");
    let normal = if work.deployment.has_copies() && home.value() > 1.0 {
        home / work.get("srv.active_dc1")
    } else {
        home
    };
    let normal = work.put("fail.active_per_server_normal", "", normal);
    let each = &normal * work.get("db.mailboxes");
    work.put("srv.active_mailboxes_normal", "", each);
    normal
}
