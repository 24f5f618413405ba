//! Looks a version up in the table: an exact hit, its neighbours, or nothing.

use std::fmt;

use crate::number::BuildNumber;
use crate::release::Release;
use crate::table::BuildTable;

/// Result of looking up a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity<'table> {
    /// The table has this release.
    Exact(&'table Release),
    /// The table has the branch, but not the last number: the next lower release of the branch, or
    /// else its lowest. Parts of a release, such as ese.dll, often lag like that.
    About(&'table Release),
    /// The version names a product without a build, as Exchange 2010's logs do: the product's first
    /// release.
    Product(&'table Release),
    /// An interim build, between these two releases of its series.
    Between(&'table Release, &'table Release),
    /// Lower than this, the first release of the series.
    Before(&'table Release),
    /// Higher than this, the last release of the series: newer than the table, or misprinted.
    After(&'table Release),
    /// No release starts with its first two numbers.
    Unknown,
}

impl BuildTable {
    /// Looks up `version`.
    pub fn identify(&self, version: BuildNumber) -> Identity<'_> {
        let series: Vec<&Release> =
            self.releases().iter().filter(|release| release.version.same_series(version)).collect();
        if let Some(exact) = series.iter().find(|release| release.version == version) {
            return Identity::Exact(exact);
        }
        if version.is_product() {
            return series.first().map_or(Identity::Unknown, |first| Identity::Product(first));
        }
        let branch: Vec<&Release> =
            series.iter().copied().filter(|release| release.version.same_branch(version)).collect();
        if let Some(near) = neighbours(&branch, version) {
            return Identity::About(near.0.or(near.1).unwrap_or(branch[0]));
        }
        match neighbours(&series, version) {
            Some((Some(lower), Some(higher))) => Identity::Between(lower, higher),
            Some((Some(lower), None)) => Identity::After(lower),
            Some((None, Some(higher))) => Identity::Before(higher),
            _ => Identity::Unknown,
        }
    }

    /// Releases of the same product with higher numbers, lowest first.
    pub fn newer(&self, release: &Release) -> Vec<&Release> {
        let newer =
            |other: &&Release| other.product == release.product && other.version > release.version;
        self.releases().iter().filter(newer).collect()
    }
}

/// The last release below `version` and the first above it; `None` if there is none.
fn neighbours<'table>(
    releases: &[&'table Release],
    version: BuildNumber,
) -> Option<(Option<&'table Release>, Option<&'table Release>)> {
    let above = releases.partition_point(|release| release.version < version);
    let lower = above.checked_sub(1).map(|at| releases[at]);
    (!releases.is_empty()).then(|| (lower, releases.get(above).copied()))
}

impl<'table> Identity<'table> {
    /// The release whose limits and support apply to the version, if one is near enough.
    pub fn release(&self) -> Option<&'table Release> {
        match self {
            Self::Exact(release) | Self::About(release) => Some(release),
            _ => None,
        }
    }

    /// One word for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Exact(_) => "exact",
            Self::About(_) => "about",
            Self::Product(_) => "product",
            Self::Between(..) => "between",
            Self::Before(_) => "before",
            Self::After(_) => "after",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Identity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(release) => f.write_str(&release.name()),
            Self::About(near) => write!(f, "about {}", with_version(near)),
            Self::Product(first) => {
                write!(f, "{}, of which this names no build", first.product)
            }
            Self::Between(lower, higher) => {
                let (lower, higher) = (with_version(lower), with_version(higher));
                write!(f, "an interim build between {lower} and {higher}")
            }
            Self::Before(first) => write!(f, "a build before {}", with_version(first)),
            Self::After(last) => {
                write!(f, "a build after {}, the last one known", with_version(last))
            }
            Self::Unknown => f.write_str("no release of Exchange known here"),
        }
    }
}

fn with_version(release: &Release) -> String {
    format!("{} ({})", release.name(), release.version)
}
