//! `report`: the report of a run from its journal, today or years later.

use record::Seal;

use crate::Outcome;
use crate::console::{self, Console};
use crate::documents::{self, Existing};
use crate::error::CommandError;
use crate::flags::{ReportFlags, ReportFormat};
use crate::measure::{journal_of, load, write_reports};

/// Renders the report; the verdict is the outcome, as it was of the run.
pub(crate) fn run(flags: &ReportFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let record = load(&flags.run)?;
    let verdict = verdict::judge(&record);
    let outcome = Outcome::of(&verdict);
    if let Seal::Altered { line } = record.seal {
        console::complain(&format!(
            "{}: ALTERED after it was written, from line {line} on: nothing in it proves anything",
            flags.run.display()
        ));
    }
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
        Some(file) => {
            let existing = Existing::of_flag(flags.force);
            documents::write(file, text.as_bytes(), existing, &[&journal_of(&flags.run)])?;
        }
        None => console.answer_text(&text)?,
    }
    Ok(outcome)
}
