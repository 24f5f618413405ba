//! The copy layout of a sized deployment, with every failure simulated on it.

use plan::Deployment;
use sizing::Sizing;

use crate::Requirements;
use crate::layout::{Layout, Mode, lay_out, play};

/// A layout and its simulated failures.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// Location of each copy of one group.
    pub layout: Layout,
    /// Every failure, the most harmless first.
    pub modes: Vec<Mode>,
    /// The requirements behind the layout; they give the load on the survivors of a failure.
    pub needs: Requirements,
}

/// Lays out one group and simulates its failures. `None` without copies, or if no layout fits.
pub fn simulate(deployment: &Deployment, sizing: &Sizing) -> Option<Simulated> {
    let needs = Requirements::of(deployment, &sizing.sheet, sizing.architecture).ok()?;
    if !needs.copies {
        return None;
    }
    let layout = lay_out(&needs.wish).ok()?;
    let modes = play(&layout, needs.rules());
    Some(Simulated { layout, modes, needs })
}
