//! Tracks which copies count, and the rule for changing them.
//!
//! An entry is committed once every configuration that can be in force allows it: the confirmed
//! one, those requested but not yet answered, and the target.

use units::Nanos;

use super::{Over, VolumeOwner};
use crate::config::{Authority, Config, CountedCopies};
use crate::event::RegistryOp;
use crate::local::Local;

/// See the module.
#[derive(Debug)]
pub(crate) struct Agreement {
    revision: u64,
    pub(super) confirmed: Authority,
    /// Requested configurations, each with the revision that it replaces: any of them may still be
    /// stored.
    pending: Vec<(u64, Authority)>,
    last_put: Nanos,
}

impl Agreement {
    pub(super) fn new(revision: u64, confirmed: Authority) -> Self {
        Self { revision, confirmed, pending: Vec::new(), last_put: Nanos::ZERO }
    }

    /// Every configuration that may be in force.
    pub(super) fn possible(&self) -> impl Iterator<Item = Authority> + '_ {
        std::iter::once(self.confirmed).chain(self.pending.iter().map(|(_, asked)| *asked))
    }

    pub(super) fn is_settled(&self) -> bool {
        self.pending.is_empty()
    }
}

impl VolumeOwner {
    /// Processes the registry's configuration at `revision`.
    pub(crate) fn learn(&mut self, local: &Local, revision: u64, config: Config) {
        if revision < self.agreement.revision {
            return;
        }
        if config.epoch != self.epoch || config.owner != local.me {
            self.over = Some(Over::Deposed);
            return;
        }
        self.agreement.revision = revision;
        self.agreement.confirmed = config.authority;
        self.agreement.pending.retain(|(expected, _)| *expected >= revision);
    }

    /// The last entry that `authority` allows to be committed.
    fn rule(&self, local: &Local, authority: Authority) -> u64 {
        match authority {
            Authority::Backing => self.destaged,
            Authority::Flash(CountedCopies::Both) => {
                self.logged(local).min(self.link.durable().unwrap_or(self.commit))
            }
            Authority::Flash(CountedCopies::Only(host)) if host == local.me => self.logged(local),
            Authority::Flash(CountedCopies::Only(_)) => self.commit,
        }
    }

    /// Last entry that a crash of this host cannot remove; without flash, all entries are equally
    /// safe.
    pub(super) fn logged(&self, local: &Local) -> u64 {
        if local.flash_failed { local.image.end() } else { self.logged }
    }

    /// Last entry that every counted copy holds: entries up to it may be destaged.
    pub(super) fn replicated(&self, local: &Local) -> u64 {
        let needs_both = self.agreement.possible().any(Authority::is_both);
        let both = Authority::Flash(CountedCopies::Both);
        if needs_both { self.rule(local, both) } else { self.logged(local) }
    }

    pub(super) fn advance(&mut self, local: &Local) {
        let goal = self.goal(local);
        let rules = self.agreement.possible().chain([goal]);
        let allowed = rules.map(|authority| self.rule(local, authority)).min();
        self.commit = self.commit.max(allowed.unwrap_or(self.commit));
    }

    /// The target configuration.
    pub(super) fn goal(&self, local: &Local) -> Authority {
        let settings = &local.settings;
        let (both, only) = (
            Authority::Flash(CountedCopies::Both),
            Authority::Flash(CountedCopies::Only(local.me)),
        );
        let is_lost =
            !self.link.is_complete() && self.link.silence(local.now) > settings.peer_timeout;
        match self.agreement.confirmed {
            Authority::Flash(CountedCopies::Both) if is_lost => only,
            Authority::Flash(CountedCopies::Both) if settings.backed && self.draining => {
                Authority::Backing
            }
            Authority::Flash(CountedCopies::Both) => both,
            Authority::Flash(CountedCopies::Only(_)) if settings.backed => Authority::Backing,
            Authority::Flash(CountedCopies::Only(_)) if self.link.is_complete() => both,
            Authority::Flash(CountedCopies::Only(_)) => only,
            Authority::Backing
                if self.link.is_complete() && !self.draining && !local.flash_failed =>
            {
                both
            }
            Authority::Backing => Authority::Backing,
        }
    }

    /// `true` if acknowledgements need not wait for the backing store.
    pub(crate) fn writes_back(&self, local: &Local) -> bool {
        let is_both = self.agreement.confirmed.is_both() && self.goal(local).is_both();
        local.settings.backed && is_both && self.agreement.is_settled()
    }

    /// Requests the target configuration, once it would withdraw no committed entry.
    pub(super) fn reconfigure(&mut self, local: &mut Local) {
        let goal = self.goal(local);
        let is_due = local.now.since(self.agreement.last_put) >= local.settings.retry;
        let has_reason = goal != self.agreement.confirmed || !self.agreement.is_settled();
        if !has_reason || !is_due || !self.is_safe(local, goal) {
            return;
        }
        let expected = self.agreement.revision;
        self.agreement.pending.retain(|asked| *asked != (expected, goal));
        self.agreement.pending.push((expected, goal));
        self.agreement.last_put = local.now;
        let config = Config { epoch: self.epoch, owner: local.me, authority: goal };
        local.ask_config(RegistryOp::Put { expected, config });
    }

    fn is_safe(&self, local: &Local, goal: Authority) -> bool {
        let marks_agree = !local.settings.backed
            || (self.marked >= self.destaged && self.link.marked() >= Some(self.destaged));
        // Earlier owners may have committed all that they left, whatever the mark on flash says.
        let must_keep = self.commit.max(self.recover_to);
        // The backing store may hold entries up to `destage_begun`, so the log of a peer that takes
        // over must reach at least as far.
        let must_have = self.commit.max(self.destage_begun);
        self.rule(local, goal) >= must_keep
            && (!goal.is_both() || (marks_agree && self.link.durable() >= Some(must_have)))
    }
}
