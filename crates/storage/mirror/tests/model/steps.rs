//! Every step that the specification allows.

use mirror::{CountedCopies, MirrorHost};

use super::search::Limits;
use super::{Ownership, Peer, Put, State, index};

impl State {
    /// All states one step away.
    pub(crate) fn next(&self, limits: &Limits) -> Vec<Self> {
        let mut next = Vec::new();
        for host in [MirrorHost::A, MirrorHost::B] {
            next.extend(self.lease_steps(host));
            next.extend(self.claim(host, limits));
            next.extend(self.crash(host));
            next.extend(self.owner_steps(host, limits));
        }
        next.extend((0..self.puts.len()).map(|at| self.put_arrives(at)));
        next
    }

    fn changed(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut after = self.clone();
        change(&mut after);
        after
    }

    fn lease_steps(&self, host: MirrorHost) -> Vec<Self> {
        let mut steps = Vec::new();
        if self.lease.is_none() {
            steps.push(self.changed(|after| {
                after.lease = Some(host);
                after.hosts[index(host)].believes_in_lease = true;
            }));
        }
        if self.lease == Some(host) {
            // The holder stops first, and owns nothing from then on: a lease that it gets later
            // must not revive an ownership that another host has ended meanwhile.
            steps.push(self.changed(|after| {
                after.hosts[index(host)].believes_in_lease = false;
                after.hosts[index(host)].owns = None;
            }));
            if !self.hosts[index(host)].believes_in_lease {
                steps.push(self.changed(|after| after.lease = None));
            }
        }
        steps
    }

    fn claim(&self, host: MirrorHost, limits: &Limits) -> Option<Self> {
        let admits = self.copies == CountedCopies::Both || self.copies == CountedCopies::Only(host);
        let believes = self.hosts[index(host)].believes_in_lease;
        (admits && believes && self.epoch < limits.epochs).then(|| {
            self.changed(|after| {
                after.epoch += 1;
                after.revision += 1;
                after.owner = host;
                let (epoch, revision, view) = (after.epoch, after.revision, after.copies);
                let state = &mut after.hosts[index(host)];
                state.promised = epoch;
                state.owns = Some(Ownership {
                    epoch,
                    revision,
                    view,
                    pending: Vec::new(),
                    peer: Peer::Away,
                    commit: 0,
                    recover_to: state.log.len(),
                });
            })
        })
    }

    fn crash(&self, host: MirrorHost) -> Option<Self> {
        let is_up = self.hosts[index(host)].owns.is_some();
        is_up.then(|| {
            self.changed(|after| {
                let state = &mut after.hosts[index(host)];
                state.owns = None;
                state.believes_in_lease = false;
            })
        })
    }

    fn put_arrives(&self, at: usize) -> Self {
        let put = self.puts[at];
        self.changed(|after| {
            after.puts.remove(at);
            if put.expected == after.revision {
                after.revision += 1;
                after.copies = put.copies;
            }
        })
    }

    fn owner_steps(&self, host: MirrorHost, limits: &Limits) -> Vec<Self> {
        let Some(owns) = &self.hosts[index(host)].owns else { return Vec::new() };
        let mut steps = vec![self.learn(host)];
        steps.extend(self.attach(host, owns));
        steps.extend(self.follow(host, owns));
        steps.push(self.owner_changed(host, |owns| owns.peer = Peer::Away));
        steps.extend(self.write(host, limits));
        steps.push(self.commit(host, owns));
        let wanted = [CountedCopies::Both, CountedCopies::Only(host)];
        steps.extend(wanted.into_iter().filter_map(|copies| self.ask(host, owns, copies, limits)));
        steps
    }

    fn owner_changed(&self, host: MirrorHost, change: impl FnOnce(&mut Ownership)) -> Self {
        self.changed(|after| {
            if let Some(owns) = &mut after.hosts[index(host)].owns {
                change(owns);
            }
        })
    }

    /// The owner reads the configuration.
    fn learn(&self, host: MirrorHost) -> Self {
        let (epoch, revision, copies) = (self.epoch, self.revision, self.copies);
        self.changed(|after| {
            let state = &mut after.hosts[index(host)];
            state.owns = state.owns.take().filter(|owns| owns.epoch == epoch);
            if let Some(owns) = &mut state.owns {
                (owns.revision, owns.view) = (revision, copies);
                owns.pending.retain(|(expected, _)| *expected >= revision);
            }
        })
    }

    fn possible(owns: &Ownership) -> impl Iterator<Item = CountedCopies> + '_ {
        std::iter::once(owns.view).chain(owns.pending.iter().map(|(_, copies)| *copies))
    }

    /// The peer promises the epoch; a counted copy is matched in one step, any other is only begun.
    fn attach(&self, host: MirrorHost, owns: &Ownership) -> Option<Self> {
        let peer = index(host.other());
        let is_free = owns.peer == Peer::Away && self.hosts[peer].promised <= owns.epoch;
        let counts = Self::possible(owns).any(|copies| copies == CountedCopies::Both);
        let (epoch, log) = (owns.epoch, self.hosts[index(host)].log.clone());
        is_free.then(|| {
            let state = if counts { Peer::Follows(log.len()) } else { Peer::Copying };
            let mut after = self.owner_changed(host, |owns| owns.peer = state);
            after.hosts[peer].promised = epoch;
            after.hosts[peer].owns = None;
            after.hosts[peer].log = if counts { log } else { Vec::new() };
            after
        })
    }

    /// The peer copies the missing log entries and confirms them.
    fn follow(&self, host: MirrorHost, owns: &Ownership) -> Option<Self> {
        let peer = index(host.other());
        let follows = owns.peer != Peer::Away && self.hosts[peer].promised == owns.epoch;
        let log = &self.hosts[index(host)].log;
        follows.then(|| {
            let mut after = self.owner_changed(host, |owns| owns.peer = Peer::Follows(log.len()));
            after.hosts[peer].log.clone_from(log);
            after
        })
    }

    fn write(&self, host: MirrorHost, limits: &Limits) -> Option<Self> {
        (self.serves(host) && self.written < limits.writes).then(|| {
            self.changed(|after| {
                after.written += 1;
                let entry = after.written;
                after.hosts[index(host)].log.push(entry);
            })
        })
    }

    fn rule(&self, host: MirrorHost, owns: &Ownership, copies: CountedCopies) -> usize {
        let own = self.hosts[index(host)].log.len();
        match (copies, owns.peer) {
            (CountedCopies::Only(one), _) if one == host => own,
            (CountedCopies::Both, Peer::Follows(confirmed)) => own.min(confirmed),
            _ => owns.commit,
        }
    }

    /// Commits what every configuration that may be in force allows, and acknowledges it.
    fn commit(&self, host: MirrorHost, owns: &Ownership) -> Self {
        let rules = Self::possible(owns).map(|copies| self.rule(host, owns, copies));
        let commit = owns.commit.max(rules.min().unwrap_or(0));
        let mut after = self.owner_changed(host, |owns| owns.commit = commit);
        if after.serves(host) {
            let entries = after.hosts[index(host)].log[..commit].to_vec();
            after.acknowledged.extend(entries);
            after.acknowledged.sort_unstable();
            after.acknowledged.dedup();
        }
        after
    }

    /// Requests another configuration, if it would withdraw no committed entry.
    fn ask(
        &self,
        host: MirrorHost,
        owns: &Ownership,
        copies: CountedCopies,
        limits: &Limits,
    ) -> Option<Self> {
        let complete = matches!(owns.peer, Peer::Follows(confirmed) if confirmed >= owns.commit);
        let is_safe = self.rule(host, owns, copies) >= owns.commit;
        let is_safe = is_safe && (copies == CountedCopies::Only(host) || complete);
        let has_room = self.puts.len() < limits.puts && self.revision < limits.revisions;
        let put = Put { expected: owns.revision, epoch: owns.epoch, copies };
        (is_safe && has_room && copies != owns.view).then(|| {
            let asked = (put.expected, copies);
            let mut after = self.owner_changed(host, |owns| {
                owns.pending.retain(|pending| *pending != asked);
                owns.pending.push(asked);
                owns.pending.sort_unstable_by_key(|(expected, copies)| {
                    (*expected, *copies == CountedCopies::Both)
                });
            });
            after.puts.push(put);
            after.puts.sort_unstable_by_key(|put| {
                (put.epoch, put.expected, put.copies == CountedCopies::Both)
            });
            after
        })
    }
}
