//! Steps between two builds: preparation of the directory, and prerequisites.

use std::fmt;

use crate::release::{Release, ReleaseKind};
use crate::table::BuildTable;

/// A level of the directory that must rise, and the command of Setup that raises it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// `rangeUpper` of the schema.
    Schema {
        /// Level of the older release.
        from: u32,
        /// Level of the newer release.
        to: u32,
    },
    /// `objectVersion` of the organisation.
    Organization {
        /// Level of the older release.
        from: u32,
        /// Level of the newer release.
        to: u32,
    },
    /// `objectVersion` of every domain's system objects.
    Domain {
        /// Level of the older release.
        from: u32,
        /// Level of the newer release.
        to: u32,
    },
}

impl fmt::Display for Preparation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema { from, to } => {
                write!(f, "Setup /PrepareSchema: schema {from} to {to}")
            }
            Self::Organization { from, to } => {
                write!(f, "Setup /PrepareAD: organization {from} to {to}")
            }
            Self::Domain { from, to } => {
                write!(f, "Setup /PrepareDomain: domain {from} to {to}")
            }
        }
    }
}

/// Steps between two releases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgrade<'table> {
    /// The release with the lower number.
    pub older: &'table Release,
    /// The release with the higher number.
    pub newer: &'table Release,
    /// Active Directory preparations that the upgrade needs, if both levels are known.
    pub preparations: Vec<Preparation>,
    /// Both schema versions, if the older release's is higher: Setup of the newer release refuses.
    pub sinking_schema: Option<(u32, u32)>,
    /// Level to install first, if the newer release is an update of another level than the older
    /// one's.
    pub first: Option<&'table Release>,
    /// Number of releases of the newer product after `older`, up to and including `newer`.
    pub releases_between: usize,
}

impl Upgrade<'_> {
    /// Whether Setup of the newer one upgrades the older one in place. Of all products only the
    /// Subscription Edition upgrades its predecessor.
    pub fn is_in_place(&self) -> bool {
        let products = (self.older.product.as_str(), self.newer.product.as_str());
        products.0 == products.1 || products == ("Exchange Server 2019", "Exchange Server SE")
    }
}

impl BuildTable {
    /// Compares two releases; the order does not matter.
    pub fn compare<'table>(
        &'table self,
        one: &'table Release,
        other: &'table Release,
    ) -> Upgrade<'table> {
        let (older, newer) = if one.version <= other.version { (one, other) } else { (other, one) };
        Upgrade {
            older,
            newer,
            preparations: preparations(older, newer),
            sinking_schema: older.schema.zip(newer.schema).filter(|(from, to)| to < from),
            first: self
                .level_of(newer)
                .filter(|level| newer.kind.is_update_of_a_level() && !same_level(older, level)),
            releases_between: self
                .releases()
                .iter()
                .filter(|release| release.product == newer.product)
                .filter(|release| release.version > older.version)
                .filter(|release| release.version <= newer.version)
                .count(),
        }
    }

    /// The release that `update` applies to.
    fn level_of(&self, update: &Release) -> Option<&Release> {
        self.releases().iter().find(|release| {
            same_level(release, update)
                && !release.kind.is_update_of_a_level()
                && release.kind != ReleaseKind::Preview
        })
    }
}

fn same_level(one: &Release, other: &Release) -> bool {
    one.product == other.product && one.level == other.level
}

fn rise(from: Option<u32>, to: Option<u32>) -> Option<(u32, u32)> {
    from.zip(to).filter(|(from, to)| to > from)
}

fn preparations(older: &Release, newer: &Release) -> Vec<Preparation> {
    let schema = rise(older.schema, newer.schema);
    let organization = rise(older.organization, newer.organization);
    let domain = rise(older.domain, newer.domain);
    [
        schema.map(|(from, to)| Preparation::Schema { from, to }),
        organization.map(|(from, to)| Preparation::Organization { from, to }),
        domain.map(|(from, to)| Preparation::Domain { from, to }),
    ]
    .into_iter()
    .flatten()
    .collect()
}
