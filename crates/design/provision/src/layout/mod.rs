//! The server of each database copy, and the state that remains when servers fail.
//!
//! `lay_out` deals the copies out, `play` takes servers and sites away and counts. Both are
//! plain functions of numbers, so a claim about a failure is the outcome of a simulation of the
//! very layout that will be built, not of a formula about layouts.

mod failures;
mod pattern;
mod quorum;
mod request;

#[cfg(test)]
mod tests;

pub use failures::{Failure, Mode};
pub(crate) use failures::{Rules, play};
pub use quorum::{Quorum, Witness, quorum_of};
pub(crate) use request::{Copies, SiteModel};
pub use request::{Domain, LayoutError, LayoutRequest, Site};

use pattern::Pattern;

/// A server that holds copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its site, counted from 0.
    pub site: usize,
    /// Its failure domain within the site, counted from 0.
    pub domain: usize,
    /// Whether it is reserved for lagged copies.
    pub only_lagged: bool,
}

/// One copy of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The server that holds it, counted from 0 over all sites.
    pub server: usize,
    /// Whether its replay is delayed.
    pub lagged: bool,
}

/// Where every copy is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The servers, site by site.
    pub servers: Vec<Server>,
    /// The copies of each database in order of activation preference: the first is active in normal
    /// operation.
    pub databases: Vec<Vec<Copy>>,
    /// Number of databases per volume.
    pub databases_per_volume: usize,
}

impl Layout {
    /// The databases of `server` in order, each with its activation preference counted from 1.
    pub fn held_by(&self, server: usize) -> impl Iterator<Item = (usize, usize)> {
        let databases = self.databases.iter().enumerate();
        databases.filter_map(move |(database, copies)| {
            let at = copies.iter().position(|copy| copy.server == server)?;
            Some((database, at + 1))
        })
    }

    /// The databases of `server`, in order, grouped by volume: each volume is filled before the
    /// next, as in the `Servers.csv` of the same examples.
    pub(crate) fn volumes(&self, server: usize) -> Vec<Vec<usize>> {
        self.held_by(server)
            .map(|(database, _)| database)
            .collect::<Vec<usize>>()
            .chunks(self.databases_per_volume.max(1))
            .map(<[usize]>::to_vec)
            .collect()
    }
}

/// Distributes the copies of every database over the servers.
///
/// The rule reproduces the official calculator's two published copy maps (repository
/// dsccommunity/ExchangeDsc, `MailboxDatabaseCopies.csv` of its v6.6 and v7.6 examples): first
/// copies are assigned round-robin; each further copy starts after the previous one and shifts by
/// one more after every round, so that the second copies of a server's databases spread over all
/// others. With two active sites every second round belongs to the second site. Two details are
/// additions, for cases where nothing is published and the plain rule would make one neighbour take
/// over everything: the shift skips once per cycle if the numbers of distinct rounds and of sites
/// have a common factor (three servers per site), and a group of servers with one copy drifts
/// against the first group.
pub(crate) fn lay_out(wish: &LayoutRequest) -> Result<Layout, LayoutError> {
    wish.check()?;
    let patterns: Vec<Vec<Pattern>> = patterns(wish);
    let mut databases = Vec::new();
    for database in 0..wish.databases {
        let (primary, secondary) = match wish.model {
            SiteModel::ActiveActive if !wish.round(database).is_multiple_of(2) => (1, 0),
            _ => (0, 1),
        };
        let near = in_site(wish, &patterns, primary, database, wish.primary);
        let far = in_site(wish, &patterns, secondary, database, wish.secondary);
        databases.push(in_order_of_preference(wish, &near, &far));
    }
    let servers = wish.sites.iter().enumerate().flat_map(|(site, given)| {
        let domains = given.domains.iter().enumerate();
        domains.flat_map(move |(domain, given)| {
            let only_lagged = given.only_lagged;
            let server = Server { site, domain, only_lagged };
            std::iter::repeat_n(server, given.servers)
        })
    });
    Ok(Layout {
        servers: servers.collect(),
        databases,
        databases_per_volume: wish.databases_per_volume,
    })
}

/// The pattern of each failure domain of each site.
fn patterns(wish: &LayoutRequest) -> Vec<Vec<Pattern>> {
    let (mut first_server, mut group) = (0, 0);
    let alone = wish.sites[0].domains[0].copies == 1;
    let mut patterns = Vec::new();
    for site in &wish.sites {
        let turns = site.domains_in_turn().max(1) * wish.model.active_sites();
        let mut of_site = Vec::new();
        for &Domain { servers, copies, .. } in &site.domains {
            let drift = if alone || copies == 1 { group } else { 0 };
            of_site.push(Pattern { first_server, servers, copies, turns, drift });
            first_server += servers;
            group += 1;
        }
        patterns.push(of_site);
    }
    patterns
}

/// The servers of one site that hold `database`: the domains take turns, and the domain whose turn
/// it is goes first; servers reserved for lagged copies come last.
///
/// If two active sites have servers for lagged copies, each has patterns for the most copies that
/// any database may place there; `copies` is the number for this one.
fn in_site(
    wish: &LayoutRequest,
    patterns: &[Vec<Pattern>],
    site: usize,
    database: usize,
    copies: Copies,
) -> Vec<usize> {
    let Some(given) = wish.sites.get(site) else {
        return Vec::new();
    };
    let turn = wish.round(database) / wish.model.active_sites();
    let held: Vec<Vec<usize>> =
        patterns[site].iter().map(|pattern| pattern.servers_of(database)).collect();
    let (kept, shared): (Vec<usize>, Vec<usize>) =
        (0..held.len()).partition(|&domain| given.domains[domain].only_lagged);
    let deepest = held.iter().map(Vec::len).max().unwrap_or(0);
    let mut servers = Vec::new();
    for depth in 0..deepest {
        for offset in 0..shared.len() {
            let domain = shared[(turn + offset) % shared.len()];
            servers.extend(held[domain].get(depth));
        }
    }
    if !kept.is_empty() {
        servers.truncate(copies.available);
    }
    let lagged = kept.iter().flat_map(|&domain| &held[domain]);
    servers.extend(lagged.take(copies.lagged));
    servers
}

/// Orders copies that can be activated before lagged ones, and within each kind the near site
/// first.
fn in_order_of_preference(wish: &LayoutRequest, near: &[usize], far: &[usize]) -> Vec<Copy> {
    let (near, near_lagged) = near.split_at(wish.primary.available);
    let (far, far_lagged) = far.split_at(wish.secondary.available.min(far.len()));
    let available = near.iter().chain(far).map(|&server| Copy { server, lagged: false });
    let lagged = near_lagged.iter().chain(far_lagged).map(|&server| Copy { server, lagged: true });
    available.chain(lagged).collect()
}
