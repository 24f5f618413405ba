//! Times and limits of the protocol.

use units::Nanos;

/// Durations are measured on the host's own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MirrorSettings {
    /// `true` if a backing store lies behind the flash; otherwise flash is the storage.
    pub backed: bool,
    /// Server-side expiry of the lease, counted from its last renewal.
    pub lease_ttl: Nanos,
    /// Bound on how much faster or slower than real time any clock runs, in parts per million.
    pub clock_drift_ppm: u64,
    /// A peer that has confirmed nothing for this long is dropped.
    pub peer_timeout: Nanos,
    /// Pause between attempts to claim, to join, or to change the configuration.
    pub retry: Nanos,
    /// Pause before an unanswered message is resent.
    pub resend: Nanos,
    /// Write-back stops acknowledging once the log is this many entries ahead of destaging.
    pub dirty_limit: u64,
    /// Destage a flush epoch that the guest has left open for this long.
    pub epoch_age: Nanos,
    /// Committed log entries kept to bring a returning peer up to date without a copy.
    pub retained: u64,
    /// Blocks in one message of a resynchronisation or of a warm-up.
    pub batch_blocks: usize,
    /// Pause between two such messages: the throttle.
    pub batch_pause: Nanos,
    /// A hand-over that takes longer is abandoned, and the source continues to serve. Also the time
    /// for which the source does not claim the volume again after it has released it.
    pub hand_over_limit: Nanos,
}

impl Default for MirrorSettings {
    fn default() -> Self {
        Self {
            backed: true,
            lease_ttl: Nanos::from_secs(4),
            clock_drift_ppm: 1_000,
            peer_timeout: Nanos::from_secs(1),
            retry: Nanos::from_millis(300),
            resend: Nanos::from_millis(100),
            dirty_limit: 4_096,
            epoch_age: Nanos::from_secs(1),
            retained: 1_024,
            batch_blocks: 64,
            batch_pause: Nanos::from_millis(50),
            hand_over_limit: Nanos::from_secs(10),
        }
    }
}

impl MirrorSettings {
    /// How long a holder may rely on a lease, on its own clock, from the moment it *sent* the
    /// request. With the slowest local clock and the fastest server clock the drift counts twice.
    pub(crate) fn lease_span(&self) -> Nanos {
        let million = 1_000_000_u128;
        let drift = u128::from(self.clock_drift_ppm).min(million);
        let span = u128::from(self.lease_ttl.0) * (million - drift) / (million + drift);
        Nanos(u64::try_from(span).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::MirrorSettings;

    #[test]
    fn a_lease_is_relied_on_for_less_than_the_server_grants() {
        let drifting = MirrorSettings { clock_drift_ppm: 200_000, ..MirrorSettings::default() };
        assert!(drifting.lease_span() < Nanos::from_millis(2_667));
        let exact = MirrorSettings { clock_drift_ppm: 0, ..MirrorSettings::default() };
        assert_eq!(exact.lease_span(), exact.lease_ttl);
    }
}
