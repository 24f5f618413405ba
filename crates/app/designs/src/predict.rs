//! `--predict` of `size` and `plan`: judges the sized design in virtual time, before it is bought.

pub(super) mod designed;

use std::path::{Path, PathBuf};

use blueprint::{PredictedDesign, SimulatedEdit};
use host::{Measured, StopFlag};
use plan::Deployment;
use plan::deployment::Replacement;
use provision::{Provision, TestPlan};
use verdict::Ruling;

use crate::edits::{self, TriedEdit};
use crate::simulate::{self, flags::SimulateFlags};
use console::Console;
use console::Outcome;
use console::documents::{self, Existing};
use console::error::CommandError;
use console::signals;
use designed::DesignedSet;

/// Mount root of a simulation's volumes; nothing is created there.
const ROOT: &str = "/mnt/mail";

/// Subject and destination of a prediction.
pub(super) struct PredictionOrder {
    /// The folder for plan, array and report.
    pub folder: PathBuf,
    /// The server; `None` selects the first.
    pub server: Option<String>,
    /// `true` to replace existing plan and array files.
    pub force: bool,
    /// Name and text of the deployment, for trying changes to it.
    pub document: (String, String),
}

/// The folder for a prediction: `folder`, or the next free one of its name, such as `folder-2`, if
/// an earlier prediction is there. A person edits the design and asks again, and compares both.
pub(super) fn free_folder(folder: &Path) -> PathBuf {
    if !["plan.toml", "array.toml"].iter().all(|file| folder.join(file).exists()) {
        return folder.to_owned();
    }
    let mut numbered = (2_u32..).map(|number| {
        let mut name = folder.file_name().unwrap_or_default().to_owned();
        name.push(format!("-{number}"));
        folder.with_file_name(name)
    });
    let free = numbered.find(|folder| folder.symlink_metadata().is_err());
    free.expect("invariant: fewer folders than numbers")
}

/// Simulates one disk set of a server with its databases. All sets are alike, so one represents the
/// server. If it does not pass, also simulates edits of the deployment.
pub(super) fn of(
    deployment: &Deployment,
    provision: &Provision,
    order: &PredictionOrder,
    console: &mut Console,
) -> Result<PredictedDesign, CommandError> {
    let stop = signals::install(simulate::STOPS_A_SIMULATION)?;
    let test = test_of(order.server.clone());
    let server = test.server_of(provision)?.name.clone();
    let of_set = set_of(deployment, provision, test)?;
    let set = &of_set.set;
    console.remark(format_args!(
        "What {server} would do: {} of its databases on {} of disks, \"{}\", all active, \
         simulated.",
        set.databases,
        if set.sets == 1 { "its set".to_owned() } else { format!("one of its {} sets", set.sets) },
        set.array.name
    ))?;
    let (Measured { record, verdict, .. }, folder) =
        simulated(&of_set, (&order.folder, order.force), &stop, console)?;
    console.conclude(console::conclusion::concluded(&record, &verdict, &folder));
    let mut edits = match verdict.outcome {
        Ruling::Pass | Ruling::Warn => Vec::new(),
        Ruling::Fail | Ruling::CannotJudge => edits::to_try(&order.document, false),
    };
    try_edits(&mut edits, order, &stop, console)?;
    Ok(PredictedDesign {
        run: record,
        verdict,
        server,
        databases: of_set.set.databases,
        sets: of_set.set.sets,
        report: folder.join("report.html").display().to_string(),
        edits: edits::written(&edits, deployment),
    })
}

/// Full-size test of a server, the first one if none is named.
fn test_of(server: Option<String>) -> TestPlan {
    TestPlan { server, root: ROOT.to_owned(), scale: 1.0, databases: None }
}

/// A set of disks and the plan of the databases on it.
struct PlannedSet {
    set: DesignedSet,
    plan: String,
}

/// The set of disks of the server of `test`.
fn set_of(
    deployment: &Deployment,
    provision: &Provision,
    mut test: TestPlan,
) -> Result<PlannedSet, CommandError> {
    let server = test.server_of(provision)?;
    let storage = &deployment.storage;
    let disks = if server.site == 0 { &storage.first } else { &storage.second };
    let set = DesignedSet::of(provision, server, &disks.database)?;
    test.databases = Some(set.databases);
    Ok(PlannedSet { plan: test.to_toml(provision)?, set })
}

/// Simulates a set in a folder, replacing its files if `force`; returns the run and its folder. A
/// light load that shows too little in the usual time is simulated again for long enough.
fn simulated(
    of: &PlannedSet,
    (folder, force): (&Path, bool),
    stop: &StopFlag,
    console: &Console,
) -> Result<(Measured, PathBuf), CommandError> {
    let (plan, array) = write(folder, force, of)?;
    let output = documents::dated_folder(folder, "simulated");
    let flags = SimulateFlags::of(plan, array.display().to_string(), output);
    let (measured, output) = simulate::measured(&flags, stop, console.is_quiet())?;
    let Measured { record, verdict, .. } = &measured;
    let is_unjudged = verdict.outcome == Ruling::CannotJudge && !stop.is_set();
    match report::time_for_verdict(record, verdict).filter(|_| is_unjudged) {
        Some(duration) => {
            let output = documents::dated_folder(folder, "simulated");
            let longer = SimulateFlags { duration: Some(duration), output: Some(output), ..flags };
            simulate::measured(&longer, stop, console.is_quiet())
        }
        None => Ok((measured, output)),
    }
}

/// Simulates the edits one after the other, until the user stops it.
fn try_edits(
    edits: &mut [TriedEdit],
    order: &PredictionOrder,
    stop: &StopFlag,
    console: &mut Console,
) -> Result<(), CommandError> {
    let count = edits.len();
    for (number, TriedEdit { design, simulated }) in (1..).zip(edits) {
        if stop.is_set() {
            break;
        }
        let edit = &design.edit;
        let (key, value) = (&edit.key, &edit.value);
        console.remark(format_args!("Change {number} of {count}, {key} = {value}:"))?;
        let folder = order.folder.join(format!("edit-{number}"));
        match of_edit(edit, (order, &folder), stop, console) {
            Ok(result) => *simulated = Some(result),
            // A design that cannot be laid out or simulated is no way out.
            Err(error) => remark_refusal(error, console)?,
        }
    }
    Ok(())
}

/// Simulates the design with an edit of its document.
fn of_edit(
    edit: &Replacement,
    (order, folder): (&PredictionOrder, &Path),
    stop: &StopFlag,
    console: &Console,
) -> Result<SimulatedEdit, CommandError> {
    let (file, text) = &order.document;
    let changed = Deployment::parse_with(file, text, std::slice::from_ref(edit))?;
    let (provision, _) = super::plan::laid_out(&changed, None)?;
    let of_set = set_of(&changed, &provision, test_of(None))?;
    let (Measured { record, verdict, .. }, _) =
        simulated(&of_set, (folder, order.force), stop, console)?;
    Ok(SimulatedEdit::of(&record, &verdict))
}

/// Writes plan and array of the set.
fn write(folder: &Path, force: bool, of: &PlannedSet) -> Result<(PathBuf, PathBuf), CommandError> {
    let paths = (folder.join("plan.toml"), folder.join("array.toml"));
    documents::make_folder(folder)?;
    let existing = Existing::of_flag(force);
    documents::write(&paths.0, of.plan.as_bytes(), existing, &[])?;
    documents::write(&paths.1, of.set.array.text().as_bytes(), existing, &[])?;
    Ok(paths)
}

/// Says why a design that already fails was not simulated; an error without words is returned.
pub(super) fn remark_refusal(
    error: CommandError,
    console: &mut Console,
) -> Result<(), CommandError> {
    match error.told() {
        Some((reason, _)) => console.remark(format_args!("not simulated: {reason}")),
        None => Err(error),
    }
}

/// The last lines of a separate prediction.
pub(super) fn conclude(
    predicted: &PredictedDesign,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    console.answer(report::summary(&predicted.run, &predicted.verdict).trim_end())?;
    console.answer(format_args!("Report: {}", predicted.report))?;
    let edits = blueprint::written_edits(&predicted.edits, "predict");
    if !edits.is_empty() {
        console.answer(edits.trim_end())?;
    }
    Ok(Outcome::of(&predicted.verdict))
}

#[cfg(test)]
mod tests {
    use host::{HostObserver, scratch::ScratchFolder};

    use super::free_folder;

    /// A folder with a plan and no array is no earlier prediction, and is refused later.
    #[test]
    fn a_prediction_goes_beside_the_earlier_ones() -> Result<(), Box<dyn std::error::Error>> {
        let parent = std::env::temp_dir();
        let scratch = ScratchFolder::new(&parent, "plimsoll-free", &HostObserver::none())?;
        let first = scratch.path().join("out");
        std::fs::create_dir(&first)?;
        std::fs::write(first.join("plan.toml"), b"")?;
        assert_eq!(free_folder(&first), first);
        std::fs::write(first.join("array.toml"), b"")?;
        for out in [first.clone(), first.join("")] {
            assert_eq!(free_folder(&out), scratch.path().join("out-2"), "{}", out.display());
        }
        std::fs::create_dir(scratch.path().join("out-2"))?;
        assert_eq!(free_folder(&first), scratch.path().join("out-3"));
        Ok(())
    }
}
