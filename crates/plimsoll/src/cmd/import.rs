//! `import`: a plan from the configuration of another instrument, or a record from its result.

mod result;

use jetstress::{JetstressFile, PlanDraft, kind_of, plan_of_config};

use crate::Outcome;
use crate::console::Console;
use crate::documents::{self, Existing, read_document};
use crate::error::CommandError;
use crate::flags::ImportFlags;

/// Writes the plan or the record, and names everything that was not taken over or is missing.
pub(crate) fn run(flags: &ImportFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let bytes = read_document(&flags.file)?;
    let text = text_of(&bytes).ok_or_else(|| {
        let what = "is neither UTF-8 nor UTF-16; name a JetstressConfig.xml or a result";
        refused(flags, &what)
    })?;
    match kind_of(&text) {
        Some(JetstressFile::HtmlResult | JetstressFile::XmlResult) => {
            result::run(flags, &text, console)
        }
        Some(JetstressFile::Configuration) | None => plan(flags, &text, console),
    }
}

/// Says why the file was not taken.
fn refused(flags: &ImportFlags, why: &dyn std::fmt::Display) -> CommandError {
    CommandError::new(format!("{}: {why}", flags.file.display()))
}

fn plan(flags: &ImportFlags, text: &str, console: &mut Console) -> Result<Outcome, CommandError> {
    let root = flags.root.display().to_string();
    let draft = plan_of_config(text, &root).map_err(|error| refused(flags, &error))?;
    let PlanDraft { text, remarks } = draft;
    let Some(output) = &flags.output else {
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

/// The text of a file of Windows: UTF-16 where it begins with a mark that says so, else UTF-8.
fn text_of(bytes: &[u8]) -> Option<String> {
    match bytes {
        [0xff, 0xfe, body @ ..] => utf16(body, u16::from_le_bytes),
        [0xfe, 0xff, body @ ..] => utf16(body, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, body @ ..] | body => String::from_utf8(body.to_vec()).ok(),
    }
}

fn utf16(body: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let units = body.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    String::from_utf16(&units.collect::<Vec<_>>()).ok()
}
