//! Combinations of values for keys, as `size --scenarios` and `simulate --what-if` try them, and
//! the results kept so that a sweep can be interrupted.

mod folder;
mod store;

use std::path::Path;

use plan::deployment::Replacement;

use crate::documents;
use crate::error::HostError;

pub use folder::SweepFolder;
pub use store::{ContentKey, ResultStore};

/// Maximum number of combinations; more would be unreadable.
const MOST_COMBINATIONS: usize = 10_000;

/// A key and the values that it takes in turn.
struct Axis {
    key: String,
    values: Vec<String>,
}

/// Every combination of the `given` values: `KEY=VALUE,VALUE`, or files of such lines. `example` is
/// a sample key with values for error messages.
pub fn combinations_of(
    given: &[String],
    example: &str,
) -> Result<Vec<Vec<Replacement>>, HostError> {
    let mut axes = Vec::new();
    for given in given {
        if given.contains('=') {
            axes.push(axis(given, example)?);
        } else {
            axes.extend(axes_of_file(Path::new(given), example)?);
        }
    }
    combinations(&axes)
}

/// Parses lines `key = value, value`; empty ones and those that begin with `#` are ignored.
fn axes_of_file(path: &Path, example: &str) -> Result<Vec<Axis>, HostError> {
    let (_, text) = documents::read_text(path)?;
    text.lines()
        .map(str::trim)
        .enumerate()
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(index, line)| {
            axis(line, example).map_err(|error| match error {
                HostError::Sentence(text) => {
                    HostError::new(format!("{}:{}: {text}", path.display(), index + 1))
                }
                other => other,
            })
        })
        .collect()
}

fn axis(text: &str, example: &str) -> Result<Axis, HostError> {
    let (key, values) = text.split_once('=').unwrap_or((text, ""));
    let values: Vec<String> = split(values.trim().trim_start_matches('['));
    if key.trim().is_empty() || values.is_empty() {
        return Err(HostError::new(format!(
            "`{text}` is no scenario; write KEY=VALUE,VALUE with a key of the document, such as \
             {example}"
        )));
    }
    let key = key.trim().to_owned();
    Ok(Axis { key, values })
}

/// Splits values at commas, except within brackets and quotes.
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

fn combinations(axes: &[Axis]) -> Result<Vec<Vec<Replacement>>, HostError> {
    let mut all: Vec<Vec<Replacement>> = vec![Vec::new()];
    for axis in axes {
        if all.len() * axis.values.len() > MOST_COMBINATIONS {
            return Err(HostError::new(format!(
                "more than {MOST_COMBINATIONS} combinations; give fewer values"
            )));
        }
        let mut longer = Vec::new();
        for before in &all {
            for value in &axis.values {
                let mut now = before.clone();
                now.push(Replacement { key: axis.key.clone(), value: value.clone() });
                longer.push(now);
            }
        }
        all = longer;
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
        let axes = ["a=1,2", "b = [3, 4, 5]"].map(|text| axis(text, "k=1").unwrap());
        let all = combinations(&axes).unwrap();
        assert_eq!(all.len(), 6);
        assert_eq!(all[5][0].value, "2");
        assert_eq!((all[5][1].key.as_str(), all[5][1].value.as_str()), ("b", "5"));
        assert!(["a", "=1", "a="].iter().all(|text| axis(text, "k=1").is_err()));
        let many = axis(&format!("a={}", vec!["1"; 101].join(",")), "k=1").unwrap();
        let also = axis(&format!("b={}", vec!["1"; 100].join(",")), "k=1").unwrap();
        assert!(combinations(&[many, also]).is_err());
    }
}
