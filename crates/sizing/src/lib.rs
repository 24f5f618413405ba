//! Role-requirements arithmetic: from mailboxes to servers, databases and disks.
//!
//! Everything here is a pure function of a deployment. Each constant and formula names its source;
//! each result carries the formula that made it, because [`number::Number`] writes down what its
//! operators do. Formulas find each other's results in a [`Sheet`] by [`Key`]; name, unit, source
//! and title of each key stand in one catalogue.

/// A figure of the product, by the name of its field.
macro_rules! figure {
    ($work:expr, $name:ident) => {
        $work.figure(stringify!($name), |figures| &figures.$name)
    };
}
mod architecture;
mod capacity;
mod count;
mod database;
mod disks;
pub mod export;
mod failure;
mod finding;
mod io;
mod key;
pub mod layout;
mod memory;
mod metacache;
mod network;
pub mod number;
mod others;
mod processor;
pub mod provision;
mod quirk;
mod schedule;
mod servers;
mod sheet;
mod simulate;
mod sites;
mod tier;
mod totals;
mod transport;
mod validate;
mod volumes;
mod work;

use plan::Deployment;

pub use architecture::{Architecture, Build, VolumeArchitecture};
pub use finding::{DesignFinding, Severity};
pub use key::{FailureMode, Key, ProcessorKey, ServerKind, TierKey};
pub use quirk::Quirk;
pub use schedule::{BackupDay, schedule};
pub use sheet::{Decision, Fact, Sheet, Value};
pub use simulate::{Simulated, simulate};
pub use transport::QueuePlace;
pub use work::Note;

use work::Work;

/// What a deployment comes to.
#[derive(Clone, Debug)]
pub struct Sizing {
    /// Every number with its trace, in the order of calculation.
    pub sheet: Sheet,
    /// What lies on a volume, and on which disks.
    pub architecture: Architecture,
    /// Known mistakes of the official calculator that make a difference here.
    pub notes: Vec<Note>,
    /// What is wrong with the deployment.
    pub findings: Vec<DesignFinding>,
}

/// Sizes a deployment.
pub fn size(deployment: &Deployment) -> Sizing {
    let mut work = Work::new(deployment);
    let work = &mut work;
    tier::tiers(work);
    tier::growth_curve(work);
    servers::servers(work);
    io::per_group(work);
    let architecture = architecture::architecture(work);
    database::databases(work, architecture);
    count::counts(work, architecture);
    sites::sites(work, architecture);
    let failures = failure::failures(work, architecture);
    io::per_server(work);
    capacity::capacity(work);
    volumes::volumes(work, architecture);
    disks::disks(work, architecture);
    others::others(work, architecture);
    processor::processor(work, &failures);
    memory::memory(work);
    others::late_servers(work, architecture);
    transport::transport(work, &failures);
    network::network(work);
    totals::totals(work);
    metacache::metacache(work, architecture);
    validate::validate(work, architecture, &failures);
    Sizing {
        architecture,
        sheet: std::mem::take(&mut work.sheet),
        notes: std::mem::take(&mut work.notes),
        findings: std::mem::take(&mut work.findings),
    }
}

impl Sizing {
    /// Whether nothing forbids to build it.
    pub fn is_workable(&self) -> bool {
        !self.findings.iter().any(|finding| finding.severity == Severity::Violation)
    }

    /// The number under `key`; none where it does not apply to this deployment.
    pub fn number(&self, key: Key) -> Option<f64> {
        self.sheet.find(key).map(|number| number.value())
    }
}
