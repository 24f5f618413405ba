//! Breadth-first search over all states within limits.

use std::collections::{HashSet, VecDeque};

use super::{Seen, State};

/// Bounds that make the state space finite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) epochs: u8,
    pub(crate) writes: u8,
    pub(crate) revisions: u8,
    /// Maximum number of configuration changes in flight.
    pub(crate) puts: usize,
}

/// Result of a search.
#[derive(Clone, Debug)]
pub(crate) struct Explored {
    pub(crate) states: usize,
    /// Every externally visible change.
    pub(crate) transitions: HashSet<(Seen, Seen)>,
    pub(crate) fault: Option<(&'static str, State)>,
}

impl Explored {
    /// `true` if the specification gets from `before` to `after` in one or two visible changes.
    pub(crate) fn allows(&self, before: Seen, after: Seen) -> bool {
        let one = |from: Seen, to: Seen| from == to || self.transitions.contains(&(from, to));
        let between = self.transitions.iter().filter(|(from, _)| *from == before);
        one(before, after) || between.into_iter().any(|(_, middle)| one(*middle, after))
    }
}

/// Visits every state within `limits`, up to the first fault.
pub(crate) fn explore(limits: &Limits) -> Explored {
    let first = State::first();
    let mut found = HashSet::from([first.clone()]);
    let mut waiting = VecDeque::from([first]);
    let mut transitions = HashSet::new();
    while let Some(state) = waiting.pop_front() {
        for next in state.next(limits) {
            let (before, after) = (state.seen(), next.seen());
            if before != after {
                transitions.insert((before, after));
            }
            if let Some(fault) = next.fault() {
                return Explored { states: found.len(), transitions, fault: Some((fault, next)) };
            }
            if found.insert(next.clone()) {
                waiting.push_back(next);
            }
        }
    }
    Explored { states: found.len(), transitions, fault: None }
}
