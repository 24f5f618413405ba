//! Which folders an agent may write to. The list is the host administrator's; a controller cannot
//! widen it, and links are resolved before the check.

use std::path::{Path, PathBuf};

use plan::Plan;

/// Refuses a plan with a folder outside the allowed ones.
pub(super) fn check(
    plan: &Plan,
    allowed: &[PathBuf],
    resolve: &dyn Fn(&Path) -> Option<PathBuf>,
) -> Result<(), String> {
    if allowed.is_empty() {
        return Err("this agent may touch no folder: start it with --allow FOLDER".to_owned());
    }
    for folder in folders(plan) {
        let real = resolve_deep(&folder, resolve)
            .ok_or_else(|| format!("{} does not exist on this host", folder.display()))?;
        if !allowed.iter().any(|base| real.starts_with(base)) {
            let all: Vec<String> = allowed.iter().map(|of| of.display().to_string()).collect();
            return Err(format!(
                "{} is not allowed on this host, only {}: start the agent with --allow {}",
                real.display(),
                all.join(", "),
                real.display()
            ));
        }
    }
    Ok(())
}

/// Every folder that the plan writes to.
fn folders(plan: &Plan) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for database in &plan.databases {
        folders.extend([&database.folder, &database.log_folder].map(PathBuf::from));
        folders.extend(plan.backup_folder(database).map(PathBuf::from));
    }
    folders.sort();
    folders.dedup();
    folders
}

/// The real path of a folder that may have to be created: its deepest existing ancestor resolved,
/// and the rest below it, which must not contain `..`.
fn resolve_deep(folder: &Path, resolve: &dyn Fn(&Path) -> Option<PathBuf>) -> Option<PathBuf> {
    let climbs = folder.components().any(|part| matches!(part, std::path::Component::ParentDir));
    if climbs || !folder.is_absolute() {
        return None;
    }
    folder.ancestors().find_map(|ancestor| {
        let real = resolve(ancestor)?;
        Some(real.join(folder.strip_prefix(ancestor).ok()?))
    })
}
