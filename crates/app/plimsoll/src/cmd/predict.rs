//! `--predict` of `size` and `plan`: the sized design judged in virtual time before anybody buys.

pub(super) mod designed;

use std::path::PathBuf;

use host::Measured;
use plan::Deployment;
use provision::{LighterDesign, Provision, TestPlan, lighter_designs};
use report::{DesignEdit, PredictedDesign};
use verdict::Ruling;

use crate::Outcome;
use crate::cmd::simulate::flags::SimulateFlags;
use crate::console::Console;
use crate::documents::{self, Existing};
use crate::error::CommandError;
use designed::DesignedSet;

/// Mount root of a simulation's volumes; nothing is created there.
const ROOT: &str = "/mnt/mail";

/// More edits than this are no help.
const MOST_EDITS: usize = 5;

/// Subject and destination of a prediction.
pub(super) struct PredictionOrder {
    /// The folder for plan, array and report.
    pub folder: PathBuf,
    /// The server; none takes the first.
    pub server: Option<String>,
    /// Whether existing plan and array files are replaced.
    pub force: bool,
    /// Name and text of the deployment, to try changes of it.
    pub document: (String, String),
}

/// Simulates one set of disks of a server with its databases. All sets are alike, so one represents
/// the server.
pub(super) fn of(
    deployment: &Deployment,
    provision: &Provision,
    order: &PredictionOrder,
    console: &mut Console,
) -> Result<PredictedDesign, CommandError> {
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
    let (plan, array) = write(order, &test.to_toml(provision)?, &set)?;
    console.remark(format_args!(
        "What {} would do: {} of its databases on one of its {} sets of disks, \"{}\", all active, \
         simulated.",
        server.name, set.databases, set.sets, set.array.name
    ))?;
    let output = documents::dated_folder(&order.folder, "simulated");
    let flags = SimulateFlags::of(plan, array.display().to_string(), output);
    let (measured, folder) = super::simulate::measured(&flags, console.is_quiet())?;
    let Measured { record, verdict, .. } = measured;
    console.conclude(super::conclusion::concluded(&record, &verdict, &folder));
    let passes = matches!(verdict.outcome, Ruling::Pass | Ruling::Warn);
    Ok(PredictedDesign {
        run: record,
        verdict,
        server: server.name.clone(),
        databases: set.databases,
        sets: set.sets,
        report: folder.join("report.html").display().to_string(),
        edits: if passes { Vec::new() } else { edits(&order.document) },
    })
}

/// Writes plan and array of the set.
fn write(
    order: &PredictionOrder,
    plan: &str,
    set: &DesignedSet,
) -> Result<(PathBuf, PathBuf), CommandError> {
    let paths = (order.folder.join("plan.toml"), order.folder.join("array.toml"));
    documents::make_folder(&order.folder)?;
    let existing = Existing::of_flag(order.force);
    documents::write(&paths.0, plan.as_bytes(), existing, &[])?;
    documents::write(&paths.1, set.array.text().as_bytes(), existing, &[])?;
    Ok(paths)
}

/// Edits of the deployment that ease its disks, of each key the first, which takes fewest disks.
fn edits((file, text): &(String, String)) -> Vec<DesignEdit> {
    let mut found: Vec<LighterDesign> = Vec::new();
    for one in lighter_designs(file, text) {
        if !found.iter().any(|other| other.edit.key == one.edit.key) {
            found.push(one);
        }
    }
    found.truncate(MOST_EDITS);
    found.iter().map(edit).collect()
}

pub(super) fn edit(of: &LighterDesign) -> DesignEdit {
    let (section, key) = of.edit.key.split_once('.').unwrap_or(("", &of.edit.key));
    DesignEdit {
        section: section.to_owned(),
        line: format!("{key} = {}", of.edit.value),
        effect: format!(
            "load of a disk {} % instead of {} %{}{}",
            whole(of.load.1 * 100.0),
            whole(of.load.0 * 100.0),
            changed(of.disks, "disks"),
            changed(of.servers, "servers"),
        ),
    }
}

/// A count after the edit and before it; empty if they are equal.
fn changed((before, after): (f64, f64), what: &str) -> String {
    if before.total_cmp(&after).is_eq() {
        return String::new();
    }
    format!("; {} {what} instead of {}", whole(after), whole(before))
}

fn whole(value: f64) -> String {
    report::format::number(value, 0)
}

/// The last lines of a separate prediction.
pub(super) fn conclude(
    predicted: &PredictedDesign,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    console.answer(report::summary(&predicted.run, &predicted.verdict).trim_end())?;
    console.answer(format_args!("Report: {}", predicted.report))?;
    if !predicted.edits.is_empty() {
        console.answer("Edits of the deployment that would leave less work for each disk:\n")?;
        console.answer(report::written_edits(&predicted.edits).trim_end())?;
    }
    Ok(Outcome::of(&predicted.verdict))
}
