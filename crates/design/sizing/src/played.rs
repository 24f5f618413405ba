//! What the layout of a sizing's copies has shown, in the terms of the sizing: it knows neither
//! layouts nor how failures are played through.

use crate::key::FailureMode;

/// What came of laying the copies out.
#[derive(Clone, Debug, PartialEq)]
pub enum PlayedLayout {
    /// There are no copies to lay out, or its failures decide nothing.
    NotPlayed,
    /// There is no such layout, and why.
    Impossible(String),
    /// Share of its processors that the busiest survivor of each failure uses.
    Processors(Vec<(FailureMode, f64)>),
}
