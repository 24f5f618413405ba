//! One damaged page.

use std::fmt;

use device::DeviceError;
use ese::page_state::PageDamage;
use units::PageNumber;

/// A damaged page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedPage {
    /// Number of the page, by its offset in the file.
    pub page: PageNumber,
    /// The damage.
    pub damage: Damage,
}

/// Damage of a page, or a failure to read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The page was read, but differs from the last write.
    Page(PageDamage),
    /// The device cannot read it.
    Unreadable(DeviceError),
}

impl Damage {
    /// Whether the page is all zeros except for one bit.
    pub(super) const fn is_flipped_zero(&self) -> bool {
        matches!(self, Self::Page(PageDamage::FlippedZero { .. }))
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page(damage) => damage.fmt(f),
            Self::Unreadable(error) => write!(f, "cannot be read: {error}"),
        }
    }
}
