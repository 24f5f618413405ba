//! Sizes a deployment: calculates it, lays out the copies, and checks the calculation against
//! simulated failures of the layout.

use plan::Deployment;
use sizing::{Calculation, FailureMode, PlayedLayout, Sizing, calculate};

use crate::layout::{Failure, Mode, lay_out, play};
use crate::{ProvisionError, Requirements};

/// Sizes a deployment without looking for changes that would remove its problems.
pub fn size_unadvised(deployment: &Deployment) -> Sizing {
    calculate(deployment).judged(laid_out)
}

/// Sizes a deployment, and sizes changes until some remove its problems.
pub fn size(deployment: &Deployment) -> Sizing {
    calculate(deployment).judge(laid_out)
}

fn laid_out(deployment: &Deployment, calculation: &Calculation<'_>) -> PlayedLayout {
    played(deployment, calculation)
        .unwrap_or_else(|error| PlayedLayout::Impossible(error.to_string()))
}

fn played(
    deployment: &Deployment,
    calculation: &Calculation<'_>,
) -> Result<PlayedLayout, ProvisionError> {
    let needs = Requirements::of(deployment, calculation.sheet(), calculation.architecture())?;
    if !needs.copies {
        return Ok(PlayedLayout::NotPlayed);
    }
    let layout = lay_out(&needs.wish).map_err(ProvisionError::Layout)?;
    if !calculation.needs_played_processors() {
        return Ok(PlayedLayout::NotPlayed);
    }
    let modes = play(&layout, needs.rules());
    let shares = modes.iter().filter_map(|mode| processor_share(&needs, mode));
    Ok(PlayedLayout::Processors(shares.collect()))
}

/// Counts the kinds of failure (one server, two servers, a domain, a site ...) simulated on the
/// layout that leave every database active at once, whichever servers fail; `None` if a deployment
/// has no copies, or no layout.
pub fn survived_failures(deployment: &Deployment) -> Option<usize> {
    let calculation = calculate(deployment);
    let (sheet, architecture) = (calculation.sheet(), calculation.architecture());
    let needs = Requirements::of(deployment, sheet, architecture).ok()?;
    let layout = needs.copies.then(|| lay_out(&needs.wish).ok()).flatten()?;
    let modes = play(&layout, needs.rules());
    Some(modes.iter().filter(|mode| is_survived(mode)).count())
}

fn is_survived(mode: &Mode) -> bool {
    let is_active = mode.not_active == 0 && mode.replayed == 0;
    mode.failure != Failure::Servers(0) && is_active && mode.stopped == 0
}

/// The share of its processors that the busiest survivor uses; `None` for a failure that the
/// arithmetic does not count, or if a server's speed is unknown.
fn processor_share(needs: &Requirements, mode: &Mode) -> Option<(FailureMode, f64)> {
    Some((counted(mode.failure)?, needs.burden(mode)?.processor?))
}

/// The failure as the arithmetic counts it.
const fn counted(failure: Failure) -> Option<FailureMode> {
    match failure {
        Failure::Servers(0) => Some(FailureMode::Normal),
        Failure::Servers(1) => Some(FailureMode::OneFailed),
        Failure::Servers(2) => Some(FailureMode::TwoFailed),
        Failure::Site => Some(FailureMode::SiteFailed),
        Failure::SiteAndServer => Some(FailureMode::SitePlusOne),
        Failure::Servers(_) | Failure::WitnessAndServer | Failure::Domain | Failure::Link => None,
    }
}
