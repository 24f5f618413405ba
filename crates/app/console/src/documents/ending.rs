//! Chooses the format of an answer from its file name: `-o times.csv` asks for CSV.

use std::path::Path;

use clap::ValueEnum;

use crate::error::CommandError;

/// Returns the format requested on the command line: the `given` one, or the one for the extension
/// of `output`; `None` if neither decides. If two formats share an extension, the first is used.
/// Plain text may contain any format.
pub fn form_of<F: ValueEnum + PartialEq>(
    given: Option<F>,
    output: Option<&Path>,
    endings: &[(&str, F)],
) -> Result<Option<F>, CommandError> {
    let named = output.and_then(|path| Some((path, path.extension()?.to_str()?)));
    let Some((path, ending)) = named else {
        return Ok(given);
    };
    let forms = endings.iter().filter(|(known, _)| ending.eq_ignore_ascii_case(known));
    let mut forms = forms.map(|(_, form)| form).peekable();
    let Some(usual) = forms.peek().copied() else {
        return given.map(Some).ok_or_else(|| unknown(path, ending, endings));
    };
    match given {
        None => Ok(Some(usual.clone())),
        Some(given) if ending.eq_ignore_ascii_case("txt") || forms.any(|form| *form == given) => {
            Ok(Some(given))
        }
        Some(given) => Err(contradiction(path, &given, endings)),
    }
}

fn unknown<F>(path: &Path, ending: &str, endings: &[(&str, F)]) -> CommandError {
    let mut known: Vec<String> = endings.iter().map(|(ending, _)| format!(".{ending}")).collect();
    known.dedup();
    let last = known.pop().unwrap_or_default();
    CommandError::new(format!(
        "{}: no form has the ending .{ending}; name a file that ends in {} or {last}, or give \
         --format",
        path.display(),
        known.join(", ")
    ))
}

fn contradiction<F: ValueEnum + PartialEq>(
    path: &Path,
    given: &F,
    endings: &[(&str, F)],
) -> CommandError {
    let own = endings.iter().find(|(_, form)| form == given).map_or("txt", |(ending, _)| ending);
    let word = given.to_possible_value().map_or_else(String::new, |of| of.get_name().to_owned());
    CommandError::new(format!(
        "{}: --format {word} has another ending; name a file that ends in .{own}, or leave \
         --format out",
        path.display()
    ))
}
