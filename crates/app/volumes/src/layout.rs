//! `inspect layout`: whether this server matches the plan that it was built from.

use std::path::Path;

use host::look::layout;
use host::system;
use inspection::layout::{LayoutLook, LayoutPlan, LayoutRoots, SeenFolder};
use plan::Deployment;
use serde_json::{Value, json};

use super::inspect::answer::{InspectAnswer, conclude};
use crate::inspect::flags::LayoutFlags;
use console::Console;
use console::Outcome;
use console::documents::read_text;
use console::error::CommandError;
use designs::plan as plan_verb;

/// Compares the server with its plan; changes nothing.
pub(crate) fn run(flags: &LayoutFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let machine = system::machine(String::new()).name;
    let answer = answer_of(&flags.plan)?;
    let plan = LayoutPlan::of(&answer, flags.server.as_deref(), &machine)
        .map_err(|error| CommandError::new(format!("{}: {error}", flags.plan.display())))?;
    let roots = roots(flags)?;
    let seen = layout::seen(&plan, &roots);
    if !seen.contains_key(&roots.volumes) {
        return Err(CommandError::new(format!(
            "{}: no such folder, so that no volume of {} is there; say --volumes-root where they \
             are mounted",
            roots.volumes, plan.server
        )));
    }
    let findings = LayoutLook { plan: &plan, roots: &roots, seen: &seen }.findings();
    let places: Vec<Value> = seen.iter().map(place).collect();
    let answer = InspectAnswer {
        subject: &format!("{machine}, against the plan of {}", plan.server),
        findings: &findings,
        paths: &places,
        outputs: &[],
        is_open: false,
        lead: &[],
        inputs: &[&flags.plan],
    };
    conclude(&answer, &flags.answer, console)
}

/// The answer of `plan` for a deployment, or a saved one.
fn answer_of(path: &Path) -> Result<Value, CommandError> {
    let (file, text) = read_text(path)?;
    if !text.trim_start().starts_with('{') {
        return plan_verb::layout_of(&Deployment::parse(&file, &text)?);
    }
    serde_json::from_str(&text).map_err(|error| {
        CommandError::new(format!(
            "{file}: is no whole JSON: {error}; name the provision.json that `plimsoll plan \
             DEPLOYMENT -o DIR` writes"
        ))
    })
}

/// Mount points of volumes and databases on this system, or those that the user gives.
fn roots(flags: &LayoutFlags) -> Result<LayoutRoots, CommandError> {
    let usual = system::layout_roots();
    Ok(LayoutRoots {
        volumes: named(flags.volumes_root.as_deref())?.unwrap_or(usual.volumes),
        databases: named(flags.databases_root.as_deref())?.or(usual.databases),
        restore: named(flags.restore_folder.as_deref())?.or(usual.restore),
        platform: usual.platform,
    })
}

fn named(folder: Option<&Path>) -> Result<Option<String>, CommandError> {
    let Some(folder) = folder else {
        return Ok(None);
    };
    let whole = std::path::absolute(folder)
        .map_err(|error| CommandError::file(folder, "use the folder", &error))?;
    let whole = whole.to_str().map(str::to_owned);
    whole.map(Some).ok_or_else(|| {
        CommandError::new(format!("{}: is no UTF-8 path; choose another", folder.display()))
    })
}

fn place((path, seen): (&String, &SeenFolder)) -> Value {
    let volume = &seen.volume;
    json!({
        "path": path,
        "mounted_here": volume.is_mounted_here,
        "mount_point": volume.mount_point,
        "file_system": volume.file_system,
        "total_bytes": volume.total_bytes,
        "disk": volume.disk,
    })
}
