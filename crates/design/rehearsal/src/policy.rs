//! Effect of occurrences on loads: which hosts are up, which copy of each database is active, and
//! what every other copy does. A pure function of layout and occurrences, independent of
//! performance.

mod condition;
mod seeding;

use std::collections::BTreeSet;

use provision::layout::{Quorum, Witness, quorum_of};
use units::Nanos;

use crate::{Happening, Occurrence, PlayedCopy, PlayedDeployment};
use condition::{Condition, activated, is_served_without_lag};

/// What a copy does in a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// Users work on it.
    Active,
    /// It receives log and replays it as fast as the load generates it.
    Replaying,
    /// It was offline, and replays faster than the load.
    CatchingUp,
    /// It is being copied whole from the active copy with this number, then replays.
    Seeding {
        /// Number of the active copy among those of the database.
        source: usize,
        /// Bytes per second.
        rate: u64,
    },
    /// Nothing: its host is down, or its database is not active anywhere.
    Idle,
}

impl Duty {
    /// Source and bytes per second of a copy that is being seeded.
    pub(crate) fn seeding(self) -> Option<(usize, f64)> {
        match self {
            Self::Seeding { source, rate } => Some((source, rate as f64)),
            Self::Active | Self::Replaying | Self::CatchingUp | Self::Idle => None,
        }
    }
}

/// A span in which no copy changes its duty.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// Its beginning.
    pub from: Nanos,
    /// Its end.
    pub to: Nanos,
    /// Numbers of the occurrences that start with it.
    pub begun: Vec<usize>,
    /// Whether each host is up.
    pub up: Vec<bool>,
    /// The duty of every copy, by database.
    pub duties: Vec<Vec<Duty>>,
    /// Redundant arrays in which a drive fails at its start.
    pub failed_drives: Vec<usize>,
}

impl Stretch {
    /// Databases that are active nowhere.
    pub fn inactive(&self) -> usize {
        self.duties.iter().filter(|copies| !copies.contains(&Duty::Active)).count()
    }

    /// Whether every copy of every database is active or replays at the pace of the load.
    pub(crate) fn is_redundant(&self) -> bool {
        let mut all = self.duties.iter().flatten();
        all.all(|duty| matches!(duty, Duty::Active | Duty::Replaying))
    }
}

/// The longest continuous time in `stretches` that a database had no active copy; zero if every one
/// always had.
pub fn longest_interruption(stretches: &[Stretch]) -> Nanos {
    let databases = stretches.first().map_or(0, |stretch| stretch.duties.len());
    (0..databases).map(|number| longest_of(stretches, number)).max().unwrap_or(Nanos::ZERO)
}

/// The longest continuous time that database `number` had no active copy.
fn longest_of(stretches: &[Stretch], number: usize) -> Nanos {
    let (mut longest, mut since) = (Nanos::ZERO, None);
    for stretch in stretches {
        if stretch.duties[number].contains(&Duty::Active) {
            since = None;
            continue;
        }
        let from = *since.get_or_insert(stretch.from);
        longest = longest.max(stretch.to.since(from));
    }
    longest
}

/// Returns the stretches that `occurrences` divide `length` into.
pub fn timeline(
    deployment: &PlayedDeployment,
    occurrences: &[Occurrence],
    length: Nanos,
) -> Vec<Stretch> {
    let mut state = TimelineState::new(deployment, occurrences);
    let mut moments: BTreeSet<Nanos> = BTreeSet::from([Nanos::ZERO]);
    moments.extend(occurrences.iter().flat_map(|of| [Some(of.at), of.until]).flatten());
    let mut stretches: Vec<Stretch> = Vec::new();
    while let Some(now) = moments.pop_first().filter(|now| *now < length) {
        moments.extend(state.advance(now));
        let stretch = state.stretch(now, length);
        if let Some(last) = stretches.last_mut() {
            last.to = now;
        }
        stretches.push(stretch);
    }
    stretches
}

struct TimelineState<'a> {
    deployment: &'a PlayedDeployment,
    occurrences: &'a [Occurrence],
    conditions: Vec<Vec<Condition>>,
    active: Vec<Option<usize>>,
    up: Vec<bool>,
    /// When each group lost quorum, if it did.
    stopped: Vec<Option<Nanos>>,
    /// Whether each group lacks quorum and an administrator has not restored it.
    is_stopped: Vec<bool>,
}

impl<'a> TimelineState<'a> {
    fn new(deployment: &'a PlayedDeployment, occurrences: &'a [Occurrence]) -> Self {
        let databases = deployment.databases.iter();
        let groups = deployment.hosts.iter().map(|host| host.group + 1).max().unwrap_or(0);
        Self {
            deployment,
            occurrences,
            conditions: databases.map(|of| vec![Condition::Healthy; of.copies.len()]).collect(),
            active: vec![Some(0); deployment.databases.len()],
            up: vec![true; deployment.hosts.len()],
            stopped: vec![None; groups],
            is_stopped: vec![false; groups],
        }
    }

    /// Advances to `now`; returns the moments of further changes.
    fn advance(&mut self, now: Nanos) -> Vec<Nanos> {
        let lasting: Vec<&Occurrence> =
            self.occurrences.iter().filter(|of| of.lasts_at(now)).collect();
        self.up = up(self.deployment, &lasting);
        let mut more = self.judge_quorum(now, &lasting);
        self.judge_copies(now, &lasting);
        let is_failback =
            lasting.iter().any(|of| of.at == now && matches!(of.what, Happening::Failback));
        let take_over: Vec<(usize, usize)> =
            lasting.iter().filter(|of| of.at == now).flat_map(|of| of.take_over.clone()).collect();
        self.play_down(now);
        self.activate(is_failback, &take_over);
        seeding::begin(self.deployment, (&mut self.conditions, &self.active), &lasting, now);
        more.extend(self.conditions.iter().flatten().filter_map(|of| of.until()));
        more.retain(|at| *at > now);
        more
    }

    fn judge_copies(&mut self, now: Nanos, lasting: &[&Occurrence]) {
        for (number, database) in self.deployment.databases.iter().enumerate() {
            for (at, copy) in database.copies.iter().enumerate() {
                let condition = &mut self.conditions[number][at];
                let is_lost = is_lost(copy, lasting);
                let of = ((number, at), copy);
                let is_empty = is_emptied(self.deployment, of, lasting, now);
                let host = (self.up[copy.host], is_lost, is_empty);
                *condition = condition.next(host, self.deployment.rules.catch_up, now);
            }
        }
    }

    /// Starts the backlog replay of lagged copies whose database has no other copy left.
    fn play_down(&mut self, now: Nanos) {
        let rules = &self.deployment.rules;
        if !rules.activates_lagged {
            return;
        }
        let databases = self.deployment.databases.iter().zip(&mut self.conditions);
        for (database, conditions) in databases {
            if is_served_without_lag(&database.copies, conditions) {
                continue;
            }
            let lagged = (0..conditions.len()).filter(|&at| database.copies[at].is_lagged);
            let first = { lagged }.find(|&at| conditions[at] == Condition::Healthy);
            if let Some(first) = first {
                conditions[first] = Condition::playing_down(rules.lag, rules.catch_up, now);
            }
        }
    }

    /// Records which groups have no quorum; returns the times at which an administrator restores
    /// them.
    fn judge_quorum(&mut self, now: Nanos, lasting: &[&Occurrence]) -> Vec<Nanos> {
        let mut more = Vec::new();
        let by_hand = self.deployment.rules.by_hand;
        for group in 0..self.stopped.len() {
            let since = self.stopped[group].unwrap_or(now);
            let (is_stopped, since) = match quorum(self.deployment, group, &self.up, lasting) {
                Quorum::Kept => (false, None),
                Quorum::Restorable => (now < since + by_hand, Some(since)),
                Quorum::Lost => (true, Some(since)),
            };
            more.extend(since.map(|since| since + by_hand));
            (self.is_stopped[group], self.stopped[group]) = (is_stopped, since);
        }
        more
    }

    fn activate(&mut self, is_failback: bool, take_over: &[(usize, usize)]) {
        for (number, database) in self.deployment.databases.iter().enumerate() {
            let first = database.copies.first().map_or(0, |copy| copy.host);
            let named = take_over.iter().find(|(of, _)| *of == number).map(|(_, copy)| *copy);
            let before = named.or(self.active[number].filter(|_| !is_failback));
            self.active[number] = if self.is_stopped[self.deployment.hosts[first].group] {
                None
            } else {
                activated(before, &database.copies, &self.conditions[number])
            };
        }
    }

    fn stretch(&self, now: Nanos, to: Nanos) -> Stretch {
        let begun: Vec<usize> =
            (0..self.occurrences.len()).filter(|&of| self.occurrences[of].at == now).collect();
        let failed = begun.iter().filter_map(|&of| match self.occurrences[of].what {
            Happening::DiskFailed { array } => Some(array),
            _ => None,
        });
        let arrays = &self.deployment.arrays;
        Stretch {
            from: now,
            to,
            failed_drives: failed.filter(|&array| arrays[array].survives_a_drive()).collect(),
            begun,
            up: self.up.clone(),
            duties: (0..self.active.len()).map(|number| self.duties(number)).collect(),
        }
    }

    fn duties(&self, number: usize) -> Vec<Duty> {
        let Some(source) = self.active[number] else {
            let plays_down = |of: &Condition| matches!(of, Condition::PlayingDown { .. });
            let duty = |of| if plays_down(of) { Duty::CatchingUp } else { Duty::Idle };
            return self.conditions[number].iter().map(duty).collect();
        };
        self.conditions[number]
            .iter()
            .enumerate()
            .map(|(at, condition)| match condition {
                _ if at == source => Duty::Active,
                Condition::Empty { rate, .. } => Duty::Seeding { source, rate: *rate },
                other => other.duty(),
            })
            .collect()
    }
}

/// The hosts that are up while `lasting` last: a site that the link cuts off without a majority of
/// votes stops.
fn up(deployment: &PlayedDeployment, lasting: &[&Occurrence]) -> Vec<bool> {
    let mut up: Vec<bool> = deployment
        .hosts
        .iter()
        .enumerate()
        .map(|(number, host)| !is_down(lasting, number, host.site))
        .collect();
    let Some(witness) = deployment.rules.witness else {
        return up;
    };
    if !lasting.iter().any(|of| of.what == Happening::LinkCut) {
        return up;
    }
    let groups: BTreeSet<usize> = deployment.hosts.iter().map(|host| host.group).collect();
    for group in groups {
        let left = surviving_site(deployment, group, &up, witness);
        for (host, is_up) in deployment.hosts.iter().zip(&mut up) {
            *is_up &= host.group != group || left == Some(host.site);
        }
    }
    up
}

fn is_down(lasting: &[&Occurrence], number: usize, site: usize) -> bool {
    lasting.iter().any(|of| match of.what {
        Happening::HostLost { host }
        | Happening::HostReplaced { host }
        | Happening::Maintenance { host } => host == number,
        Happening::SiteLost { site: of } => of == site,
        Happening::DiskFailed { .. }
        | Happening::Reseed { .. }
        | Happening::LinkCut
        | Happening::Failback => false,
    })
}

/// The site that continues when the link is cut; the first if a witness in a third site permits
/// either.
fn surviving_site(
    deployment: &PlayedDeployment,
    group: usize,
    up: &[bool],
    witness: Witness,
) -> Option<usize> {
    (0..2).find(|&site| {
        let sees = witness.site().is_none_or(|of| of == site);
        let own: Vec<bool> =
            up.iter().zip(&deployment.hosts).map(|(up, host)| *up && host.site == site).collect();
        members_quorum(deployment, group, &own, (witness, sees)) == Quorum::Kept
    })
}

fn quorum(
    deployment: &PlayedDeployment,
    group: usize,
    up: &[bool],
    lasting: &[&Occurrence],
) -> Quorum {
    let Some(witness) = deployment.rules.witness else {
        return Quorum::Kept;
    };
    let is_left = witness.site().is_none_or(|of| {
        !lasting.iter().any(|one| matches!(one.what, Happening::SiteLost { site } if site == of))
    });
    members_quorum(deployment, group, up, (witness, is_left))
}

fn members_quorum(
    deployment: &PlayedDeployment,
    group: usize,
    up: &[bool],
    (witness, witness_is_up): (Witness, bool),
) -> Quorum {
    let members = deployment.hosts.iter().zip(up).filter(|(host, _)| host.group == group);
    let (sites, up): (Vec<usize>, Vec<bool>) = members.map(|(host, up)| (host.site, *up)).unzip();
    quorum_of(&sites, &up, witness, witness_is_up)
}

fn is_lost(copy: &PlayedCopy, lasting: &[&Occurrence]) -> bool {
    lasting
        .iter()
        .any(|of| matches!(of.what, Happening::HostReplaced { host } if host == copy.host))
}

/// Whether a drive without redundancy fails under a copy at `now`, or the copy is reseeded.
fn is_emptied(
    deployment: &PlayedDeployment,
    (number, copy): ((usize, usize), &PlayedCopy),
    lasting: &[&Occurrence],
    now: Nanos,
) -> bool {
    lasting.iter().filter(|of| of.at == now).any(|of| match of.what {
        Happening::DiskFailed { array } => {
            [copy.place.array, copy.log.array].contains(&array)
                && !deployment.arrays[array].survives_a_drive()
        }
        Happening::Reseed { database, copy, .. } => (database, copy) == number,
        _ => false,
    })
}

#[cfg(test)]
mod tests;
