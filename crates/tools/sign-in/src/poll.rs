//! Schedules the polls for whether a device code was used (RFC 8628, 3.5).

use std::time::Duration;

use crate::grant::{Grant, OAuthRefusal, TokenAnswer};

/// Each `slow_down` adds this to the interval, permanently.
const SLOWER: Duration = Duration::from_secs(5);
/// The interval if the provider states none.
pub(crate) const USUAL_INTERVAL: Duration = Duration::from_secs(5);
/// The longest interval, however often the network fails.
const LONGEST_INTERVAL: Duration = Duration::from_mins(2);

/// Result of one poll.
#[derive(Debug)]
pub(crate) enum PollOutcome {
    /// The provider answered.
    Answered(TokenAnswer),
    /// No response, or a server failure.
    Failed,
}

/// What to do after a poll.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PollStep {
    /// Poll again after this time.
    Wait(Duration),
    Done(Grant),
    Refused(OAuthRefusal),
    /// The response is unusable, for this reason.
    Unclear(&'static str),
    /// The code has expired.
    TooLate,
}

/// Pace and deadline of polling.
#[derive(Debug)]
pub(crate) struct Poll {
    interval: Duration,
    /// Expiry of the code on the monotonic clock.
    end: Duration,
}

impl Poll {
    pub(crate) const fn new(interval: Duration, end: Duration) -> Self {
        Self { interval, end }
    }

    pub(crate) const fn interval(&self) -> Duration {
        self.interval
    }

    /// The next step after `outcome`, received at `now`.
    pub(crate) fn after(&mut self, now: Duration, outcome: PollOutcome) -> PollStep {
        match outcome {
            PollOutcome::Answered(TokenAnswer::Granted(grant)) => return PollStep::Done(grant),
            PollOutcome::Answered(TokenAnswer::Unclear(problem)) => {
                return PollStep::Unclear(problem);
            }
            PollOutcome::Answered(TokenAnswer::Refused(refusal)) => match refusal.code.as_str() {
                "authorization_pending" => {}
                "slow_down" => self.interval += SLOWER,
                "expired_token" => return PollStep::TooLate,
                _ => return PollStep::Refused(refusal),
            },
            PollOutcome::Failed => self.interval = (self.interval * 2).min(LONGEST_INTERVAL),
        }
        if now + self.interval >= self.end {
            return PollStep::TooLate;
        }
        PollStep::Wait(self.interval)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Poll, PollOutcome, PollStep};
    use crate::grant::{OAuthRefusal, TokenAnswer};

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn refused(code: &str) -> PollOutcome {
        PollOutcome::Answered(TokenAnswer::Refused(OAuthRefusal::new(code, "")))
    }

    fn wait(of: u64) -> PollStep {
        PollStep::Wait(seconds(of))
    }

    #[test]
    fn a_pending_sign_in_is_asked_for_at_the_same_pace() {
        let mut poll = Poll::new(seconds(5), seconds(60));
        for now in [5, 10, 54] {
            assert_eq!(poll.after(seconds(now), refused("authorization_pending")), wait(5));
        }
    }

    #[test]
    fn slow_down_is_for_good() {
        let mut poll = Poll::new(seconds(5), seconds(600));
        assert_eq!(poll.after(seconds(5), refused("slow_down")), wait(10));
        assert_eq!(poll.after(seconds(15), refused("authorization_pending")), wait(10));
        assert_eq!(poll.after(seconds(25), refused("slow_down")), wait(15));
    }

    #[test]
    fn failures_double_the_pause_up_to_a_limit() {
        let mut poll = Poll::new(seconds(5), seconds(6000));
        let mut pauses = Vec::new();
        for _ in 0..6 {
            pauses.push(poll.after(seconds(0), PollOutcome::Failed));
        }
        assert_eq!(pauses, [10, 20, 40, 80, 120, 120].map(wait));
    }

    #[test]
    fn a_code_ends_by_the_providers_word_or_by_the_clock() {
        let mut poll = Poll::new(seconds(5), seconds(60));
        assert_eq!(poll.after(seconds(10), refused("expired_token")), PollStep::TooLate);
        let pending = || refused("authorization_pending");
        assert_eq!(poll.after(seconds(54), pending()), wait(5));
        assert_eq!(poll.after(seconds(55), pending()), PollStep::TooLate);
    }

    #[test]
    fn a_no_is_final() {
        let mut poll = Poll::new(seconds(5), seconds(60));
        for code in ["access_denied", "invalid_client", "something_new"] {
            let step = poll.after(seconds(5), refused(code));
            assert_eq!(step, PollStep::Refused(OAuthRefusal::new(code, "")));
        }
        let unclear = PollOutcome::Answered(TokenAnswer::Unclear("no token"));
        assert_eq!(poll.after(seconds(5), unclear), PollStep::Unclear("no token"));
    }
}
