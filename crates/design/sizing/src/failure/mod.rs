//! Active databases of the busiest server when servers or a site fail (facts 5.15). The layout
//! simulates the same failures; these numbers size processors and memory.

mod corrected;
mod workbook;

use crate::architecture::Architecture;
use crate::key::{FailureMode, Key, ServerKind};
use crate::number::Number;
use crate::work::Work;

/// Active databases of the busiest server of a site; `None` if the failure is not survived or
/// nothing is known about it.
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
    /// When a server of this site fails too.
    pub site_and_one: Option<Number>,
    /// When two of this site fail too.
    pub site_and_two: Option<Number>,
    /// In the worst of these.
    pub worst: Number,
}

impl Modes {
    /// Every failure.
    pub(crate) fn named(&self) -> [(FailureMode, Option<&Number>); 7] {
        [
            (FailureMode::Normal, Some(&self.normal)),
            (FailureMode::OneFailed, self.one.as_ref()),
            (FailureMode::TwoFailed, self.two.as_ref()),
            (FailureMode::SiteFailed, self.site.as_ref()),
            (FailureMode::SitePlusOne, self.site_and_one.as_ref()),
            (FailureMode::SitePlusTwo, self.site_and_two.as_ref()),
            (FailureMode::Worst, Some(&self.worst)),
        ]
    }
}

/// Both sites in every failure.
#[derive(Clone, Debug)]
pub(crate) struct Failures {
    /// The first site.
    pub first: Modes,
    /// The second site, if any.
    pub second: Option<Modes>,
    /// Servers of a group, including those for lagged copies, lost in the worst failure.
    pub lost: f64,
}

impl Failures {
    /// Whether servers are sized for this failure.
    pub(crate) const fn is_survived(&self, failure: FailureMode) -> bool {
        let last = match &self.second {
            Some(second) => second,
            None => &self.first,
        };
        match failure {
            FailureMode::Normal => true,
            FailureMode::OneFailed => self.first.one.is_some(),
            FailureMode::TwoFailed => self.first.two.is_some(),
            FailureMode::SiteFailed => last.site.is_some(),
            FailureMode::SitePlusOne => last.site_and_one.is_some(),
            FailureMode::SitePlusTwo | FailureMode::Worst => false,
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
    let worst = work.put(Key::ServerWorstActiveDbs(ServerKind::First), &failures.first.worst);
    work.put(Key::FailureMaxActiveDbsDc1, worst);
    if let Some(second) = &failures.second {
        let worst = work.put(Key::ServerWorstActiveDbs(ServerKind::Second), &second.worst);
        work.put(Key::FailureMaxActiveDbsDc2, worst);
    }
    failures
}

/// Active databases of a server when nothing fails. Without copies each server has separate
/// databases, and they are counted for a single server.
fn normal(work: &mut Work<'_>) -> Number {
    let home = work.get(Key::DatabaseActiveDc1);
    let normal = if work.deployment.has_copies() && home.value() > 1.0 {
        home / work.get(Key::ServerActiveDc1)
    } else {
        home
    };
    let normal = work.put(Key::FailureActive(FailureMode::Normal), normal);
    let each = &normal * work.get(Key::DatabaseMailboxes);
    work.put(Key::ServerActiveMailboxesNormal, each);
    normal
}
