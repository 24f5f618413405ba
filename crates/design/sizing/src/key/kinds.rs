//! Dimensions of the keys: kinds of servers, failures, processor figures.

/// Servers that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerKind {
    /// Those of the first site.
    First,
    /// Those of the second site.
    Second,
    /// Those reserved for lagged copies.
    Lagged,
}

impl ServerKind {
    /// Every kind.
    pub(crate) const ALL: [Self; 3] = [Self::First, Self::Second, Self::Lagged];

    /// Suffix of key names.
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::First => "dc1",
            Self::Second => "dc2",
            Self::Lagged => "lagged",
        }
    }

    /// The kind whose disks these servers have.
    pub(crate) const fn with_disks(self) -> Self {
        match self {
            Self::First | Self::Lagged => Self::First,
            Self::Second => Self::Second,
        }
    }
}

/// What fails, as the workbook counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureMode {
    /// Nothing.
    Normal,
    /// A server of the site.
    OneFailed,
    /// Two of them.
    TwoFailed,
    /// The other site.
    SiteFailed,
    /// The other site and a server of this one.
    SitePlusOne,
    /// The other site and two servers of this one.
    SitePlusTwo,
    /// The worst of these.
    Worst,
}

impl FailureMode {
    /// Every mode except [`Self::Worst`], the most harmless first.
    pub const LISTED: [Self; 6] = [
        Self::Normal,
        Self::OneFailed,
        Self::TwoFailed,
        Self::SiteFailed,
        Self::SitePlusOne,
        Self::SitePlusTwo,
    ];

    /// Suffix of key names.
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::OneFailed => "one_failed",
            Self::TwoFailed => "two_failed",
            Self::SiteFailed => "site_failed",
            Self::SitePlusOne => "site_plus_one",
            Self::SitePlusTwo => "site_plus_two",
            Self::Worst => "worst",
        }
    }

    /// Title for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::OneFailed => "one server failed",
            Self::TwoFailed => "two servers failed",
            Self::SiteFailed => "a site failed",
            Self::SitePlusOne => "a site and a server failed",
            Self::SitePlusTwo => "a site and two servers failed",
            Self::Worst => "the worst of all",
        }
    }
}

/// Processor figures in a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessorKey {
    /// For active copies.
    Active,
    /// For passive copies.
    Passive,
    /// For client access.
    ClientAccess,
    /// Total of the above.
    Need,
    /// The need as a share of the available megacycles.
    Util,
}
