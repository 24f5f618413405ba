//! `quick`: fills databases, measures and reports in one command, with a built-in plan.

pub(crate) mod flags;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use host::allowance::{self, DatabaseUse};
use host::fill::{Complete, fill_with};
use host::target::{self, RawTarget};
use host::{RunOrder, wire};
use plan::{Overrides, Plan};
use trial::manifest::{self, ManifestState};
use trial::room;
use units::Bytes;

use super::prepare;
use console::Console;
use console::Outcome;
use console::conclusion::conclude;
use console::documents::dated_folder;
use console::error::CommandError;
use console::shell::{options_of_run, shell_word};
use console::shown;
use console::signals::{self, STOPS_A_RUN};
use flags::QuickFlags;

/// Default folder, created if no other is named.
const DEFAULT_FOLDER: &str = "plimsoll-quick";

/// Fills, measures, verifies, judges, reports.
pub(crate) fn run(flags: &QuickFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let folder = flags.folder.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_FOLDER));
    let is_raw = RawTarget::of(&folder).is_some();
    let folder = if is_raw { folder } else { absolute(&folder)? };
    let overrides = Overrides {
        name: flags.recorded.identity.name.clone(),
        duration: flags.duration,
        size: flags.size,
        sessions: flags.threads,
        target_iops: flags.target_iops,
        ..Overrides::default()
    };
    let options =
        options_of_run(&overrides, &flags.recorded.identity.tags, flags.output.as_deref());
    let plan = Plan::quick(&folder.display().to_string(), &overrides)?;
    if !is_raw {
        find_folder(&folder, flags.folder.is_none())?;
    }
    let left = databases_left(&plan)?;
    refuse_other_size(flags, &folder, left)?;
    let plan = fitting(&plan, &folder, (overrides, left.map(|left| left.size)))?;
    // A plan that cannot be measured is not worth populating.
    allowance::check(&plan, DatabaseUse::Load)?;
    console.remark(announcement(&plan, &folder, left.filter(|_| !flags.reset)))?;
    if flags.folder.is_none() {
        console.remark("For another disk, name a folder on it: plimsoll quick DIR")?;
    }
    let stop = signals::install(STOPS_A_RUN)?;
    let complete = if flags.reset { Complete::Reset } else { Complete::Stays };
    let filled = fill_with(&plan, complete, &stop, &shown::on_console(console.is_quiet()))?;
    if !flags.json && !console.is_quiet() {
        prepare::print(&filled, console)?;
        console.flush()?;
    }
    // A raw device can hold only databases.
    let beside = if is_raw { Path::new(".") } else { &folder };
    let run_folder = flags.output.clone().unwrap_or_else(|| dated_folder(beside, &plan.name));
    let order = RunOrder {
        plan: &plan,
        command: command(flags),
        options,
        folder: &run_folder,
        tags: &flags.recorded.identity.tags,
        set: &[],
        resumed: None,
        acknowledge: None,
        is_held: false,
    };
    let measured = host::run(order, &stop, &shown::on_console(console.is_quiet()))?;
    let outcome = conclude(&measured, &run_folder, flags.json, console)?;
    let is_own = flags.folder.is_none();
    console.remark(format_args!(
        "The databases stay in {} for the next time; {}.",
        folder.display(),
        how_to_remove(is_own, is_raw)
    ))?;
    Ok(outcome)
}

/// What to remove at the end. A folder that the user named may hold other files.
const fn how_to_remove(is_own_folder: bool, is_raw: bool) -> &'static str {
    match (is_own_folder, is_raw) {
        (_, true) => "--reset fills them anew",
        (true, false) => "remove the folder when you are done",
        (false, false) => {
            "when you are done, remove Plimsoll00*, E0*.plg, E0*.pck, E0*.owner.json and the \
             folders run-* there"
        }
    }
}

/// Refuses a size that complete databases of an earlier `quick` do not have.
fn refuse_other_size(
    flags: &QuickFlags,
    folder: &Path,
    left: Option<LeftDatabases>,
) -> Result<(), CommandError> {
    let left = left.filter(|left| left.is_complete && !flags.reset).map(|left| left.size);
    let (Some(asked), Some(left)) = (flags.size, left) else { return Ok(()) };
    if asked == left {
        return Ok(());
    }
    Err(CommandError::new(format!(
        "{}: holds databases that were filled to {left} each; leave out --size to measure those, \
         or add --reset to fill them anew to {asked}",
        folder.display()
    )))
}

fn absolute(folder: &Path) -> Result<PathBuf, CommandError> {
    std::path::absolute(folder)
        .map_err(|error| CommandError::file(folder, "use the folder", &error))
}

/// The command that repeats the test, without its options.
fn command(flags: &QuickFlags) -> String {
    match &flags.folder {
        Some(folder) => format!("plimsoll quick {}", shell_word(folder)),
        None => "plimsoll quick".to_owned(),
    }
}

/// Returns the plan with databases of the requested size, else of their existing size, else of one
/// that leaves them room to grow. Refuses sizes that would leave no room for the run.
fn fitting(
    plan: &Plan,
    folder: &Path,
    (overrides, there): (Overrides, Option<Bytes>),
) -> Result<Plan, CommandError> {
    let free = Bytes(target::free_bytes(folder)?);
    let size = match (overrides.size, there) {
        (Some(given), _) => given,
        (None, Some(there)) => there,
        (None, None) => room::first_look_size(plan, free),
    };
    let name = folder.display().to_string();
    let plan = Plan::quick(&name, &Overrides { size: Some(size), ..overrides })?;
    if there.is_none() {
        room::refuse_first_look(&plan, &name, free)
            .map_err(|shortage| CommandError::new(shortage.to_string()))?;
    }
    Ok(plan)
}

/// Databases of an earlier `quick`.
#[derive(Clone, Copy)]
struct LeftDatabases {
    /// Planned size of each.
    size: Bytes,
    /// Whether they were filled to their end.
    is_complete: bool,
}

/// The databases that an earlier `quick` left, if any.
fn databases_left(plan: &Plan) -> Result<Option<LeftDatabases>, CommandError> {
    let world = wire::world()?;
    let first = wire::locations(&world, plan, &plan.databases[..1])?.remove(0);
    let manifest = world.executor().block_on(async move { manifest::read(&first).await })?;
    Ok(manifest.and_then(|manifest| {
        let is_complete = manifest.state == ManifestState::Complete;
        Some(LeftDatabases { size: manifest.planned_size()?, is_complete })
    }))
}

/// An announcement for first-time users. Databases that an earlier `quick` left are used again,
/// whatever length they have by now.
fn announcement(plan: &Plan, folder: &Path, left: Option<LeftDatabases>) -> String {
    let (count, duration, folder) = (plan.databases.len(), plan.test.duration, folder.display());
    let work = match left.filter(|left| left.is_complete) {
        Some(LeftDatabases { size, .. }) => format!(
            "Plimsoll runs mail transactions on the {count} databases that it filled there \
             earlier, to {size} each (--size and --reset replace them)"
        ),
        None => format!(
            "Plimsoll creates {count} databases of {} there, runs mail transactions on them",
            Bytes(plan.size.0)
        ),
    };
    format!(
        "Would the disk under {folder} carry a mailbox load? {work} for {duration}, verifies \
         every page, and judges the latencies. Ctrl-C stops cleanly."
    )
}

/// Creates only the default folder: a mistyped path, or one to an unmounted volume, must not
/// qualify the disk that it would end up on.
fn find_folder(folder: &Path, is_default: bool) -> Result<(), CommandError> {
    let found = if is_default { fs::create_dir(folder) } else { fs::metadata(folder).map(drop) };
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Err(CommandError::new(format!(
            "{}: no such folder; check the path and that the volume is mounted, or create the \
             folder",
            folder.display()
        ))),
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(CommandError::file(folder, "use the folder", &error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use plan::{Overrides, Plan};
    use units::Bytes;

    use super::{LeftDatabases, announcement};

    #[test]
    fn databases_that_are_there_are_not_announced_as_new() {
        let plan = Plan::quick("/mnt", &Overrides::default()).expect("the built-in plan");
        let said = |left| announcement(&plan, Path::new("/mnt"), left);
        assert!(said(None).contains("creates 2 databases of 1.00 GiB"), "{}", said(None));
        let left = |is_complete| Some(LeftDatabases { size: Bytes::from_mib(1_280), is_complete });
        assert_eq!(said(left(false)), said(None), "an unfinished fill begins anew");
        let again = said(left(true));
        assert!(again.contains("filled there earlier, to 1.25 GiB each"), "{again}");
        assert!(!again.contains("creates"), "{again}");
    }
}
