//! `limits set`: plans all edits first, shows them, and writes only with `--write`.

use std::path::PathBuf;

use limits::{Application, ConfigFile, Edit, LARGEST_BYTES, Protocol, apply, plan};
use serde_json::{Value, json};
use units::Bytes;

use super::find::{FoundServer, host_of, servers};
use super::write::replace;
use crate::cmd::limits::flags::LimitsSetFlags;
use console::Console;
use console::Outcome;
use console::error::CommandError;

/// A file and its edits.
struct LimitChange {
    path: PathBuf,
    file: ConfigFile,
    edits: Vec<Edit>,
    /// Application pool to restart by hand, if the file is not watched.
    pool: Option<String>,
    backup: Option<PathBuf>,
}

/// Plans the changes of every file; writes them if `--write` is given.
pub(super) fn run(
    flags: &LimitsSetFlags,
    as_json: bool,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let wanted = wanted(flags)?;
    let mut changes = Vec::new();
    for found in servers(&flags.folder)? {
        for (protocol, size) in &wanted {
            changes.extend(of_protocol(&found, *protocol, *size, console)?);
        }
    }
    changes.retain(|change| !change.edits.is_empty());
    if flags.write {
        write_all(&mut changes)?;
    }
    if as_json {
        console.answer_json(
            "limits_set",
            json!({
                "written": flags.write,
                "files": changes.iter().map(change_json).collect::<Vec<_>>(),
            }),
        )?;
    } else {
        tell(&changes, flags.write, console)?;
    }
    Ok(Outcome::Pass)
}

fn wanted(flags: &LimitsSetFlags) -> Result<Vec<(Protocol, Bytes)>, CommandError> {
    let given = [
        (Protocol::Owa, flags.owa),
        (Protocol::Ews, flags.ews),
        (Protocol::ActiveSync, flags.activesync),
    ];
    let wanted: Vec<(Protocol, Bytes)> =
        given.into_iter().filter_map(|(protocol, size)| Some((protocol, size?))).collect();
    let odd = wanted.iter().find(|(_, size)| !(1..=LARGEST_BYTES).contains(&size.0));
    match odd {
        Some((protocol, size)) => Err(CommandError::new(format!(
            "{protocol}: {} bytes cannot be set; give 1 byte to {LARGEST_BYTES} bytes, just under \
             2 GiB",
            size.0
        ))),
        None => Ok(wanted),
    }
}

fn of_protocol(
    found: &FoundServer,
    protocol: Protocol,
    size: Bytes,
    console: &mut Console,
) -> Result<Vec<LimitChange>, CommandError> {
    let mut changes = Vec::new();
    for ((application, file), path) in found.server.applications.iter().zip(&found.paths) {
        if application.protocol == protocol {
            found.server.refuse_locked(application)?;
            changes.push(LimitChange {
                path: path.clone(),
                file: file.clone(),
                edits: plan(file, application, size.0)?,
                pool: pool(found, application, file)?,
                backup: None,
            });
        }
    }
    if changes.is_empty() {
        return Err(CommandError::new(format!(
            "{}: holds no file of {protocol}, so nothing is changed; leave {protocol} out or name \
             another folder",
            found.folder.display()
        )));
    }
    if changes.len() == 1 {
        console.remark(format_args!(
            "{}: only one of {protocol}'s two files is here; the other one must be set as well",
            found.folder.display()
        ))?;
    }
    Ok(changes)
}

fn pool(
    found: &FoundServer,
    application: &Application,
    file: &ConfigFile,
) -> Result<Option<String>, CommandError> {
    if !limits::needs_recycling(file)? {
        return Ok(None);
    }
    Ok(Some(match host_of(application, &found.hosted) {
        Some(hosted) => hosted.pool.clone(),
        None => format!("the pool of {}", application.location()),
    }))
}

/// Writes file by file. On failure it names the completed changes, because they persist.
fn write_all(changes: &mut [LimitChange]) -> Result<(), CommandError> {
    for at in 0..changes.len() {
        let change = &changes[at];
        let text = apply(&change.file, &change.edits);
        match replace(&change.path, change.file.text().as_bytes(), text.as_bytes()) {
            Ok(backup) => changes[at].backup = Some(backup),
            Err(CommandError::Sentence(sentence)) if at > 0 => {
                let done: Vec<String> = changes[..at]
                    .iter()
                    .filter_map(|change| Some(change.backup.as_ref()?.display().to_string()))
                    .collect();
                return Err(CommandError::new(format!(
                    "{sentence}. Written already, with these backups: {}",
                    done.join(", ")
                )));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn tell(
    changes: &[LimitChange],
    is_written: bool,
    console: &mut Console,
) -> Result<(), CommandError> {
    for change in changes {
        for edit in &change.edits {
            console.answer(describe(change, edit))?;
        }
    }
    if changes.is_empty() {
        console.answer("Nothing to do: all files say so already.")?;
        return Ok(());
    }
    if !is_written {
        console.answer("Nothing was written; --write does it.")?;
        return Ok(());
    }
    for change in changes {
        if let Some(backup) = &change.backup {
            console.answer(format_args!("backup: {}", backup.display()))?;
        }
    }
    for pool in changes.iter().filter_map(|change| change.pool.as_ref()) {
        console.answer(format_args!("recycle {pool}: its file is not watched for changes"))?;
    }
    Ok(())
}

fn describe(change: &LimitChange, edit: &Edit) -> String {
    let binding = edit.binding.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
    let old = edit.old.map_or_else(|| "not set".to_owned(), |old| old.to_string());
    format!("{}:{}: {}{binding} {old} -> {}", change.path.display(), edit.line, edit.kind, edit.new)
}

fn change_json(change: &LimitChange) -> Value {
    let edits = change.edits.iter().map(|edit| {
        json!({
            "line": edit.line,
            "setting": edit.kind.name(),
            "binding": edit.binding,
            "old": edit.old,
            "new": edit.new,
        })
    });
    json!({
        "file": change.path.display().to_string(),
        "edits": edits.collect::<Vec<_>>(),
        "backup": change.backup.as_ref().map(|path| path.display().to_string()),
        "recycle": change.pool,
    })
}
