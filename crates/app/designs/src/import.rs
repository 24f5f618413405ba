//! `import`: converts another instrument's configuration to a plan, or its result to a record.

pub(crate) mod flags;
mod result;

use jetstress::{JetstressFile, PlanDraft, kind_of, plan_of_config};

use console::Console;
use console::Outcome;
use console::documents::{self, Existing};
use console::error::CommandError;
use flags::ImportFlags;

/// Writes the plan or the record, and names everything that was not converted or is missing.
pub(crate) fn run(flags: &ImportFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let text = documents::read_foreign(&flags.file)?;
    match kind_of(&text) {
        Some(JetstressFile::HtmlResult | JetstressFile::XmlResult) => {
            result::run(flags, &text, console)
        }
        Some(JetstressFile::Configuration) | None => plan(flags, &text, console),
    }
}

/// Explains why the file was rejected.
fn refused(flags: &ImportFlags, why: &dyn std::fmt::Display) -> CommandError {
    CommandError::new(format!("{}: {why}", flags.file.display()))
}

fn plan(flags: &ImportFlags, text: &str, console: &mut Console) -> Result<Outcome, CommandError> {
    let root = flags.root.display().to_string();
    let draft = plan_of_config(text, &root).map_err(|error| refused(flags, &error))?;
    let PlanDraft { text, remarks } = draft;
    let Some(output) = documents::named_file(flags.output.as_ref()) else {
        console.answer_text(&text)?;
        return Ok(Outcome::Pass);
    };
    documents::write(output, text.as_bytes(), Existing::of_flag(flags.force), &[&flags.file])?;
    for (element, why) in &remarks {
        console.remark(format_args!("{element}: {why}"))?;
    }
    console.answer(format_args!("Plan: {}", output.display()))?;
    Ok(Outcome::Pass)
}
