//! Every failure of one, two and three servers and of whole sites, simulated on a layout.

use std::collections::BTreeSet;
use std::fmt;

use super::Layout;
use super::quorum::{Quorum, Votes, Witness};

/// What may be activated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    /// Whether a lagged copy takes over if no other is left, as with the Replay Lag Manager.
    pub activate_lagged: bool,
    /// Location of the group's witness; `None` if the servers form no group and thus need no
    /// quorum.
    pub witness: Option<Witness>,
}

/// Parts that fail together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Any set of this many servers.
    Servers(usize),
    /// The witness, and any server.
    WitnessAndServer,
    /// All servers of one failure domain.
    Domain,
    /// The link between two sites; the side that is cut off stops.
    Link,
    /// All servers of one site.
    Site,
    /// All servers of one site, and one of another.
    SiteAndServer,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Servers(0) => write!(f, "normal"),
            Self::Servers(1) => write!(f, "one server failed"),
            Self::Servers(2) => write!(f, "two servers failed"),
            Self::Servers(count) => write!(f, "{count} servers failed"),
            Self::WitnessAndServer => write!(f, "the witness and a server failed"),
            Self::Link => write!(f, "the link between the sites cut"),
            Self::Domain => write!(f, "a failure domain failed"),
            Self::Site => write!(f, "a site failed"),
            Self::SiteAndServer => write!(f, "a site and a server failed"),
        }
    }
}

/// Load on one surviving server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Load {
    /// Its active copies.
    pub active: usize,
    /// Its other copies.
    pub passive: usize,
    /// Its site, counted from 0.
    pub site: usize,
    /// Whether it is reserved for lagged copies.
    pub only_lagged: bool,
}

/// The possible outcomes of one kind of failure, over all ways in which it can happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mode {
    /// What fails.
    pub failure: Failure,
    /// Ways in which it can happen.
    pub cases: usize,
    /// Every load that a survivor carries in some case.
    pub(crate) loads: BTreeSet<Load>,
    /// Maximum number of databases, in one case, that no copy takes over, including those in
    /// `lost`.
    pub not_active: usize,
    /// Maximum number of databases, in one case, that only a lagged copy can take over; it must
    /// first replay the logs of its delay.
    pub replayed: usize,
    /// Maximum number of databases, in one case, of which not even a lagged copy is left.
    pub lost: usize,
    /// Ways in which the group stops because the survivors have no quorum. If an administrator can
    /// activate a site, copies are counted as afterwards; otherwise all databases are down.
    pub stopped: usize,
    /// The worst quorum outcome of the group.
    pub quorum: Quorum,
    /// The failed servers of the worst case: most databases not active, then the highest load.
    pub worst: Vec<usize>,
}

impl Mode {
    /// Minimum and maximum number of active databases on a survivor.
    pub fn active(&self) -> Option<(usize, usize)> {
        Some((self.loads.first()?.active, self.loads.last()?.active))
    }

    /// Minimum and maximum cost of a survivor, in the unit of its parts: megacycles, say, or I/O
    /// per second.
    pub(crate) fn cost(&self, per_active: f64, per_passive: f64) -> Option<(f64, f64)> {
        let mut range = None;
        for load in &self.loads {
            let cost = load.active as f64 * per_active + load.passive as f64 * per_passive;
            let (least, most) = range.unwrap_or((cost, cost));
            range = Some((cost.min(least), cost.max(most)));
        }
        range
    }
}

/// What fails in one case.
#[derive(Clone, Debug)]
struct FailureCase {
    failed: Vec<usize>,
    /// Whether the witness survives.
    witness: bool,
}

impl FailureCase {
    /// The failure of these servers; the witness is on none of them.
    const fn servers(failed: Vec<usize>) -> Self {
        let witness = true;
        Self { failed, witness }
    }
}

/// Simulates every failure that leaves a server: none, one, two and three servers, one and the
/// witness, each failure domain if there are several, the link between sites, each site, each site
/// plus one server.
pub(crate) fn play(layout: &Layout, rules: Rules) -> Vec<Mode> {
    let servers = layout.servers.len();
    let votes = rules.witness.map(|witness| Votes::of(layout, witness));
    let mut played: Vec<(Failure, Vec<FailureCase>)> = Vec::new();
    for count in (0..=3).filter(|&count| count < servers) {
        let cases = combinations(servers, count).into_iter().map(FailureCase::servers);
        played.push((Failure::Servers(count), cases.collect()));
    }
    if votes.as_ref().is_some_and(Votes::is_even) {
        let cases = (0..servers).map(|server| FailureCase { failed: vec![server], witness: false });
        played.push((Failure::WitnessAndServer, cases.collect()));
    }
    let domains = distinct_domains(layout);
    let sites = layout.servers.last().map_or(0, |server| server.site + 1);
    if domains.len() > sites {
        let cases = domains.into_iter().map(FailureCase::servers).collect();
        played.push((Failure::Domain, cases));
    }
    if sites > 1 {
        played.extend(votes.as_ref().map(|votes| (Failure::Link, cut_off(layout, votes))));
        let (whole, more) = whole_sites(layout, rules, sites);
        played.extend([(Failure::Site, whole), (Failure::SiteAndServer, more)]);
    }
    played.retain(|(_, cases)| !cases.is_empty());
    played
        .iter()
        .map(|(failure, cases)| mode(layout, rules, votes.as_ref(), *failure, cases))
        .collect()
}

fn of_site(layout: &Layout, site: usize) -> Vec<usize> {
    (0..layout.servers.len()).filter(|&server| layout.servers[server].site == site).collect()
}

/// The servers that stop when the link is cut, for each site that may continue.
fn cut_off(layout: &Layout, votes: &Votes) -> Vec<FailureCase> {
    let mut cases = Vec::new();
    for (side, witness) in votes.sides() {
        cases.push(FailureCase { failed: of_site(layout, 1 - side), witness });
    }
    cases
}

/// Failure of each site with its witness, alone and with one more server.
fn whole_sites(
    layout: &Layout,
    rules: Rules,
    sites: usize,
) -> (Vec<FailureCase>, Vec<FailureCase>) {
    let stands = rules.witness.and_then(Witness::site);
    let whole: Vec<FailureCase> = (0..sites)
        .map(|site| FailureCase { failed: of_site(layout, site), witness: stands != Some(site) })
        .collect();
    let servers = 0..layout.servers.len();
    let mut more = Vec::new();
    for case in &whole {
        for server in servers.clone().filter(|server| !case.failed.contains(server)) {
            let failed = case.failed.iter().copied().chain([server]).collect();
            more.push(FailureCase { failed, witness: case.witness });
        }
    }
    more.retain(|case| case.failed.len() < layout.servers.len());
    (whole, more)
}

/// The servers of each failure domain.
fn distinct_domains(layout: &Layout) -> Vec<Vec<usize>> {
    let mut domains = Vec::new();
    let mut first = 0;
    for alike in layout.servers.chunk_by(|left, right| left == right) {
        domains.push((first..first + alike.len()).collect());
        first += alike.len();
    }
    domains
}

/// Every choice of `count` out of `0..of`, in order.
fn combinations(of: usize, count: usize) -> Vec<Vec<usize>> {
    let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..count {
        let mut longer = Vec::new();
        for start in &chosen {
            let next = start.last().map_or(0, |last| last + 1);
            longer.extend((next..of).map(|server| [&start[..], &[server]].concat()));
        }
        chosen = longer;
    }
    chosen
}

fn mode(
    layout: &Layout,
    rules: Rules,
    votes: Option<&Votes>,
    failure: Failure,
    cases: &[FailureCase],
) -> Mode {
    let mut mode = Mode {
        failure,
        cases: cases.len(),
        loads: BTreeSet::new(),
        not_active: 0,
        replayed: 0,
        lost: 0,
        stopped: 0,
        quorum: Quorum::Kept,
        worst: Vec::new(),
    };
    let mut worst = None;
    for case in cases {
        let up = up(layout, &case.failed);
        let quorum = votes.map_or(Quorum::Kept, |votes| votes.outcome(&up, case.witness));
        mode.stopped += usize::from(quorum > Quorum::Kept);
        mode.quorum = mode.quorum.max(quorum);
        let outcome = match quorum {
            Quorum::Kept | Quorum::Restorable => outcome(layout, rules, &up),
            Quorum::Lost => unmounted(layout, &up),
        };
        mode.not_active = mode.not_active.max(outcome.not_active);
        mode.replayed = mode.replayed.max(outcome.replayed);
        mode.lost = mode.lost.max(outcome.lost);
        let badness = (outcome.not_active, quorum, outcome.loads.last().copied());
        if worst.is_none_or(|worst| badness > worst) {
            worst = Some(badness);
            mode.worst.clone_from(&case.failed);
        }
        mode.loads.extend(outcome.loads);
    }
    mode
}

/// Which servers are up.
fn up(layout: &Layout, failed: &[usize]) -> Vec<bool> {
    let mut up = vec![true; layout.servers.len()];
    for &server in failed {
        up[server] = false;
    }
    up
}

/// Result of one case.
struct CaseOutcome {
    loads: BTreeSet<Load>,
    not_active: usize,
    replayed: usize,
    lost: usize,
}

/// Without a quorum no database is mounted, so survivors carry nothing.
fn unmounted(layout: &Layout, up: &[bool]) -> CaseOutcome {
    let (databases, servers) = (&layout.databases, layout.servers.iter());
    CaseOutcome {
        loads: servers.zip(up).filter(|&(_, &up)| up).map(|(server, _)| idle(*server)).collect(),
        not_active: databases.len(),
        replayed: 0,
        lost: databases.iter().filter(|copies| !copies.iter().any(|of| up[of.server])).count(),
    }
}

/// The load of a server without copies.
const fn idle(super::Server { site, only_lagged, .. }: super::Server) -> Load {
    Load { active: 0, passive: 0, site, only_lagged }
}

/// In each database the surviving copy with the lowest preference number becomes active.
fn outcome(layout: &Layout, rules: Rules, up: &[bool]) -> CaseOutcome {
    let mut loads: Vec<Load> = layout.servers.iter().copied().map(idle).collect();
    let (mut not_active, mut replayed, mut lost) = (0, 0, 0);
    for copies in &layout.databases {
        let left = copies.iter().filter(|copy| up[copy.server]);
        let mut able = left.clone().filter(|copy| rules.activate_lagged || !copy.lagged);
        let first = able.next();
        replayed += usize::from(first.is_some_and(|copy| copy.lagged));
        let active = first.map(|copy| copy.server);
        not_active += usize::from(active.is_none());
        lost += usize::from(left.clone().next().is_none());
        for copy in left {
            let load = &mut loads[copy.server];
            if Some(copy.server) == active {
                load.active += 1;
            } else {
                load.passive += 1;
            }
        }
    }
    let survivors = loads.into_iter().zip(up).filter(|&(_, &up)| up);
    CaseOutcome { loads: survivors.map(|(load, _)| load).collect(), not_active, replayed, lost }
}
