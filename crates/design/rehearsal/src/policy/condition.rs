//! The condition of one copy, and which copy of a database is active.

use units::Nanos;

use crate::{Duty, PlayedCopy};

/// Condition of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// It replays with the load; a lagged copy with its delay.
    Healthy,
    /// A lagged copy that replays its backlog, since no other copy is left.
    PlayingDown { until: Nanos },
    /// A lagged copy that has replayed its backlog.
    PlayedDown,
    /// It was offline, and replays faster than the load.
    Behind { until: Nanos },
    /// It is being seeded; a rate of 0 means it has yet to start.
    Empty { until: Nanos, rate: u64 },
    /// Its host is down; its bytes may be lost.
    Away { since: Nanos, is_lost: bool },
}

impl Condition {
    /// A lagged copy that replays `lag` of log starting at `now`, `catch_up` times as fast as users
    /// generated it.
    pub(super) fn playing_down(lag: Nanos, catch_up: f64, now: Nanos) -> Self {
        if lag == Nanos::ZERO {
            return Self::PlayedDown;
        }
        Self::PlayingDown { until: now + seconds(lag.as_secs_f64() / catch_up) }
    }

    /// A copy that must be seeded, at a rate not yet known.
    const EMPTY: Self = Self::Empty { until: Nanos::ZERO, rate: 0 };

    /// When it changes by itself.
    pub(super) const fn until(self) -> Option<Nanos> {
        match self {
            Self::PlayingDown { until } | Self::Behind { until } | Self::Empty { until, .. } => {
                Some(until)
            }
            Self::Healthy | Self::PlayedDown | Self::Away { .. } => None,
        }
    }

    /// The duty of a copy that is neither active nor being seeded.
    pub(super) const fn duty(self) -> Duty {
        match self {
            Self::Healthy | Self::PlayedDown => Duty::Replaying,
            Self::PlayingDown { .. } | Self::Behind { .. } => Duty::CatchingUp,
            Self::Empty { .. } | Self::Away { .. } => Duty::Idle,
        }
    }

    /// Returns the condition at `now`, given the previous one.
    pub(super) fn next(
        self,
        (is_up, is_lost, is_emptied): (bool, bool, bool),
        catch_up: f64,
        now: Nanos,
    ) -> Self {
        match self {
            Self::Away { since, is_lost: was } if !is_up => {
                Self::Away { since, is_lost: was || is_lost }
            }
            _ if !is_up => {
                let was_empty = matches!(self, Self::Empty { .. });
                Self::Away { since: now, is_lost: was_empty || is_lost || is_emptied }
            }
            _ if is_emptied => Self::EMPTY,
            Self::Away { is_lost: true, .. } => Self::EMPTY,
            Self::Away { since, .. } => {
                let behind = now.since(since).as_secs_f64() / (catch_up - 1.0);
                Self::Behind { until: now + seconds(behind) }
            }
            Self::PlayingDown { until } if until <= now => Self::PlayedDown,
            Self::Behind { until } | Self::Empty { until, .. } if until <= now => Self::Healthy,
            same => same,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "spans of a simulation are positive and below centuries"
)]
pub(super) fn seconds(of: f64) -> Nanos {
    Nanos((of * 1e9) as u64)
}

/// Whether users can work on a copy immediately: a lagged one must first replay its backlog.
fn is_current(copy: &PlayedCopy, condition: Condition) -> bool {
    condition == Condition::PlayedDown || condition == Condition::Healthy && !copy.is_lagged
}

/// Whether users can work on some remaining copy, or will on a lagged one that is replaying its
/// backlog.
pub(super) fn is_served_without_lag(copies: &[PlayedCopy], conditions: &[Condition]) -> bool {
    copies.iter().zip(conditions).any(|(copy, &condition)| {
        is_current(copy, condition)
            || matches!(condition, Condition::PlayingDown { .. })
            || !copy.is_lagged && matches!(condition, Condition::Behind { .. })
    })
}

/// Returns the active copy: the previous one while it is healthy, then the first by preference,
/// lagged ones last. One that is behind is mounted only if no other is left.
pub(super) fn activated(
    before: Option<usize>,
    copies: &[PlayedCopy],
    conditions: &[Condition],
) -> Option<usize> {
    if let Some(same) = before.filter(|&at| is_current(&copies[at], conditions[at])) {
        return Some(same);
    }
    let (lagged, prompt): (Vec<usize>, Vec<usize>) =
        (0..copies.len()).partition(|&at| copies[at].is_lagged);
    let all = || prompt.iter().chain(&lagged);
    let healthy = all().find(|&&at| is_current(&copies[at], conditions[at]));
    let readable = prompt.iter().find(|&&at| matches!(conditions[at], Condition::Behind { .. }));
    healthy.or(readable).copied()
}
