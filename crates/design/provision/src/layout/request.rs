//! The inputs of a layout, and the reasons why some requests cannot be met.

use std::fmt;

/// Maximum number of members in a database availability group, by the limits of Exchange 2010 to
/// 2019.
const MOST_SERVERS: usize = 16;

/// Maximum number of failure domains per site, as in the official calculator.
const MOST_DOMAINS: usize = 8;

/// Servers that fail together, such as those of one rack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain {
    /// Its servers.
    pub servers: usize,
    /// Copies of each database that it holds.
    pub copies: usize,
    /// Whether its servers are reserved for lagged copies.
    pub only_lagged: bool,
}

/// One site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its failure domains; one by default.
    pub domains: Vec<Domain>,
}

impl Site {
    /// A site whose servers all share one failure domain.
    #[cfg(test)]
    pub(crate) fn plain(servers: usize, copies: usize) -> Self {
        let only_lagged = false;
        let domain = Domain { servers, copies, only_lagged };
        Self { domains: vec![domain] }
    }

    /// Servers of all its domains.
    pub(crate) fn servers(&self) -> usize {
        self.domains.iter().map(|domain| domain.servers).sum()
    }

    /// Copies of each database in all its domains.
    pub(crate) fn copies(&self) -> usize {
        self.domains.iter().map(|domain| domain.copies).sum()
    }

    /// Number of domains that take turns in holding the first copy.
    pub(super) fn domains_in_turn(&self) -> usize {
        let shared = self.domains.iter().filter(|domain| !domain.only_lagged);
        shared.count()
    }
}

/// Copies of a database in one site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Copies {
    /// Copies that take over automatically, including the active one.
    pub available: usize,
    /// Copies whose replay is delayed.
    pub lagged: usize,
}

impl Copies {
    const fn total(self) -> usize {
        self.available + self.lagged
    }
}

/// Where databases are active in normal operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SiteModel {
    /// There is one site.
    Single,
    /// In the first of two sites. A pair of groups that mirror each other needs two such layouts.
    ActivePassive,
    /// In both sites of one group, half of the databases in each.
    ActiveActive,
}

impl SiteModel {
    /// Number of sites that take turns in holding the first copy.
    pub(super) const fn active_sites(self) -> usize {
        match self {
            Self::ActiveActive => 2,
            Self::Single | Self::ActivePassive => 1,
        }
    }

    const fn sites(self) -> usize {
        match self {
            Self::Single => 1,
            Self::ActivePassive | Self::ActiveActive => 2,
        }
    }
}

/// A wanted layout, for one group of servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutRequest {
    /// Where databases are active.
    pub(crate) model: SiteModel,
    /// One or two sites, as the model says.
    pub sites: Vec<Site>,
    /// Copies of a database in the site where it is active.
    pub(crate) primary: Copies,
    /// Copies of a database in the other site.
    pub(crate) secondary: Copies,
    /// Databases of the group.
    pub databases: usize,
    /// Number of databases per volume, at least 1.
    pub databases_per_volume: usize,
}

/// Why no layout fits the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// The model needs a different number of sites.
    Sites {
        /// Sites that the model needs.
        wanted: usize,
        /// Sites that were given.
        found: usize,
    },
    /// More members than a group can have.
    Servers {
        /// Servers of all sites.
        found: usize,
    },
    /// More failure domains than a site can have, or none.
    Domains {
        /// The site, counted from 1.
        site: usize,
        /// Its domains.
        found: usize,
    },
    /// A server would need two copies of a database.
    MoreCopiesThanServers {
        /// The site, counted from 1.
        site: usize,
        /// The domain, counted from 1.
        domain: usize,
        /// Copies of each database in it.
        copies: usize,
        /// Its servers.
        servers: usize,
    },
    /// The copies of a site's domains do not add up to those of the site.
    DomainTotal {
        /// The site, counted from 1.
        site: usize,
        /// Copies that the site must hold.
        wanted: usize,
        /// Sum over its domains.
        found: usize,
    },
    /// Servers reserved for lagged copies would hold others.
    KeptForLagged {
        /// The site, counted from 1.
        site: usize,
        /// Copies on servers reserved for lagged ones.
        kept: usize,
        /// Lagged copies of the site.
        lagged: usize,
    },
    /// Two active sites that differ.
    Unlike,
    /// No copy can be active.
    NothingActive,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sites { wanted, found } => {
                write!(f, "the site model has {wanted} sites, not {found}; change one of them")
            }
            Self::Servers { found } => write!(
                f,
                "{found} servers are not 1 to {MOST_SERVERS} members; spread them over more groups"
            ),
            Self::Domains { site, found } => {
                write!(f, "site {site} has {found} failure domains; give 1 to {MOST_DOMAINS}")
            }
            Self::MoreCopiesThanServers { site, domain, copies, servers } => write!(
                f,
                "failure domain {domain} of site {site} is to hold {copies} copies of each \
                 database on {servers} servers; add servers or lower the copies"
            ),
            Self::DomainTotal { site, wanted, found } => write!(
                f,
                "the failure domains of site {site} hold {found} copies, but the site {wanted}; \
                 make them equal"
            ),
            Self::KeptForLagged { site, kept, lagged } => write!(
                f,
                "site {site} has {lagged} lagged copies, but {kept} on servers kept for lagged \
                 copies; make them equal"
            ),
            Self::Unlike => write!(
                f,
                "two active sites need as many servers and copies of each database as each other"
            ),
            Self::NothingActive => {
                write!(f, "each database needs one copy without lag in its own site; add one")
            }
        }
    }
}

impl std::error::Error for LayoutError {}

impl LayoutRequest {
    /// The round of `database`: one database per server of the first domain.
    pub(super) fn round(&self, database: usize) -> usize {
        database / self.sites[0].domains[0].servers
    }

    /// Maximum number of copies of a database requested from a site. If both sites are active and
    /// reserve servers for lagged copies, each is near for some databases and far for others.
    fn most_copies(&self, site: usize) -> Copies {
        let [near, far] = [self.primary, self.secondary];
        let keeps = self.sites[site].domains.iter().any(|domain| domain.only_lagged);
        if self.model == SiteModel::ActiveActive && keeps {
            return Copies {
                available: near.available.max(far.available),
                lagged: near.lagged.max(far.lagged),
            };
        }
        if site == 0 { near } else { far }
    }

    /// Returns the first reason why the request cannot be met.
    pub(super) fn check(&self) -> Result<(), LayoutError> {
        let (wanted, found) = (self.model.sites(), self.sites.len());
        if wanted != found {
            return Err(LayoutError::Sites { wanted, found });
        }
        let found = self.sites.iter().map(Site::servers).sum();
        if !(1..=MOST_SERVERS).contains(&found) {
            return Err(LayoutError::Servers { found });
        }
        if self.primary.available == 0 {
            return Err(LayoutError::NothingActive);
        }
        for site in 0..wanted {
            check_site(site + 1, &self.sites[site], self.most_copies(site))?;
        }
        if self.model == SiteModel::ActiveActive
            && (self.sites[0].domains != self.sites[1].domains
                || self.primary.total() != self.secondary.total())
        {
            return Err(LayoutError::Unlike);
        }
        Ok(())
    }
}

fn check_site(site: usize, given: &Site, copies: Copies) -> Result<(), LayoutError> {
    let found = given.domains.len();
    if !(1..=MOST_DOMAINS).contains(&found) {
        return Err(LayoutError::Domains { site, found });
    }
    for (domain, given) in given.domains.iter().enumerate() {
        if given.copies > given.servers || given.servers == 0 {
            return Err(LayoutError::MoreCopiesThanServers {
                site,
                domain: domain + 1,
                copies: given.copies,
                servers: given.servers,
            });
        }
    }
    let (wanted, found) = (copies.total(), given.copies());
    if wanted != found {
        return Err(LayoutError::DomainTotal { site, wanted, found });
    }
    let kept = given.domains.iter().filter(|domain| domain.only_lagged);
    let kept = kept.map(|domain| domain.copies).sum();
    let lagged = copies.lagged;
    if kept > 0 && kept != lagged {
        return Err(LayoutError::KeptForLagged { site, kept, lagged });
    }
    Ok(())
}
