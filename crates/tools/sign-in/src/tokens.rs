//! Tokens in memory, and how long they remain valid.

use std::time::Duration;

use crate::grant::Grant;
use crate::secret::Secret;

/// A token is renewed this long before its expiry, so that it does not expire during a request.
const MARGIN: Duration = Duration::from_mins(1);

/// The latest grant. Its expiry is computed from the moment of the request, on the monotonic clock,
/// so that a wrong clock on either side does not matter.
#[derive(Debug)]
pub(crate) struct Tokens {
    pub(crate) access: Secret,
    pub(crate) refresh: Option<Secret>,
    good_until: Duration,
}

impl Tokens {
    /// Stores the grant of a request sent at `asked`.
    pub(crate) fn new(grant: Grant, asked: Duration) -> Self {
        let margin = MARGIN.min(grant.lifetime / 4);
        Self {
            access: grant.access,
            refresh: grant.refresh,
            good_until: asked.saturating_add(grant.lifetime.saturating_sub(margin)),
        }
    }

    /// Stores new tokens; without a new refresh token the old one remains valid.
    pub(crate) fn renew(&mut self, grant: Grant, asked: Duration) {
        let old = self.refresh.take();
        *self = Self::new(grant, asked);
        self.refresh = self.refresh.take().or(old);
    }

    pub(crate) fn is_good(&self, now: Duration) -> bool {
        now < self.good_until
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Tokens;
    use crate::grant::Grant;
    use crate::secret::Secret;

    fn grant(refresh: Option<&str>, lifetime: u64) -> Grant {
        Grant {
            access: Secret::new("a".to_owned()),
            refresh: refresh.map(|text| Secret::new(text.to_owned())),
            lifetime: Duration::from_secs(lifetime),
        }
    }

    #[test]
    fn a_token_is_renewed_before_its_end() {
        let asked = Duration::from_secs(100);
        let last_good = |lifetime| {
            let tokens = Tokens::new(grant(None, lifetime), asked);
            (0..5000).rev().find(|now| tokens.is_good(Duration::from_secs(*now)))
        };
        assert_eq!(last_good(3600), Some(100 + 3540 - 1));
        assert_eq!(last_good(8), Some(100 + 6 - 1));
        assert_eq!(last_good(0), Some(99));
        assert!(Tokens::new(grant(None, u64::MAX), asked).is_good(asked));
    }

    #[test]
    fn a_refresh_token_lasts_until_another_comes() {
        let now = Duration::ZERO;
        let mut tokens = Tokens::new(grant(Some("1"), 9), now);
        tokens.renew(grant(None, 9), now);
        assert_eq!(tokens.refresh.as_ref().map(Secret::reveal), Some("1"));
        tokens.renew(grant(Some("2"), 9), now);
        assert_eq!(tokens.refresh.as_ref().map(Secret::reveal), Some("2"));
    }
}
