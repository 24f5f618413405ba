//! The end of a run, shared by every verb that makes one: its last lines, its outcome, and the data
//! for its notification.

use std::path::{Path, PathBuf};

use host::Measured;
use record::RunRecord;
use verdict::Verdict;

use crate::Outcome;
use crate::error::CommandError;
use crate::output::{Concluded, Console};
use crate::shell::shell_word;

/// Result of a run, for its notification.
pub fn concluded(record: &RunRecord, verdict: &Verdict, folder: &Path) -> Concluded {
    let summary = report::summary(record, verdict);
    Concluded {
        folder: folder.to_path_buf(),
        name: record.start.name.clone(),
        verdict: report::verdict_of(record, verdict),
        headline: summary.lines().next().unwrap_or_default().to_owned(),
    }
}

/// Prints the last lines of a run and returns its outcome.
pub fn conclude(
    measured: &Measured,
    folder: &Path,
    json: bool,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let Measured { record, verdict, .. } = measured;
    console.conclude(concluded(record, verdict, folder));
    if json {
        console.answer(report::json(record, verdict).trim_end())?;
    } else {
        let folder_word = shell_word(folder);
        console.answer(report::summary_in(record, verdict, &folder_word).trim_end())?;
        let page: PathBuf = folder.join("report.html");
        console.answer(format_args!("Report: {}", page.display()))?;
    }
    Ok(Outcome::of(verdict))
}
