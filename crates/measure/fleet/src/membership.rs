//! Whether a host still answers: alive, suspect, lost, and back again.

use units::Nanos;

use crate::{Heartbeat, Timing};

/// Heartbeats of one agent.
#[derive(Clone, Debug)]
pub(crate) struct Membership {
    /// Time of the last valid heartbeat.
    pub(crate) heard: Nanos,
    started: Nanos,
    sequence: u64,
    presence: Presence,
}

/// State of a host according to its last heartbeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Alive,
    Suspect,
    Lost,
}

/// What a heartbeat changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeardBeat {
    /// It is older than the last one, or a repeat of it.
    OutOfOrder,
    /// The host answers as before.
    Alive,
    /// The host had been lost.
    Back,
    /// The agent was restarted.
    Restarted,
}

impl Membership {
    /// Membership of an agent, starting with its first heartbeat.
    pub(crate) fn begin(beat: &Heartbeat, now: Nanos) -> Self {
        Self {
            heard: now,
            started: Nanos(beat.started_ns),
            sequence: beat.sequence,
            presence: Presence::Alive,
        }
    }

    /// Updates the membership with a heartbeat.
    pub(crate) fn hear(&mut self, beat: &Heartbeat, now: Nanos) -> HeardBeat {
        if !beat.follows(self.started, self.sequence) {
            return HeardBeat::OutOfOrder;
        }
        let is_restarted = beat.started_ns != self.started.0;
        let was_lost = self.presence == Presence::Lost;
        *self = Self::begin(beat, now);
        match (is_restarted, was_lost) {
            (true, _) => HeardBeat::Restarted,
            (false, true) => HeardBeat::Back,
            (false, false) => HeardBeat::Alive,
        }
    }

    /// Judges the silence up to `now`; returns the new presence if it has changed.
    pub(crate) fn judge(&mut self, now: Nanos, timing: &Timing) -> Option<Presence> {
        let silence = now.since(self.heard);
        let presence = if silence >= timing.lost {
            Presence::Lost
        } else if silence >= timing.suspect {
            Presence::Suspect
        } else {
            Presence::Alive
        };
        let has_changed = presence != self.presence;
        self.presence = presence;
        has_changed.then_some(presence)
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::{HeardBeat, Membership, Presence};
    use crate::{Heartbeat, Timing};

    fn beat(started: u64, sequence: u64) -> Heartbeat {
        let agent = "a1".to_owned().try_into().expect("a sound id");
        let (job, load) = (None, None);
        Heartbeat { agent, host: "EX01".to_owned(), sequence, started_ns: started, job, load }
    }

    #[test]
    fn silence_makes_suspect_after_two_seconds_and_lost_after_ten() {
        let timing = Timing::default();
        let mut member = Membership::begin(&beat(1, 1), Nanos::ZERO);
        let seen: Vec<_> = (1..=12)
            .filter_map(|second| {
                let changed = member.judge(Nanos::from_secs(second), &timing);
                changed.map(|presence| (second, presence))
            })
            .collect();
        assert_eq!(seen, [(2, Presence::Suspect), (10, Presence::Lost)]);
        assert_eq!(member.hear(&beat(1, 2), Nanos::from_secs(20)), HeardBeat::Back);
        assert_eq!(member.judge(Nanos::from_secs(21), &timing), None);
    }

    #[test]
    fn a_beat_that_comes_twice_or_late_keeps_no_host_alive() {
        let mut member = Membership::begin(&beat(5, 7), Nanos::ZERO);
        assert_eq!(member.hear(&beat(5, 7), Nanos::from_secs(1)), HeardBeat::OutOfOrder);
        assert_eq!(member.hear(&beat(4, 99), Nanos::from_secs(1)), HeardBeat::OutOfOrder);
        assert_eq!(member.heard, Nanos::ZERO);
        assert_eq!(member.hear(&beat(6, 1), Nanos::from_secs(1)), HeardBeat::Restarted);
    }
}
