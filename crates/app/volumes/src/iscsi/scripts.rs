//! Setup of other targets and initiators: configurations and scripts that this program never runs.

use luns::{InitiatorSystem, connect_script, saved_configuration, target_script};

use super::store;
use super::work::IscsiWork;
use crate::iscsi::flags::{IscsiApplyFlags, IscsiBackend};
use console::Console;
use console::Outcome;
use console::documents;
use console::error::CommandError;

/// Writes the configuration, which holds secrets, or prints the script, which holds none.
pub(super) fn run(
    flags: &IscsiApplyFlags,
    backend: IscsiBackend,
    mut work: IscsiWork,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let system = match backend {
        IscsiBackend::OpenIscsi => InitiatorSystem::OpenIscsi,
        IscsiBackend::Esxi => InitiatorSystem::Esxi,
        IscsiBackend::WindowsInitiator => InitiatorSystem::Windows,
        IscsiBackend::Windows => {
            console.answer_text(&target_script(&work.design)?)?;
            return remember(&mut work, console);
        }
        IscsiBackend::Lio | IscsiBackend::Tgt | IscsiBackend::Print => {
            remember(&mut work, console)?;
            return write_configuration(flags, &work, console);
        }
    };
    let only = flags.initiator.as_deref();
    let mut targets = work
        .design
        .targets
        .iter()
        .filter(|target| only.is_none_or(|only| only == target.initiator))
        .peekable();
    if targets.peek().is_none() {
        let names: Vec<&str> =
            work.design.targets.iter().map(|target| target.initiator.as_str()).collect();
        return Err(CommandError::new(format!(
            "--initiator: there is none of that name that reaches a LUN; give one of {}",
            names.join(", ")
        )));
    }
    for target in targets {
        console.answer_text(&connect_script(&work.design, target, system))?;
    }
    Ok(Outcome::Pass)
}

/// Stores the secrets that the script will ask for when it runs.
fn remember(work: &mut IscsiWork, console: &mut Console) -> Result<Outcome, CommandError> {
    if work.store.complete(&work.design)? {
        work.store.write_secrets()?;
    }
    console.remark(format_args!("secrets: {}", work.store.secrets_path().display()))?;
    Ok(Outcome::Pass)
}

fn write_configuration(
    flags: &IscsiApplyFlags,
    work: &IscsiWork,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let Some(path) = &flags.output else {
        return Err(CommandError::usage("--backend lio: say where with -o FILE"));
    };
    if path.symlink_metadata().is_ok() {
        return Err(CommandError::new(format!(
            "{}: is there already, and nothing is written over; remove it or name another",
            path.display()
        )));
    }
    documents::make_parents(path)?;
    let configuration = saved_configuration(&work.design, &work.store.secrets, &work.store.state);
    store::write_private(path, format!("{configuration:#}\n").as_bytes())?;
    console.answer(path.display())?;
    console.remark(format_args!(
        "On a target without any configuration yet: targetcli restoreconfig {}",
        path.display()
    ))?;
    Ok(Outcome::Pass)
}
