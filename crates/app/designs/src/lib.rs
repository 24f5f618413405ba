//! The verbs that work without storage: size a deployment, plan a test, simulate and predict it.

mod calibrate;
mod edits;
mod import;
pub mod plan;
pub(crate) mod predict;
mod profile;
pub mod simulate;
pub mod size;

use calibrate::flags::CalibrateFlags;
use clap::Subcommand;
use console::error::CommandError;
use console::{Console, Outcome};
use import::flags::ImportFlags;
use plan::flags::PlanFlags;
use profile::flags::ProfileFlags;
use simulate::flags::SimulateFlags;
use size::flags::SizeFlags;

/// What to work out without storage.
#[derive(Debug, Subcommand)]
pub enum DesignVerb {
    /// Predict a run: the same plan in virtual time, on a simulated array
    Simulate(SimulateFlags),
    /// Measure the storage under a folder and fit an array model to it
    Calibrate(CalibrateFlags),
    /// Work out servers, databases and disks for mailboxes, with the reason for every number
    Size(SizeFlags),
    /// Print a commented plan to start from; for a deployment, the plans and scripts that build and
    /// test it
    Plan(PlanFlags),
    /// Measure mailbox sizes and activity from logs and reports, as input for `size`
    Profile(ProfileFlags),
    /// Convert a JetstressConfig.xml to a plan, or a published result of Jetstress to a record
    Import(ImportFlags),
}

/// Runs a command.
///
/// # Errors
///
/// The input is invalid, or something that the command needs is missing.
pub fn run(verb: &DesignVerb, console: &mut Console) -> Result<Outcome, CommandError> {
    match verb {
        DesignVerb::Simulate(flags) => simulate::run(flags, console),
        DesignVerb::Calibrate(flags) => calibrate::run(flags, console),
        DesignVerb::Size(flags) => size::run(flags, console),
        DesignVerb::Plan(flags) => plan::run(flags, console),
        DesignVerb::Profile(flags) => profile::run(flags, console),
        DesignVerb::Import(flags) => import::run(flags, console),
    }
}
