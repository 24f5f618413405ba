//! One released build, a row of the table.

use std::fmt;

use crate::number::BuildNumber;

/// Kind of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseKind {
    /// The first release of a product.
    Rtm,
    /// Service pack.
    ServicePack,
    /// Cumulative update: a whole build, installed directly.
    CumulativeUpdate,
    /// Rollup of a service pack; cumulative.
    Rollup,
    /// Security update for one cumulative update; includes its earlier ones.
    SecurityUpdate,
    /// Hotfix update for one cumulative update.
    HotfixUpdate,
    /// Before the first release.
    Preview,
}

impl ReleaseKind {
    const NAMED: [(&str, Self); 7] = [
        ("RTM", Self::Rtm),
        ("SP", Self::ServicePack),
        ("CU", Self::CumulativeUpdate),
        ("RU", Self::Rollup),
        ("SU", Self::SecurityUpdate),
        ("HU", Self::HotfixUpdate),
        ("Preview", Self::Preview),
    ];

    /// The kind with this abbreviation.
    pub(crate) fn named(text: &str) -> Option<Self> {
        let found = Self::NAMED.iter().find(|(name, _)| *name == text);
        found.map(|(_, kind)| *kind)
    }

    /// Whether it updates a build that must be installed first.
    pub(crate) fn is_update_of_a_level(self) -> bool {
        matches!(self, Self::Rollup | Self::SecurityUpdate | Self::HotfixUpdate)
    }
}

impl fmt::Display for ReleaseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = Self::NAMED.iter().find(|(_, kind)| kind == self);
        f.write_str(found.map_or("", |(name, _)| name))
    }
}

/// A released build, a row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// Product name, such as `Exchange Server 2016`.
    pub product: String,
    /// The level to which updates apply: `RTM`, `SP3`, `CU23`.
    pub level: String,
    /// Whether it is a level or an update, and of which kind.
    pub kind: ReleaseKind,
    /// The update of that level, such as `Oct25SU`; empty for the level itself.
    pub update: String,
    /// All four numbers, such as 15.1.2507.6.
    pub version: BuildNumber,
    /// Release day (or month, if no source has the day), in ISO 8601.
    pub released: String,
    /// `rangeUpper` of the directory's schema; like the next two, `None` if no source has the
    /// number.
    pub schema: Option<u32>,
    /// `objectVersion` of the organisation.
    pub organization: Option<u32>,
    /// `objectVersion` of the domain's system objects.
    pub domain: Option<u32>,
    /// Last day of extended support, in ISO 8601.
    pub support_end: String,
    /// Publications that list the build.
    pub sources: String,
    /// Remarks, e.g. on sources that disagree; empty if there are none.
    pub note: String,
}

impl Release {
    /// Product, level and update, such as `Exchange Server 2016 CU23 Oct25SU`.
    pub fn name(&self) -> String {
        format!("{} {} {}", self.product, self.level, self.update).trim_end().to_owned()
    }
}
