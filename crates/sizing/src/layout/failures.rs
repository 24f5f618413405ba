//! Every failure of one, two and three servers and of whole sites, played through on a layout.

use std::collections::BTreeSet;
use std::fmt;

use super::Layout;

/// What may be activated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether a lagged copy takes over when no other is left, as the Replay Lag Manager has it do.
    pub activate_lagged: bool,
}

/// What fails together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Any servers, this many of them.
    Servers(usize),
    /// All servers of one failure domain.
    Domain,
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
            Self::Domain => write!(f, "a failure domain failed"),
            Self::Site => write!(f, "a site failed"),
            Self::SiteAndServer => write!(f, "a site and a server failed"),
        }
    }
}

/// What one surviving server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Load {
    /// Its active copies.
    pub active: usize,
    /// Its other copies.
    pub passive: usize,
}

/// What can come of one kind of failure, over all ways in which it can happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mode {
    /// What fails.
    pub failure: Failure,
    /// Ways in which it can happen.
    pub cases: usize,
    /// Every load that a survivor of some case carries.
    pub loads: BTreeSet<Load>,
    /// Most databases that no copy takes over, in one case; those in `lost` included.
    pub not_active: usize,
    /// Most databases of which not even a lagged copy is left, in one case.
    pub lost: usize,
    /// The failed servers of the worst case: most databases not active, then the highest load.
    pub worst: Vec<usize>,
}

impl Mode {
    /// Fewest and most active databases of a survivor.
    pub fn active(&self) -> Option<(usize, usize)> {
        Some((self.loads.first()?.active, self.loads.last()?.active))
    }

    /// Least and greatest cost of a survivor, in the unit of its parts: megacycles, say, or I/O
    /// per second.
    pub fn cost(&self, per_active: f64, per_passive: f64) -> Option<(f64, f64)> {
        let cost =
            |load: &Load| load.active as f64 * per_active + load.passive as f64 * per_passive;
        let costs = self.loads.iter().map(cost);
        costs.fold(None, |range, cost| {
            let (least, most) = range.unwrap_or((cost, cost));
            Some((cost.min(least), cost.max(most)))
        })
    }
}

/// Plays every failure that leaves a server: none, one, two and three servers, each failure domain
/// where there are several, each site, each site with one server more.
pub fn play(layout: &Layout, rules: Rules) -> Vec<Mode> {
    let servers = layout.servers.len();
    let mut modes: Vec<Mode> = (0..=3)
        .filter(|&count| count < servers)
        .map(|count| {
            let cases = combinations(servers, count);
            mode(layout, rules, Failure::Servers(count), &cases)
        })
        .collect();
    let all = 0..servers;
    let of_site = |site| {
        all.clone()
            .filter(move |&server| layout.servers[server].site == site)
    };
    let sites = layout.servers.last().map_or(0, |server| server.site + 1);
    let groups = distinct_domains(layout);
    if groups.len() > sites {
        modes.push(mode(layout, rules, Failure::Domain, &groups));
    }
    if sites > 1 {
        let whole: Vec<Vec<usize>> = (0..sites).map(|site| of_site(site).collect()).collect();
        modes.push(mode(layout, rules, Failure::Site, &whole));
        let more: Vec<Vec<usize>> = whole
            .iter()
            .flat_map(|site| {
                let others = all.clone().filter(|server| !site.contains(server));
                others.map(|server| site.iter().copied().chain([server]).collect())
            })
            .filter(|failed: &Vec<usize>| failed.len() < servers)
            .collect();
        modes.push(mode(layout, rules, Failure::SiteAndServer, &more));
    }
    modes.retain(|mode| mode.cases > 0);
    modes
}

/// The servers of each failure domain.
fn distinct_domains(layout: &Layout) -> Vec<Vec<usize>> {
    let numbered = layout.servers.iter().enumerate().collect::<Vec<_>>();
    let groups = numbered.chunk_by(|(_, left), (_, right)| left == right);
    let numbers = |group: &[(usize, _)]| group.iter().map(|&(number, _)| number).collect();
    groups.map(numbers).collect()
}

/// Every choice of `count` out of `0..of`, in order.
fn combinations(of: usize, count: usize) -> Vec<Vec<usize>> {
    let mut chosen = vec![Vec::new()];
    for _ in 0..count {
        let longer = chosen.iter().flat_map(|start: &Vec<usize>| {
            let next = start.last().map_or(0, |last| last + 1);
            (next..of).map(|server| start.iter().copied().chain([server]).collect())
        });
        chosen = longer.collect();
    }
    chosen
}

fn mode(layout: &Layout, rules: Rules, failure: Failure, cases: &[Vec<usize>]) -> Mode {
    let mut mode = Mode {
        failure,
        cases: cases.len(),
        loads: BTreeSet::new(),
        not_active: 0,
        lost: 0,
        worst: Vec::new(),
    };
    let mut worst = None;
    for failed in cases {
        let outcome = case(layout, rules, failed);
        mode.not_active = mode.not_active.max(outcome.not_active);
        mode.lost = mode.lost.max(outcome.lost);
        let badness = (outcome.not_active, outcome.loads.last().copied());
        if worst.is_none_or(|worst| badness > worst) {
            worst = Some(badness);
            mode.worst.clone_from(failed);
        }
        mode.loads.extend(outcome.loads);
    }
    mode
}

/// What one case comes to.
struct Outcome {
    loads: BTreeSet<Load>,
    not_active: usize,
    lost: usize,
}

/// In each database the surviving copy of the lowest preference becomes active.
fn case(layout: &Layout, rules: Rules, failed: &[usize]) -> Outcome {
    let mut up = vec![true; layout.servers.len()];
    for &server in failed {
        up[server] = false;
    }
    let mut loads = vec![
        Load {
            active: 0,
            passive: 0
        };
        layout.servers.len()
    ];
    let (mut not_active, mut lost) = (0, 0);
    for copies in &layout.databases {
        let left = copies.iter().filter(|copy| up[copy.server]);
        let mut able = left
            .clone()
            .filter(|copy| rules.activate_lagged || !copy.lagged);
        let active = able.next().map(|copy| copy.server);
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
    let survivors = loads.into_iter().zip(&up).filter(|&(_, &up)| up);
    Outcome {
        loads: survivors.map(|(load, _)| load).collect(),
        not_active,
        lost,
    }
}
