//! Chooses the format of an answer from its file name: `-o times.csv` asks for CSV.

use std::path::Path;

use clap::ValueEnum;

use crate::error::CommandError;

/// Extensions of formats that only other programs write; refused whatever `--format` is.
const FOREIGN: [&str; 4] = ["pdf", "doc", "odt", "xlsx"];

/// Returns the format requested on the command line: the `given` one, or the one for the extension
/// of `output`; `None` if neither decides. If two formats share an extension, the first is used. A
/// `.txt` file may contain any format. An unknown extension is an error unless a format is `given`,
/// and so is one that contradicts `given`.
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
        return match given {
            Some(given) if FOREIGN.iter().any(|of| ending.eq_ignore_ascii_case(of)) => {
                Err(foreign(path, ending, &given, endings))
            }
            given => given.map(Some).ok_or_else(|| unknown(path, ending, endings)),
        };
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

fn foreign<F: PartialEq>(
    path: &Path,
    ending: &str,
    given: &F,
    endings: &[(&str, F)],
) -> CommandError {
    let own: Vec<String> = endings
        .iter()
        .filter(|(_, form)| form == given)
        .map(|(ending, _)| format!(".{ending}"))
        .collect();
    CommandError::new(format!(
        "{}: no form has the ending .{ending}; name a file that ends in {}",
        path.display(),
        own.join(" or ")
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::ValueEnum;

    use super::form_of;

    #[derive(Clone, Debug, PartialEq, ValueEnum)]
    enum Form {
        Text,
        Paper,
    }

    const ENDINGS: [(&str, Form); 3] =
        [("txt", Form::Text), ("html", Form::Paper), ("docx", Form::Paper)];

    #[test]
    fn a_format_is_not_written_under_the_name_of_a_foreign_one() {
        let of = |name: &str| form_of(Some(Form::Paper), Some(Path::new(name)), &ENDINGS);
        for name in ["paper.pdf", "PAPER.PDF"] {
            let said = of(name).err();
            let said = said.as_ref().and_then(|error| error.told());
            assert!(
                said.is_some_and(|(text, code)| {
                    text.ends_with("name a file that ends in .html or .docx") && code == 2
                }),
                "{said:?}"
            );
        }
        for name in ["paper", "paper.html", "paper.docx", "paper.out"] {
            assert!(of(name).is_ok_and(|form| form == Some(Form::Paper)), "{name}");
        }
    }
}
