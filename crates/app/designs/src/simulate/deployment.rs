//! `simulate` of a deployment: the hosts of a fleet plan, or the servers of a provision.

pub(crate) mod arrangement;
pub(crate) mod conduct;
mod from_fleet;
pub(crate) mod from_provision;
mod next_steps;
mod passes;
mod shelf;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fleet::FleetOrder;
use plan::parse_duration;
use rehearsal::Occurrence;
use report::TEXT_WIDTH;
use serde_json::Value;
use simdisk::ArrayDescription;
use units::Nanos;

use super::array_text;
use super::flags::SimulateFlags;
use arrangement::{Arrangement, ArrayChoice, Sharing};
use conduct::{Played, RehearsalOrder};
use console::Console;
use console::Outcome;
use console::documents::{dated_folder, make_new_folder, read_text, write_new};
use console::error::CommandError;

/// Default simulated length of a deployment.
const USUAL: Nanos = Nanos::from_secs(24 * 3_600);

/// A document that describes more than one host.
pub(crate) enum DeploymentDocument {
    /// The answer of `plan` for a deployment.
    Provision(Value),
    /// A fleet plan.
    Fleet(Box<FleetOrder>),
}

/// Reads the deployment in `path`; `None` if it is a plan for one host.
pub(crate) fn document(path: &Path) -> Result<Option<DeploymentDocument>, CommandError> {
    let (file, text) = read_text(path)?;
    if text.trim_start().starts_with('{') {
        let value = serde_json::from_str(&text).map_err(|error| {
            CommandError::new(format!(
                "{file}: is no whole JSON: {error}; name the provision.json that `plimsoll plan \
                 DEPLOYMENT -o DIR` writes"
            ))
        })?;
        return Ok(Some(DeploymentDocument::Provision(value)));
    }
    if !text.lines().any(|line| line.trim() == "[[host]]") {
        return Ok(None);
    }
    let order = FleetOrder::parse(&file, &text)?;
    Ok(Some(DeploymentDocument::Fleet(Box::new(order))))
}

/// Refuses deployment flags for the plan of one host, which would ignore them.
pub(super) fn refuse_for_one_host(flags: &SimulateFlags) -> Result<(), CommandError> {
    let given = [
        (!flags.events.is_empty(), "--event"),
        (flags.shared_array, "--shared-array"),
        (flags.rebuild_rate.is_some(), "--rebuild-rate"),
    ];
    refuse(&given, "is for deployments; name a fleet plan or a provision.json")
}

/// Refuses load flags for a provision, which specifies the demand.
fn refuse_for_provision(flags: &SimulateFlags) -> Result<(), CommandError> {
    let given = [
        (flags.threads.is_some(), "--threads"),
        (flags.target_iops.is_some(), "--target-iops"),
        (flags.test.is_some(), "--test"),
    ];
    refuse(&given, "is for plans; a provision says itself what its databases demand")
}

fn refuse(given: &[(bool, &str)], why: &str) -> Result<(), CommandError> {
    let first = given.iter().find(|(is_given, _)| *is_given);
    first.map_or(Ok(()), |(_, flag)| Err(CommandError::new(format!("{flag}: {why}"))))
}

/// Simulates a deployment and prints the result.
pub(crate) fn run(
    flags: &SimulateFlags,
    document: &DeploymentDocument,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    if !flags.what_if.is_empty() {
        return Err(CommandError::new(
            "--what-if: changes are tried on one plan and one array; simulate each deployment \
             with its own --array",
        ));
    }
    let choice = choice(flags, document)?;
    if let DeploymentDocument::Fleet(order) = document
        && let Some(folder) = without_timeline(flags, order, &choice, console)?
    {
        let outcome = fleets::show::show(&folder, flags.json, console)?;
        for step in next_steps::of_hosts(flags, outcome) {
            console.remark(format_args!("Next: {step}"))?;
        }
        return Ok(outcome);
    }
    let (mut arrangement, mut occurrences) = match document {
        DeploymentDocument::Provision(value) => {
            refuse_for_provision(flags)?;
            (from_provision::arranged(value, &choice, flags.seed)?, Vec::new())
        }
        DeploymentDocument::Fleet(order) => from_fleet::arranged(flags, order, &choice)?,
    };
    if let Some(rate) = flags.rebuild_rate {
        arrangement.deployment.rules.rebuild_rate = Some(rate.0 as f64);
    }
    for text in &flags.events {
        occurrences.push(Occurrence::parse(text, &arrangement.deployment, parse_duration)?);
    }
    let length = flags.duration.unwrap_or(USUAL);
    refuse_late(&occurrences, length)?;
    let arrangement = arrangement.measured(&choice, flags.rest)?;
    let folder = folder(flags, &arrangement.name)?;
    let order = RehearsalOrder {
        arrangement: &arrangement,
        occurrences: &occurrences,
        length,
        seeds: flags.seeds,
        rest_percent: flags.rest,
        folder: Some(&folder),
        command: super::command(flags),
    };
    let played = order.conduct()?;
    conclude(flags, &arrangement, (&occurrences, &played), &folder, console)
}

/// Simulates a fleet that has no timeline: its hosts share nothing, or process whole databases in
/// one pass. Returns the folder of its record; `None` for loads with events or shared arrays.
fn without_timeline(
    flags: &SimulateFlags,
    order: &FleetOrder,
    choice: &ArrayChoice,
    console: &mut Console,
) -> Result<Option<PathBuf>, CommandError> {
    if !from_fleet::has_no_events(order, &flags.events) {
        return Ok(None);
    }
    if choice.sharing != Sharing::All && order.databases.is_empty() {
        let folder = folder(flags, &order.name)?;
        from_fleet::each_alone(flags, order, &folder, console)?;
        return Ok(Some(folder));
    }
    let plans = passes::plans(flags, order)?;
    let Some(plans) = plans.filter(|_| choice.sharing == Sharing::All) else {
        return Ok(None);
    };
    let folder = folder(flags, &order.name)?;
    passes::run(flags, order, (&plans, &choice.array, &folder), console)?;
    Ok(Some(folder))
}

/// Events beyond the end would be ignored.
fn refuse_late(occurrences: &[Occurrence], length: Nanos) -> Result<(), CommandError> {
    let late = occurrences.iter().find(|of| of.at >= length);
    late.map_or(Ok(()), |of| {
        Err(CommandError::new(format!(
            "event {}: begins after the end of the simulation; give a longer --duration than {}",
            of.text,
            plan::write_duration(length)
        )))
    })
}

fn choice(
    flags: &SimulateFlags,
    document: &DeploymentDocument,
) -> Result<ArrayChoice, CommandError> {
    let (file, text) = array_text(&flags.array)?;
    let array = ArrayDescription::parse(&file, &text, &[])
        .map_err(|error| CommandError::new(error.to_string()))?;
    let is_shared = match document {
        DeploymentDocument::Fleet(order) => order.shared_storage,
        DeploymentDocument::Provision(_) => false,
    };
    let sharing = match (flags.shared_array || is_shared, flags.each_folder) {
        (true, _) => Sharing::All,
        (false, true) => Sharing::Folder,
        (false, false) => Sharing::Host,
    };
    Ok(ArrayChoice { array, sharing, others: BTreeMap::new() })
}

fn folder(flags: &SimulateFlags, name: &str) -> Result<PathBuf, CommandError> {
    let name = flags.identity.name.as_deref().unwrap_or(name);
    let folder = flags.output.clone().unwrap_or_else(|| dated_folder(Path::new("."), name));
    make_new_folder(&folder)?;
    Ok(folder)
}

/// Writes the reports and prints the text or the JSON.
fn conclude(
    flags: &SimulateFlags,
    arrangement: &Arrangement,
    (occurrences, played): (&[Occurrence], &Played),
    folder: &Path,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let shown = played.report(arrangement, occurrences);
    let steps = next_steps::of_played(flags, &shown);
    let text = blueprint::deployment_text(&shown, &steps, TEXT_WIDTH);
    let answer = blueprint::deployment_json(&shown, &steps);
    let page = folder.join("deployment.html");
    write_new(&page, blueprint::deployment_html(&shown, &steps).as_bytes())?;
    write_new(&folder.join("deployment.txt"), text.as_bytes())?;
    write_new(&folder.join("deployment.json"), format!("{answer:#}\n").as_bytes())?;
    if flags.json {
        console.answer_json_line(&answer.to_string())?;
    } else {
        let text = blueprint::deployment_text(&shown, &steps, console.text_width());
        console.answer(text.trim_end())?;
        console.answer(format_args!("Report: {}", page.display()))?;
    }
    Ok(Outcome::of_ruling(shown.ruling()))
}
