//! `report`: the report of a run from its journal, today or years later.

use crate::Outcome;
use crate::console::Console;
use crate::documents;
use crate::error::CommandError;
use crate::flags::{ReportFlags, ReportFormat};
use crate::measure::{load, write_reports};

/// Renders the report; the verdict is the outcome, as it was of the run.
pub fn run(flags: &ReportFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let record = load(&flags.run)?;
    let verdict = verdict::judge(&record);
    let outcome = Outcome::of(&verdict);
    if flags.format.is_none() && flags.output.is_none() && flags.run.is_dir() {
        write_reports(&flags.run, &record, &verdict)?;
        console.answer(report::summary(&record, &verdict).trim_end())?;
        let page = flags.run.join("report.html");
        console.answer(format_args!("Report: {}", page.display()))?;
        return Ok(outcome);
    }
    let text = match flags.format.unwrap_or(ReportFormat::Text) {
        ReportFormat::Html => report::html(&record, &verdict),
        ReportFormat::Text => report::text(&record, &verdict),
        ReportFormat::Json => report::json(&record, &verdict),
    };
    match &flags.output {
        Some(file) => documents::write(file, text.as_bytes())?,
        None => console.answer_bytes(text.as_bytes())?,
    }
    Ok(outcome)
}
