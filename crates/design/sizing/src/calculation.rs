//! The order in which the formulas run. Between the last formula and the judgement the caller lays
//! out the copies, which takes more than arithmetic.

use plan::Deployment;

use crate::failure::Failures;
use crate::finding::{DesignProblem, Severity};
use crate::key::{FailureMode, Key, ProcessorKey, ServerKind};
use crate::played::PlayedLayout;
use crate::sheet::Sheet;
use crate::work::Work;
use crate::{
    Architecture, Sizing, architecture, capacity, cost, count, database, disks, failure, io,
    memory, metacache, network, others, processor, servers, sites, tier, totals, transport,
    validate, volumes,
};

/// Every number of a deployment, not yet judged.
pub struct Calculation<'d> {
    work: Work<'d>,
    architecture: Architecture,
    failures: Failures,
}

/// Lays out the copies of a calculated deployment.
pub type LayOut = fn(&Deployment, &Calculation<'_>) -> PlayedLayout;

/// Calculates every number of a deployment.
pub fn calculate(deployment: &Deployment) -> Calculation<'_> {
    let mut work = Work::new(deployment);
    let (architecture, failures) = formulas(&mut work);
    Calculation { work, architecture, failures }
}

/// Runs each formula after those whose results it uses.
fn formulas(work: &mut Work<'_>) -> (Architecture, Failures) {
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
    cost::cost(work);
    (architecture, failures)
}

fn problems(deployment: &Deployment, lay_out: LayOut) -> Vec<DesignProblem> {
    { calculate(deployment).judged(lay_out).findings.into_iter() }
        .filter(|of| of.severity > Severity::Remark)
        .map(|of| (of.severity, of.key))
        .collect()
}

impl Calculation<'_> {
    /// Every number with its trace.
    pub const fn sheet(&self) -> &Sheet {
        &self.work.sheet
    }

    /// Databases per volume, and the disks under the volumes.
    pub const fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// Whether processor use comes from the simulated failures of the layout: no if the workbook's
    /// formula is requested or the servers' speed is unknown.
    pub fn needs_played_processors(&self) -> bool {
        let by_formula = Key::Processor(ProcessorKey::Util, FailureMode::Worst, ServerKind::First);
        !self.work.deployment.is_compatible() && self.work.sheet.number(by_formula).is_some()
    }

    /// Judges the deployment and its layout, and advises changes, each of which is judged too.
    pub fn judge(mut self, lay_out: LayOut) -> Sizing {
        self.work.judges = Some([
            Box::new(|of| problems(of, |_, _| PlayedLayout::NotPlayed)),
            Box::new(move |of| problems(of, lay_out)),
        ]);
        self.judged(lay_out)
    }

    /// Judges the deployment and its layout; changes are not tried.
    pub fn judged(mut self, lay_out: LayOut) -> Sizing {
        let played = lay_out(self.work.deployment, &self);
        validate::validate(&mut self.work, self.architecture, &self.failures, &played);
        Sizing {
            sheet: self.work.sheet,
            architecture: self.architecture,
            notes: self.work.notes,
            findings: self.work.findings,
        }
    }
}
