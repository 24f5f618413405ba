//! `logs`: packs everything a developer needs to understand a run into one archive that is safe to
//! send.

mod redaction;
mod tar;

use std::fs;
use std::path::{Path, PathBuf};

use record::JOURNAL;

use super::doctor;
use crate::flags::LogsFlags;
use console::Console;
use console::Outcome;
use console::documents::{self, Existing};
use console::error::CommandError;
use host::runs_at;
use host::version;

/// Files packed from a run's folder; all others are left out.
const TAKEN: [&str; 4] = [JOURNAL, "report.json", "report.txt", "report.html"];

/// Packs the run, or the newest in the folder.
pub(crate) fn run(flags: &LogsFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let folder = runs_at(&flags.run)?.remove(0);
    let name = name_of(&folder);
    let output = flags.output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}-logs.tar")));
    let mut archive = tar::Archive::default();
    let mut removed = 0;
    for file in TAKEN {
        let path = folder.join(file);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(_) if file != JOURNAL => continue,
            Err(error) => return Err(CommandError::file(&path, "read", &error)),
        };
        let (text, count) = redaction::redacted(&String::from_utf8_lossy(&bytes));
        removed += count;
        archive.add(&format!("{name}/{file}"), text.as_bytes());
    }
    archive.add(&format!("{name}/version.txt"), version::LONG_VERSION.as_bytes());
    archive.add(&format!("{name}/doctor.json"), doctor::whole_document().as_bytes());
    documents::write(&output, &archive.finish(), Existing::of_flag(flags.force), &[])?;
    console.answer(format_args!("{}", output.display()))?;
    console.remark(match removed {
        0 => "No secrets were found in it.".to_owned(),
        count => format!("Secrets that were replaced by {}: {count}.", redaction::MARK),
    })?;
    Ok(Outcome::Pass)
}

/// Name of a folder, even for `.`.
fn name_of(folder: &Path) -> String {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    whole.file_name().map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned())
}
