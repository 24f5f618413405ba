//! The result of laying out a sizing's copies, in the sizing's own terms, so that this crate needs
//! to know neither layouts nor how failures are simulated.

use crate::key::FailureMode;

/// Result of laying out the copies.
#[derive(Clone, Debug, PartialEq)]
pub enum PlayedLayout {
    /// There are no copies to lay out, or the layout's failures decide nothing.
    NotPlayed,
    /// No layout exists, for this reason.
    Impossible(String),
    /// Share of its processors that the busiest survivor of each failure uses.
    Processors(Vec<(FailureMode, f64)>),
}
