//! Role-requirements arithmetic: from mailboxes to servers, databases and disks.
//!
//! Everything here is a pure function of a deployment. Each constant and formula names its source;
//! each result carries the formula that produced it, because `number::Number` records its
//! operators. Formulas find each other's results in a [`Sheet`] by [`Key`]; name, unit, source and
//! title of each key are in one catalogue.

/// A figure of the product, by the name of its field.
macro_rules! figure {
    ($work:expr, $name:ident) => {
        $work.figure(stringify!($name), |figures| &figures.$name)
    };
}
mod architecture;
mod calculation;
mod capacity;
mod cost;
mod count;
mod database;
mod decision;
mod disks;
mod failure;
mod finding;
mod io;
mod key;
mod memory;
mod metacache;
mod network;
pub mod number;
mod others;
mod played;
mod processor;
mod quantity;
mod quirk;
mod remedy;
mod schedule;
mod servers;
mod sheet;
mod sites;
mod tier;
mod totals;
mod transport;
mod validate;
mod volumes;
mod work;

pub use architecture::Architecture;
pub use calculation::{Calculation, LayOut, calculate};
pub use decision::{Build, Decision, QueuePlace, VolumeArchitecture};
pub use finding::{DesignFinding, Severity};
pub use key::{FailureMode, Key, ProcessorKey, ServerKind, TierKey};
pub use played::PlayedLayout;
pub use quantity::{ShownQuantity, as_formatted, as_sold, without_error};
pub use quirk::Quirk;
pub use schedule::{BackupDay, schedule};
pub use sheet::{Fact, Sheet, Value};
pub use work::Note;

/// The sized deployment.
#[derive(Clone, Debug)]
pub struct Sizing {
    /// Every number with its trace, in the order of calculation.
    pub sheet: Sheet,
    /// Databases per volume, and the disks under the volumes.
    pub architecture: Architecture,
    /// Known mistakes of the official calculator that affect this deployment.
    pub notes: Vec<Note>,
    /// Problems of the deployment, the worst first.
    pub findings: Vec<DesignFinding>,
}

impl Sizing {
    /// `true` if no rule prevents building it.
    pub fn is_workable(&self) -> bool {
        !self.findings.iter().any(|finding| finding.severity == Severity::Violation)
    }

    /// Whether no rule judged the processors of some servers, whose speed is unknown.
    pub fn has_unsized_processors(&self) -> bool {
        let mut kinds = ServerKind::ALL.into_iter();
        kinds.any(|kind| validate::unjudged_processors(&self.sheet, kind).is_some())
    }

    /// The number under `key`; `None` if it does not apply to this deployment.
    pub fn number(&self, key: Key) -> Option<f64> {
        self.sheet.number(key)
    }
}
