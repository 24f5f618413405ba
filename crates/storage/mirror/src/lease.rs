//! The holder's view of its lease: the revision to renew, and how long it may rely on it.

use units::Nanos;

use crate::settings::MirrorSettings;

/// A request to the registry that has not been answered.
#[derive(Clone, Copy, Debug)]
struct PendingRenewal {
    id: u64,
    at: Nanos,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct HeldLease {
    revision: Option<u64>,
    /// On the local clock.
    good_until: Nanos,
    asked: Option<PendingRenewal>,
    last_id: u64,
}

impl HeldLease {
    /// `true` until the earliest moment at which the registry can have expired it.
    pub(crate) fn is_held(&self, now: Nanos) -> bool {
        self.revision.is_some() && now < self.good_until
    }

    /// The revision to renew or to release.
    pub(crate) fn revision(&self) -> Option<u64> {
        self.revision
    }

    /// Records a request sent at `now`; returns its number.
    pub(crate) fn ask(&mut self, now: Nanos) -> u64 {
        self.last_id += 1;
        self.asked = Some(PendingRenewal { id: self.last_id, at: now });
        self.last_id
    }

    /// `true` if no request has been sent for `pause`.
    pub(crate) fn is_due(&self, now: Nanos, pause: Nanos) -> bool {
        self.asked.is_none_or(|asked| now.since(asked.at) >= pause)
    }

    /// `true` if request `id` is the last one.
    pub(crate) fn awaits(&self, id: u64) -> bool {
        self.asked.is_some_and(|asked| asked.id == id)
    }

    /// The registry granted request `id`. Only the last request counts: its time is known.
    pub(crate) fn granted(&mut self, id: u64, revision: u64, settings: &MirrorSettings) {
        if let Some(asked) = self.asked.filter(|asked| asked.id == id) {
            self.revision = Some(revision);
            self.good_until = self.good_until.max(asked.at + settings.lease_span());
        }
    }

    /// Corrects the revision after a lost reply: the registry names this node as holder at
    /// `revision`. Extends nothing.
    pub(crate) fn correct(&mut self, revision: u64) {
        if self.revision.is_some() {
            self.revision = Some(revision);
        }
    }

    /// Drops the lease and the pending answer; returns the revision to release, if any.
    pub(crate) fn drop_it(&mut self) -> Option<u64> {
        self.asked = None;
        self.good_until = Nanos::ZERO;
        self.revision.take()
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::HeldLease;
    use crate::settings::MirrorSettings;

    #[test]
    fn a_lease_counts_from_the_sending_of_its_request() {
        let settings = MirrorSettings { clock_drift_ppm: 0, ..MirrorSettings::default() };
        let mut lease = HeldLease::default();
        let id = lease.ask(Nanos::from_secs(10));
        lease.granted(id, 7, &settings);
        assert!(lease.is_held(Nanos::from_millis(13_999)) && !lease.is_held(Nanos::from_secs(14)));
    }

    #[test]
    fn the_answer_to_an_older_request_extends_nothing() {
        let settings = MirrorSettings::default();
        let mut lease = HeldLease::default();
        let old = lease.ask(Nanos::from_secs(1));
        lease.ask(Nanos::from_secs(2));
        lease.granted(old, 7, &settings);
        assert!(!lease.is_held(Nanos::from_secs(2)));
    }
}
