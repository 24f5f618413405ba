//! The protocol of flash as storage as a specification: small, and searched completely.
//!
//! Messages are steps that either happen or not, except changes of the configuration, which may
//! arrive at any later time. Clocks are abstracted: a host stops believing in its lease before the
//! registry gives it away.

mod search;
mod steps;

use mirror::{CountedCopies, MirrorHost};

pub(crate) use search::{Explored, Limits, explore};

/// Large enough to reach every externally visible change; searched in a second.
pub(crate) const SMALL: Limits = Limits { epochs: 3, writes: 2, revisions: 5, puts: 2 };

/// An owner's knowledge.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ownership {
    epoch: u8,
    revision: u8,
    view: CountedCopies,
    /// Requested configurations, each with the revision that it replaces.
    pending: Vec<(u8, CountedCopies)>,
    peer: Peer,
    commit: usize,
    recover_to: usize,
}

/// An owner's connection to its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Peer {
    Away,
    Copying,
    /// It has confirmed this many entries.
    Follows(usize),
}

/// One host. Its log and its promise survive a crash.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct HostState {
    log: Vec<u8>,
    promised: u8,
    believes_in_lease: bool,
    owns: Option<Ownership>,
}

/// A change of the configuration on its way to the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Put {
    expected: u8,
    epoch: u8,
    copies: CountedCopies,
}

/// The state of the whole system.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    revision: u8,
    epoch: u8,
    owner: MirrorHost,
    copies: CountedCopies,
    lease: Option<MirrorHost>,
    hosts: [HostState; 2],
    puts: Vec<Put>,
    written: u8,
    acknowledged: Vec<u8>,
}

/// The externally visible part of a state, common to the model and the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Seen {
    pub(crate) owner: MirrorHost,
    pub(crate) copies: CountedCopies,
    pub(crate) serving: Option<MirrorHost>,
    /// Each host's flash holds every acknowledged write.
    pub(crate) holds_all: [bool; 2],
}

pub(crate) fn index(host: MirrorHost) -> usize {
    usize::from(host == MirrorHost::B)
}

impl State {
    pub(crate) fn first() -> Self {
        let host = HostState { log: Vec::new(), promised: 0, believes_in_lease: false, owns: None };
        Self {
            revision: 1,
            epoch: 0,
            owner: MirrorHost::A,
            copies: CountedCopies::Both,
            lease: None,
            hosts: [host.clone(), host],
            puts: Vec::new(),
            written: 0,
            acknowledged: Vec::new(),
        }
    }

    fn serves(&self, host: MirrorHost) -> bool {
        let state = &self.hosts[index(host)];
        let owns = state.owns.as_ref();
        state.believes_in_lease && owns.is_some_and(|owns| owns.commit >= owns.recover_to)
    }

    fn holds_all(&self, host: MirrorHost) -> bool {
        let log = &self.hosts[index(host)].log;
        self.acknowledged.iter().all(|entry| log.contains(entry))
    }

    pub(crate) fn seen(&self) -> Seen {
        let serving = [MirrorHost::A, MirrorHost::B].into_iter().find(|host| self.serves(*host));
        let holds_all = [self.holds_all(MirrorHost::A), self.holds_all(MirrorHost::B)];
        Seen { owner: self.owner, copies: self.copies, serving, holds_all }
    }

    /// The rule that this state breaks, if any.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let counts = |host: MirrorHost| {
            self.copies == CountedCopies::Both || self.copies == CountedCopies::Only(host)
        };
        let hosts = [MirrorHost::A, MirrorHost::B];
        if hosts.iter().all(|host| self.serves(*host)) {
            return Some("two hosts serve");
        }
        if hosts.iter().any(|host| counts(*host) && !self.holds_all(*host)) {
            return Some("a copy that counts lacks an acknowledged write");
        }
        if hosts.iter().any(|host| self.serves(*host) && !self.holds_all(*host)) {
            return Some("a host serves without an acknowledged write");
        }
        None
    }
}
