//! `inspect`: the storage underneath a path, before anything is measured on it.

mod age;
pub(crate) mod answer;
pub(crate) mod flags;

use std::path::{Path, PathBuf};

use device_os::probe::{BitLocker, Caching, DiskFacts, VolumeFacts};
use host::look::{self, MeasureOrder, Outputs, Places, StorageFacts};
use host::target::RawTarget;
use host::{system, wire};
use record::StorageFinding;
use serde_json::{Value, json};
use units::Bytes;

use super::layout;
use answer::{InspectAnswer, conclude};
use console::Console;
use console::Outcome;
use console::error::CommandError;
use console::shown;
use console::signals;
use flags::{InspectFlags, InspectWhat};

/// Prints the facts of each path, then the findings, good and bad.
pub(crate) fn run(flags: &InspectFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    if let Some(InspectWhat::Layout(flags)) = &flags.what {
        return layout::run(flags, console);
    }
    let Places { looked_at, told, findings: unread } = look::places(&flags.paths)?;
    let (looked_at, known): (Vec<PathBuf>, Vec<StorageFacts>) = looked_at.into_iter().unzip();
    let known: Vec<StorageFacts> =
        known.into_iter().zip(&looked_at).map(|(known, path)| with_caching(known, path)).collect();
    let outputs = match &flags.controller[..] {
        [] => Outputs::installed(),
        files => Outputs::saved(files)?,
    };
    let mut findings = look::of_known(&known, &outputs);
    findings.extend(unread);
    if flags.measure {
        findings.extend(measured(flags, (&looked_at, &known), console)?);
    }
    let (mut paths, mut lead) = (Vec::new(), told);
    if !lead.is_empty() {
        lead.push(String::new());
    }
    for (path, known) in looked_at.iter().zip(&known) {
        paths.push(as_json(path, &known.volume));
        let lines = lines(path, &known.volume).into_iter();
        lead.extend(lines.map(|(name, value)| format!("{name:<16} {value}")));
        lead.push(String::new());
    }
    let (ages, files) = age::of_files(&outputs.files);
    lead.extend(ages);
    let answer = InspectAnswer {
        subject: &system::machine(String::new()).name,
        findings: &findings,
        paths: &paths,
        outputs: &files,
        is_open: outputs.leave_open(),
        lead: &lead,
        inputs: &flags.controller.iter().map(PathBuf::as_path).collect::<Vec<_>>(),
    };
    conclude(&answer, &flags.answer, console)
}

/// Measures how writes behave in each folder, one after the other.
fn measured(
    flags: &InspectFlags,
    (paths, known): (&[PathBuf], &[StorageFacts]),
    console: &mut Console,
) -> Result<Vec<StorageFinding>, CommandError> {
    let stop = signals::install("stopping cleanly; again ends at once and leaves a file")?;
    let order = MeasureOrder { size: flags.measure_size, limit: flags.measure_for };
    for path in paths {
        look::refuse(path, order.size)?;
    }
    let mut findings = Vec::new();
    for (path, known) in paths.iter().zip(known) {
        console.remark(format_args!(
            "What do durable writes meet under {}? A file of {} comes and goes there, for {} at \
             most once it is filled. Ctrl-C stops cleanly.",
            path.display(),
            order.size,
            order.limit
        ))?;
        findings.extend(known.measured(
            path,
            order,
            &stop,
            &shown::on_console(console.is_quiet()),
        )?);
    }
    Ok(findings)
}

/// Adds the reason if a folder cannot be opened unbuffered at all.
fn with_caching(mut known: StorageFacts, path: &Path) -> StorageFacts {
    known.volume.caching = caching(path, &known.volume);
    known
}

/// Whether a cache intercepts reads and writes under the path.
fn caching(path: &Path, facts: &VolumeFacts) -> Caching {
    if RawTarget::of(path).is_some() {
        // There is no folder to open.
        return facts.caching.clone();
    }
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

fn lines(path: &Path, facts: &VolumeFacts) -> Vec<(&'static str, String)> {
    let space = format!("{} of {}", Bytes(facts.free_bytes), Bytes(facts.total_bytes));
    let mut lines = vec![
        ("path", path.display().to_string()),
        ("mount point", facts.mount_point.clone()),
        ("file system", format!("{} ({})", facts.file_system, facts.options)),
        ("source", facts.source.clone()),
        ("free", space),
        (
            "unbuffered I/O",
            match &facts.caching {
                Caching::None => "yes".to_owned(),
                Caching::InFileSystem(why) | Caching::Below(why) => format!("no: {why}"),
                Caching::Unknown(why) => format!("unknown: {why}"),
            },
        ),
        ("durable writes", facts.durable_writes.to_string()),
        ("kernel", facts.kernel.clone()),
    ];
    lines.extend(facts.io_limits.iter().map(|limit| ("limit", limit.to_string())));
    lines.extend(facts.space_limits.iter().map(|limit| ("limit", limit.to_string())));
    lines.extend(facts.bitlocker.as_ref().map(|told| ("BitLocker", in_words(told))));
    match &facts.disk {
        Some(disk) => lines.extend(disk_lines(disk)),
        None => lines.push(("disk", "none: a network or memory file system".to_owned())),
    }
    lines
}

fn in_words(told: &BitLocker) -> String {
    match told {
        BitLocker::On => "on".to_owned(),
        BitLocker::Off => "off".to_owned(),
        BitLocker::Untold(why) => format!("unknown: {why}"),
    }
}

fn disk_lines(disk: &DiskFacts) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        ("disk", disk.name.clone()),
        ("model", or_unknown(disk.model.as_deref())),
        ("spinning", yes_or_no(disk.rotational)),
        ("volatile cache", yes_or_no(disk.volatile_cache)),
        ("sectors", format!("{} / {} bytes", disk.logical_sector, disk.physical_sector)),
        ("scheduler", or_unknown(disk.scheduler.as_deref())),
    ];
    lines.extend(disk.size_bytes.map(|size| ("size", Bytes(size).to_string())));
    if !disk.members.is_empty() {
        lines.push(("made of", disk.members.join(", ")));
    }
    lines
}

fn or_unknown(value: Option<&str>) -> String {
    value.unwrap_or("unknown").to_owned()
}

fn yes_or_no(value: Option<bool>) -> String {
    or_unknown(value.map(|yes| if yes { "yes" } else { "no" }))
}

fn as_json(path: &Path, facts: &VolumeFacts) -> Value {
    let (unbuffered, refusal, unknown) = match &facts.caching {
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
        "io_limits": facts.io_limits.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "space_limits": facts.space_limits.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "bitlocker": facts.bitlocker.as_ref().map(in_words),
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
