//! Many designs from one document: every combination of the values given, sized and ranked.

use std::path::Path;

use plan::Deployment;
use plan::deployment::Replacement;
use provision::size;
use report::Candidate;

use super::outcome;
use crate::Outcome;
use crate::console::Console;
use crate::documents;
use crate::error::CommandError;
use crate::flags::SizeFlags;

/// More combinations than anybody reads.
const MOST_CANDIDATES: usize = 10_000;

/// A key and the values that it takes in turn.
struct Axis {
    key: String,
    values: Vec<String>,
}

/// Ranks all combinations; fails where none can be built.
pub(super) fn run(
    flags: &SizeFlags,
    file: &str,
    text: &str,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let mut axes = Vec::new();
    for given in &flags.scenarios {
        if given.contains('=') {
            axes.push(axis(given)?);
        } else {
            axes.extend(axes_of_file(Path::new(given))?);
        }
    }
    let all = combinations(&axes)?;
    let candidate = |replacements: Vec<Replacement>| Candidate {
        outcome: Deployment::parse_with(file, text, &replacements)
            .map(|deployment| size(&deployment))
            .map_err(|error| error.to_string()),
        replacements,
    };
    let candidates = report::ranked(all.into_iter().map(candidate).collect());
    let first = candidates.first();
    if let Some(Err(complaint)) = first.map(|first| &first.outcome) {
        return Err(CommandError::new(complaint.clone()));
    }
    if flags.json {
        console.answer_json(&report::scenarios_json(&candidates))?;
    } else {
        console.answer_text(&report::scenarios(&candidates))?;
    }
    let workable = first.and_then(|first| first.outcome.as_ref().ok());
    Ok(outcome(workable.is_some_and(sizing::Sizing::is_workable)))
}

/// Lines `key = value, value`; empty ones and those that begin with `#` say nothing.
fn axes_of_file(path: &Path) -> Result<Vec<Axis>, CommandError> {
    let (_, text) = documents::read_text(path)?;
    let lines = text.lines().map(str::trim).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let read = |(index, line): (usize, &str)| {
        axis(line).map_err(|error| match error {
            CommandError::Sentence(text) => {
                CommandError::new(format!("{}:{}: {text}", path.display(), index + 1))
            }
            other => other,
        })
    };
    lines.map(read).collect()
}

fn axis(text: &str) -> Result<Axis, CommandError> {
    let (key, values) = text.split_once('=').unwrap_or((text, ""));
    let values: Vec<String> = split(values.trim().trim_start_matches('['));
    if key.trim().is_empty() || values.is_empty() {
        return Err(CommandError::new(format!(
            "`{text}` is no scenario; write KEY=VALUE,VALUE with a key of the document, such as \
             availability.servers_per_site=4,6,8 or tier.1.mailboxes=5000,8000"
        )));
    }
    let key = key.trim().to_owned();
    Ok(Axis { key, values })
}

/// The values between commas, of which those in brackets and quotes are part of a value.
fn split(text: &str) -> Vec<String> {
    let text = text.trim_end_matches(']');
    let (mut depth, mut quoted) = (0_i32, false);
    let mut values = vec![String::new()];
    for symbol in text.chars() {
        match symbol {
            '"' => quoted = !quoted,
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 && !quoted => {
                values.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = values.last_mut() {
            last.push(symbol);
        }
    }
    values.iter().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()).collect()
}

fn combinations(axes: &[Axis]) -> Result<Vec<Vec<Replacement>>, CommandError> {
    let mut all: Vec<Vec<Replacement>> = vec![Vec::new()];
    for axis in axes {
        if all.len() * axis.values.len() > MOST_CANDIDATES {
            return Err(CommandError::new(format!(
                "--scenarios: more than {MOST_CANDIDATES} combinations; give fewer values"
            )));
        }
        let with = |before: &Vec<Replacement>, value: &String| {
            let key = axis.key.clone();
            let value = value.clone();
            let mut now = before.clone();
            now.push(Replacement { key, value });
            now
        };
        let longer =
            all.iter().flat_map(|before| axis.values.iter().map(move |value| with(before, value)));
        all = longer.collect();
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::{axis, combinations, split};

    #[test]
    fn values_in_brackets_and_quotes_stay_whole() {
        assert_eq!(split("4, 6,8"), ["4", "6", "8"]);
        assert_eq!(split("\"a, b\",c"), ["\"a, b\"", "c"]);
        assert_eq!(
            split("{ size = \"4TB\", type = \"x\" },y"),
            ["{ size = \"4TB\", type = \"x\" }", "y"]
        );
    }

    #[test]
    fn every_combination_comes_once() {
        let axes = ["a=1,2", "b = [3, 4, 5]"].map(|text| axis(text).unwrap());
        let all = combinations(&axes).unwrap();
        assert_eq!(all.len(), 6);
        assert_eq!(all[5][0].value, "2");
        assert_eq!((all[5][1].key.as_str(), all[5][1].value.as_str()), ("b", "5"));
        assert!(axis("a").is_err() && axis("=1").is_err() && axis("a=").is_err());
        let many = axis(&format!("a={}", vec!["1"; 101].join(","))).unwrap();
        let also = axis(&format!("b={}", vec!["1"; 100].join(","))).unwrap();
        assert!(combinations(&[many, also]).is_err());
    }
}
