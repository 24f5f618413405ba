//! `fleet`: one test over many hosts, from a private NATS server to one verdict.

pub mod access;
mod collect;
mod conduct;
pub mod flags;
mod hosts;
mod page;
pub mod played;
pub mod progress;
mod records;
mod server;
pub mod show;

use std::path::Path;

use carrier::Carrier;
use fleet::{EventAction, FleetOrder, HostWork};
use plan::{Overrides, Plan};
use units::Nanos;

pub use conduct::now;
use console::Console;
use console::Outcome;
use console::documents::{self, dated_folder, read_plan, read_text};
use console::error::CommandError;
use flags::{
    FleetAction, FleetAnswerFlags, FleetCollectFlags, FleetFlags, FleetRunFlags, FleetServerFlags,
};

/// Runs a verb of `fleet`.
pub fn run(flags: &FleetFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    match &flags.action {
        FleetAction::Up(flags) => server::up(flags, console),
        FleetAction::Down(flags) => server::down(&flags.state, console),
        FleetAction::Plan => {
            console.answer_text(FleetOrder::example())?;
            Ok(Outcome::Pass)
        }
        FleetAction::Hosts(flags) => {
            let carrier = connect(&flags.server)?;
            // Agent credentials cannot receive heartbeats, so they are refused here.
            carrier.lease_holder()?;
            hosts::list(&carrier, flags.json, console)
        }
        FleetAction::Status(flags) => status(flags, console),
        FleetAction::Stop(flags) => stop(flags, console),
        FleetAction::Run(flags) => run_plan(flags, console),
        FleetAction::Collect(flags) => collect(flags, console),
    }
}

/// Connects to the server that the flags specify.
pub fn connect(flags: &FleetServerFlags) -> Result<Carrier, CommandError> {
    let access = match &flags.server {
        Some(server) => access::access(Some(server), flags.credentials.as_deref(), "fleet")?,
        None => access::access(None, Some(&access::controller_file(&flags.state)), "fleet")?,
    };
    Ok(Carrier::connect(&access)?)
}

fn status(flags: &FleetAnswerFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let carrier = connect(&flags.server)?;
    let holder = carrier.lease_holder()?;
    if !flags.json {
        match &holder {
            Some(holder) => console.answer(format_args!("Controller: {holder}"))?,
            None => console.answer("Controller: none; no fleet run is live")?,
        }
    }
    hosts::list(&carrier, flags.json, console)
}

fn stop(flags: &FleetServerFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let carrier = connect(flags)?;
    let Some(holder) = carrier.lease_holder()? else {
        return Err(CommandError::new("no fleet run is live: there is nothing to stop"));
    };
    carrier.publish(conduct::STOP.to_owned(), Vec::new())?;
    console.answer(format_args!("Asked to stop: {holder}"))?;
    Ok(Outcome::Pass)
}

fn run_plan(flags: &FleetRunFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let (file, text) = read_text(&flags.plan)?;
    let order = FleetOrder::parse(&file, &text)?;
    let plans = host_plans(&flags.plan, &order)?;
    let work = host_work(&file, &order, &plans)?;
    let carrier = connect(&flags.server)?;
    let folder = flags.output.clone().unwrap_or_else(|| dated_folder(Path::new("."), &order.name));
    documents::make_new_folder(&folder)?;
    let longest = measured(&order, &plans);
    // Others consider the run live for as long as its journal is held.
    let _journal = conduct::conduct(&carrier, (&order, work, longest), &folder, console)?;
    collect::complete(&carrier, &folder, order.timing.collect, console)?;
    show::show(&folder, flags.json, console)
}

/// Returns the plan of every host. Sizes given as a share of a volume cannot be known here.
fn host_plans(fleet: &Path, order: &FleetOrder) -> Result<Vec<Plan>, CommandError> {
    let base = fleet.parent().unwrap_or(Path::new("."));
    order.hosts.iter().map(|host| host_plan(&base.join(&host.plan))).collect()
}

/// What every host does: its plan, and its part of the events.
fn host_work(
    file: &str,
    order: &FleetOrder,
    plans: &[Plan],
) -> Result<Vec<HostWork>, CommandError> {
    let shortest = plans.iter().map(|plan| plan.test.duration).min().unwrap_or_default();
    let mut faults: Vec<String> =
        order.late_events(shortest).iter().map(|fault| format!("{file}: {fault}")).collect();
    let mut work = Vec::new();
    for (host, plan) in plans.iter().enumerate() {
        match order.duties(host, plan) {
            Ok(duties) => work.push(HostWork { plan: plan.to_toml(), duties }),
            Err(fault) => faults.push(format!("{file}: {fault}")),
        }
    }
    if faults.is_empty() { Ok(work) } else { Err(CommandError::new(faults.join("\n"))) }
}

/// Longest measuring time of the hosts. It doubles if a host rejoins, which completes its time
/// after the others.
fn measured(order: &FleetOrder, plans: &[Plan]) -> Nanos {
    let longest = plans.iter().map(|plan| plan.test.duration).max().unwrap_or_default();
    let returns = order.events.iter().any(|of| matches!(of.action, EventAction::Rejoin { .. }));
    if returns { longest + longest } else { longest }
}

fn host_plan(path: &Path) -> Result<Plan, CommandError> {
    let plan = read_plan(path, &Overrides::default())?;
    if !plan.test.kind.is_load() {
        return Err(CommandError::new(format!(
            "{}: a fleet runs performance and stress tests, and this is a {} test; run it with \
             `plimsoll run` on its host",
            path.display(),
            plan.test.kind
        )));
    }
    Ok(plan)
}

fn collect(flags: &FleetCollectFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    collect::fleet_record(&flags.run)?;
    let carrier = connect(&flags.server)?;
    collect::complete(&carrier, &flags.run, units::Nanos::from_secs(30), console)?;
    show::show(&flags.run, flags.json, console)
}
