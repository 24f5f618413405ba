//! The rules in force, their counts, and requests that wait until the rules change.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::rule::{Access, Fault, FileKind, Rule};

/// A rule in force.
struct Active {
    rule: Rule,
    seen: u64,
    injected: u64,
    /// When the first fault was injected.
    first: Option<Instant>,
    /// When the last queued request will have been served.
    served: Option<Instant>,
}

impl Active {
    const fn new(rule: Rule) -> Self {
        Self { rule, seen: 0, injected: 0, first: None, served: None }
    }
}

struct SwitchState {
    rules: Vec<Active>,
    set: Instant,
    /// Incremented whenever the rules change.
    version: u64,
    injected: u64,
    flushes: u64,
}

/// Decides the fate of requests; see the module.
pub(super) struct Switch {
    state: Mutex<SwitchState>,
    changed: Condvar,
}

/// How long a request waits, and its fate after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reaction {
    pub wait: Wait,
    /// The fault to inject; `None` if the request is carried out.
    pub fault: Option<Fault>,
}

/// How long a request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Not at all.
    No,
    /// This long, even if the rules change.
    For(Duration),
    /// Until the rules of this version have changed.
    WhileVersion(u64),
}

const PASS: Reaction = Reaction { wait: Wait::No, fault: None };

impl Switch {
    /// No rules.
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(SwitchState {
                rules: Vec::new(),
                set: Instant::now(),
                version: 0,
                injected: 0,
                flushes: 0,
            }),
            changed: Condvar::new(),
        }
    }

    /// Replaces all rules; hung requests continue.
    pub(super) fn set(&self, rules: Vec<Rule>) {
        let mut state = self.lock();
        state.rules = rules.into_iter().map(Active::new).collect();
        state.set = Instant::now();
        state.version += 1;
        self.changed.notify_all();
    }

    /// Number of faults injected so far.
    pub(super) fn injected(&self) -> u64 {
        self.lock().injected
    }

    /// Flushes received so far, including ignored ones.
    pub(super) fn flushes(&self) -> u64 {
        self.lock().flushes
    }

    /// Decides the fate of a request.
    pub(super) fn decide(&self, kind: Option<FileKind>, access: Access) -> Reaction {
        let now = Instant::now();
        let state = &mut *self.lock();
        if access == Access::Flush {
            state.flushes += 1;
        }
        let since = now.saturating_duration_since(state.set);
        let rules = state.rules.iter_mut();
        let mut matching = rules.filter(|active| active.is_about(kind, access, since));
        let Some(active) = matching.find_map(Active::counted) else {
            return PASS;
        };
        active.injected += 1;
        state.injected += 1;
        let first = *active.first.get_or_insert(now);
        match active.rule.fault {
            Fault::Delay(time) => waiting(Wait::For(time)),
            Fault::Rate(per_second) => {
                let begin = active.served.map_or(now, |served| served.max(now));
                let end = begin + Duration::from_secs(1) / per_second;
                active.served = Some(end);
                waiting(Wait::For(end.saturating_duration_since(now)))
            }
            Fault::Cache(held, per_second) => {
                let each = Duration::from_secs(1) / per_second;
                let begin = active.served.map_or(now, |served| served.max(now));
                let drained = begin + each;
                active.served = Some(drained);
                let ahead = drained.saturating_duration_since(now);
                waiting(Wait::For(ahead.saturating_sub(each * held)))
            }
            Fault::Freeze(time) => {
                let end = first + time;
                waiting(Wait::For(end.saturating_duration_since(now)))
            }
            Fault::Hang => waiting(Wait::WhileVersion(state.version)),
            fault => Reaction { wait: Wait::No, fault: Some(fault) },
        }
    }

    /// Waits until the rules have changed since `version`.
    pub(super) fn wait_while(&self, version: u64) {
        let state = self.lock();
        drop(self.changed.wait_while(state, |state| state.version == version));
    }

    fn lock(&self) -> MutexGuard<'_, SwitchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const fn waiting(wait: Wait) -> Reaction {
    Reaction { wait, fault: None }
}

impl Active {
    /// Whether the rule is in force and applies to such requests.
    fn is_about(&self, kind: Option<FileKind>, access: Access, since: Duration) -> bool {
        since >= self.rule.after && self.rule.matches(kind, access)
    }

    /// Counts a request; returns the rule if a fault is due.
    fn counted(&mut self) -> Option<&mut Self> {
        self.seen += 1;
        let due = self.seen > self.rule.from && self.injected < self.rule.requests;
        due.then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Access, Fault, FileKind, PASS, Switch, Wait};

    fn switch(rule: &str) -> Switch {
        let switch = Switch::new();
        switch.set(vec![rule.parse().unwrap()]);
        switch
    }

    #[test]
    fn a_rule_begins_and_ends_where_it_says() {
        let switch = switch("log write drop from=2 requests=1");
        let faults = (0..5).map(|_| switch.decide(Some(FileKind::Log), Access::Write).fault);
        let faults: Vec<_> = faults.collect();
        assert_eq!(faults, [None, None, Some(Fault::Drop), None, None]);
        assert_eq!(switch.injected(), 1);
        let later = super::Switch::new();
        later.set(vec!["any any drop after=1000s".parse().unwrap()]);
        assert_eq!(later.decide(None, Access::Read), PASS);
    }

    #[test]
    fn other_files_and_requests_pass() {
        let switch = switch("log write drop");
        assert_eq!(switch.decide(Some(FileKind::Log), Access::Read), PASS);
        assert_eq!(switch.decide(Some(FileKind::Header), Access::Write), PASS);
        assert_eq!(switch.decide(None, Access::Write), PASS);
    }

    #[test]
    fn a_rate_serves_one_request_after_the_other() {
        let (switch, began) = (switch("database any rate=10"), Instant::now());
        let turn = Duration::from_millis(100);
        for turns in 1..=20 {
            let reaction = switch.decide(Some(FileKind::Database), Access::Read);
            let Wait::For(wait) = reaction.wait else { panic!("{reaction:?}") };
            // However long this loop takes, no request is served before its turn.
            assert!(began.elapsed() + wait >= turn * turns, "{wait:?} for turn {turns}");
            assert!(wait <= turn * turns, "{wait:?} for turn {turns}");
        }
        assert_eq!(switch.decide(Some(FileKind::Database), Access::Flush), PASS);
        assert_eq!(switch.decide(Some(FileKind::Log), Access::Write), PASS);
    }

    #[test]
    fn a_cache_answers_at_once_until_it_is_full() {
        let (switch, began) = (switch("any write cache=20/10"), Instant::now());
        let each = Duration::from_millis(100);
        for number in 1..=30_u32 {
            let Wait::For(wait) = switch.decide(None, Access::Write).wait else { panic!() };
            let turns = number.saturating_sub(20);
            assert!(wait <= each * turns, "{wait:?} for write {number}");
            assert!(began.elapsed() + wait >= each * turns, "{wait:?} for write {number}");
        }
        assert_eq!(switch.decide(None, Access::Read), PASS);
        assert_eq!(switch.decide(None, Access::Flush), PASS);
    }

    #[test]
    fn a_hang_ends_when_the_rules_change() {
        let switch = switch("any read hang");
        let wait = switch.decide(None, Access::Read).wait;
        let Wait::WhileVersion(version) = wait else { panic!("{wait:?}") };
        switch.set(Vec::new());
        switch.wait_while(version);
    }
}
