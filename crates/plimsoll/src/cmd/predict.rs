//! `--predict` of `size` and `plan`: the sized design judged in virtual time before anybody buys.

use std::path::{Path, PathBuf};

use plan::Deployment;
use provision::{Provision, TestPlan};

use crate::Outcome;
use crate::console::Console;
use crate::documents::{self, Existing};
use crate::error::CommandError;
use crate::flags::SimulateFlags;
use crate::shell::shell_word;
use crate::simulate::DesignedSet;

/// Where a simulation's volumes would be mounted; nothing is made there.
const ROOT: &str = "/mnt/mail";

/// What is predicted, and where it is written.
pub(super) struct PredictionOrder {
    /// The folder for plan, array and report.
    pub folder: PathBuf,
    /// The server; none takes the first.
    pub server: Option<String>,
    /// Whether plan and array that are there already are replaced.
    pub force: bool,
}

/// Simulates what one set of disks of a server does with its databases. All sets are alike, so that
/// one says what a server does.
pub(super) fn of(
    deployment: &Deployment,
    provision: &Provision,
    order: &PredictionOrder,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let mut test = TestPlan {
        server: order.server.clone(),
        root: ROOT.to_owned(),
        scale: 1.0,
        databases: None,
    };
    let server = test.server_of(provision)?;
    let storage = &deployment.storage;
    let disks = if server.site == 0 { &storage.first } else { &storage.second };
    let set = DesignedSet::of(provision, server, &disks.database)?;
    test.databases = Some(set.databases);
    let (plan, array) = (order.folder.join("plan.toml"), order.folder.join("array.toml"));
    documents::make_folder(&order.folder)?;
    let existing = Existing::of_flag(order.force);
    documents::write(&plan, test.to_toml(provision)?.as_bytes(), existing, &[])?;
    documents::write(&array, set.array.text().as_bytes(), existing, &[])?;
    console.remark(format_args!(
        "What {} would do: {} of its databases on one of its {} sets of disks, \"{}\", all active, \
         simulated.",
        server.name, set.databases, set.sets, set.array.name
    ))?;
    let output = documents::dated_folder(&order.folder, "simulated");
    let flags = SimulateFlags::of(plan.clone(), array.display().to_string(), output);
    let outcome = super::simulate::run(&flags, console)?;
    what_next(&plan, &array, console)?;
    Ok(outcome)
}

fn what_next(plan: &Path, array: &Path, console: &mut Console) -> Result<(), CommandError> {
    console.remark(format_args!(
        "Next: what else it could be: plimsoll simulate {} --array {} --what-if raid.level=10,5,6 \
         raid.disks=6,8 cache.mode=write-back,write-through",
        shell_word(plan),
        shell_word(array)
    ))
}
