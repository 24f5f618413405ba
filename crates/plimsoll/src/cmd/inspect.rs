//! `inspect`: what stands under a path, before anything is measured on it.

use std::path::Path;

use device_os::probe::{self, Caching, DiskFacts, VolumeFacts};
use serde_json::{Value, json};
use units::Bytes;

use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;
use crate::flags::InspectFlags;
use crate::wire;

/// Prints the facts of each path.
pub(crate) fn run(flags: &InspectFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let mut answers = Vec::new();
    for path in &flags.paths {
        let facts = probe::volume(path)?;
        let caching = caching(path, &facts);
        if flags.json {
            answers.push(as_json(path, &facts, &caching));
        } else {
            for (name, value) in lines(path, &facts, &caching) {
                console.answer(format_args!("{name:<16} {value}"))?;
            }
        }
    }
    if flags.json {
        console.answer_json(&Value::Array(answers))?;
    }
    Ok(Outcome::Pass)
}

/// Whether a cache is in the way of what is read and written under the path. A folder that cannot
/// be opened unbuffered at all says why.
fn caching(path: &Path, facts: &VolumeFacts) -> Caching {
    let folder = if path.is_dir() { Some(path) } else { path.parent() };
    let opened = folder.map(|folder| {
        let world = wire::world()?;
        world.volume(folder)?;
        Ok(())
    });
    match (&facts.caching, opened) {
        (Caching::None | Caching::Unknown(_), Some(Err(CommandError::Sentence(sentence)))) => {
            Caching::InFileSystem(sentence)
        }
        (caching, _) => caching.clone(),
    }
}

fn lines(path: &Path, facts: &VolumeFacts, caching: &Caching) -> Vec<(&'static str, String)> {
    let space = format!("{} of {}", Bytes(facts.free_bytes), Bytes(facts.total_bytes));
    let mut lines = vec![
        ("path", path.display().to_string()),
        ("mount point", facts.mount_point.clone()),
        ("file system", format!("{} ({})", facts.file_system, facts.options)),
        ("source", facts.source.clone()),
        ("free", space),
        (
            "unbuffered I/O",
            match caching {
                Caching::None => "yes".to_owned(),
                Caching::InFileSystem(why) | Caching::Below(why) => format!("no: {why}"),
                Caching::Unknown(why) => format!("unknown: {why}"),
            },
        ),
        ("durable writes", facts.durable_writes.to_string()),
        ("kernel", facts.kernel.clone()),
    ];
    match &facts.disk {
        Some(disk) => lines.extend(disk_lines(disk)),
        None => lines.push(("disk", "none: a network or memory file system".to_owned())),
    }
    lines
}

fn disk_lines(disk: &DiskFacts) -> Vec<(&'static str, String)> {
    let told = |value: Option<&str>| value.unwrap_or("unknown").to_owned();
    let yes = |value: Option<bool>| told(value.map(|yes| if yes { "yes" } else { "no" }));
    let mut lines = vec![
        ("disk", disk.name.clone()),
        ("model", told(disk.model.as_deref())),
        ("spinning", yes(disk.rotational)),
        ("volatile cache", yes(disk.volatile_cache)),
        ("sectors", format!("{} / {} bytes", disk.logical_sector, disk.physical_sector)),
        ("scheduler", told(disk.scheduler.as_deref())),
    ];
    lines.extend(disk.size_bytes.map(|size| ("size", Bytes(size).to_string())));
    if !disk.members.is_empty() {
        lines.push(("made of", disk.members.join(", ")));
    }
    lines
}

fn as_json(path: &Path, facts: &VolumeFacts, caching: &Caching) -> Value {
    let (unbuffered, refusal, unknown) = match caching {
        Caching::None => (Some(true), None, None),
        Caching::InFileSystem(why) | Caching::Below(why) => (Some(false), Some(why), None),
        Caching::Unknown(why) => (None, None, Some(why)),
    };
    json!({
        "path": path.display().to_string(),
        "mount_point": facts.mount_point,
        "file_system": facts.file_system,
        "source": facts.source,
        "options": facts.options,
        "free_bytes": facts.free_bytes,
        "total_bytes": facts.total_bytes,
        "unbuffered": unbuffered,
        "unbuffered_refusal": refusal,
        "unbuffered_unknown": unknown,
        "durable_writes": facts.durable_writes.to_string(),
        "kernel": facts.kernel,
        "disk": facts.disk.as_ref().map(|disk| json!({
            "name": disk.name,
            "model": disk.model,
            "rotational": disk.rotational,
            "logical_sector_bytes": disk.logical_sector,
            "physical_sector_bytes": disk.physical_sector,
            "volatile_cache": disk.volatile_cache,
            "scheduler": disk.scheduler,
            "queue_depth": disk.queue_depth,
            "size_bytes": disk.size_bytes,
            "members": disk.members,
        })),
    })
}
