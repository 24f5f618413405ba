//! Hosts that share an array and back up, verify or recover their databases at the same time.

use std::path::{Path, PathBuf};

use fleet::FleetOrder;
use host::StopFlag;
use host::simulate::{SharedHost, SimulatedStorage, SimulationOrder, simulate_together};
use plan::Plan;

use super::super::flags::SimulateFlags;
use super::super::overrides;
use super::conduct::{FleetNotes, host_folder};
use super::from_fleet::host_flags;
use console::Console;
use console::documents::read_plan;
use console::error::CommandError;
use console::shell::{options, shell_word};
use simdisk::ArrayDescription;

/// The plan of each host with the options that changed it.
pub(super) struct PassPlans(Vec<(Plan, Vec<(String, String)>)>);

/// Returns the plans of the hosts; `None` if any of them runs a load.
pub(super) fn plans(
    flags: &SimulateFlags,
    order: &FleetOrder,
) -> Result<Option<PassPlans>, CommandError> {
    let mut plans = Vec::new();
    for number in 0..order.hosts.len() {
        let own = host_flags(flags, order, (number, Path::new("")));
        let overrides = overrides(&own)?;
        let plan = read_plan(&own.plan, &overrides)?;
        if plan.test.kind.is_load() && !plan.test.is_recovery() {
            return Ok(None);
        }
        plans.push((plan, options(&overrides)));
    }
    Ok(Some(PassPlans(plans)))
}

/// Simulates the passes of all hosts on one array, into the folder of a fleet run.
pub(super) fn run(
    flags: &SimulateFlags,
    order: &FleetOrder,
    (plans, array, folder): (&PassPlans, &ArrayDescription, &Path),
    console: &mut Console,
) -> Result<(), CommandError> {
    let names: Vec<String> = order.hosts.iter().map(|host| host.host.clone()).collect();
    let hosts = units::plural(names.len() as u64, "host");
    console.remark(format_args!("{hosts} on one array, simulated together."))?;
    let storage = SimulatedStorage { array: array.clone(), is_each_folder: false };
    let command = format!(
        "plimsoll simulate {} --array {}",
        shell_word(&flags.plan),
        shell_word(Path::new(&flags.array))
    );
    let folders: Vec<PathBuf> =
        names.iter().enumerate().map(|(number, name)| host_folder(folder, number, name)).collect();
    let hosts: Vec<SharedHost<'_>> = { plans.0.iter().zip(&names).zip(&folders) }
        .map(|(((plan, options), name), folder)| SharedHost {
            name,
            order: SimulationOrder {
                plan,
                storage: &storage,
                profile: None,
                rest_percent: flags.rest,
                seed: plan.seed,
                command: command.clone(),
                options: options.clone(),
                tags: &flags.identity.tags,
                folder,
            },
        })
        .collect();
    let ended = simulate_together(&hosts, &StopFlag::default())?;
    let mut notes = FleetNotes::begin(folder, &order.name, &names)?;
    for (host, measured) in ended.iter().enumerate() {
        notes.ended(host, measured.verdict.exit_code())?;
    }
    notes.end()
}
