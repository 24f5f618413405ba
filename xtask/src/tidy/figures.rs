//! Sizes of functions and files, held by a ratchet: a committed limit that may only fall.

use std::fmt;

use super::Mode;
use super::circles::{self, Circles};
use super::functions::functions;
use super::habits::{self, Habits};
use super::repeats::{self, Repeats};
use super::sources::Tree;
use super::surface::{self, Surface};
use super::turns::{self, Turns};
use xtask::failure::Failure;
use xtask::shell;

/// Lines of code above which a function counts as long.
const LONG_FUNCTION: usize = 70;
/// Lines above which a file counts as long.
const LONG_FILE: usize = 800;
const LIMITS: &str = "xtask/figures.toml";

/// Figures of the source that the ratchet limits.
pub(super) struct Figures {
    functions: usize,
    long_functions: Vec<String>,
    long_files: Vec<String>,
    surface: Surface,
    habits: Habits,
    circles: Circles,
    repeats: Repeats,
    turns: Turns,
    /// Names in the limits file and values; lower is better.
    ratcheted: [(&'static str, usize); 15],
}

/// Measures functions and files.
pub(super) fn measure(tree: &Tree) -> Figures {
    let mut lengths = Vec::new();
    let mut long_functions = Vec::new();
    let mut long_files = Vec::new();
    let mut file_lengths = Vec::new();
    for source in &tree.sources {
        let lines = source.text.lines().count();
        file_lengths.push(lines);
        if lines > LONG_FILE {
            long_files.push(format!("{} ({lines} lines)", source.path));
        }
        for function in functions(&source.masked) {
            lengths.push(function.lines);
            if function.lines > LONG_FUNCTION {
                let (path, name) = (&source.path, &function.name);
                long_functions
                    .push(format!("{path}:{} {name} ({})", function.line, function.lines));
            }
        }
    }
    let long_share = (long_functions.len() * 1000).div_ceil(lengths.len().max(1));
    let (surface, habits) = (surface::measure(tree), habits::measure(tree));
    let (circles, repeats) = (circles::measure(tree), repeats::measure(tree));
    let turns = turns::measure(tree);
    let longest = lengths.iter().max().copied().unwrap_or(0);
    Figures {
        functions: lengths.len(),
        ratcheted: [
            ("function_lines_p90", percentile(&mut lengths, 90)),
            ("functions_over_70_per_1000", long_share),
            ("function_lines_longest", longest),
            ("file_lines_median", percentile(&mut file_lengths, 50)),
            ("files_over_800", long_files.len()),
            ("public_items_per_1000_lines", surface.public_per_1000_lines()),
            ("public_unused_percent", surface.unused_percent()),
            ("public_needless_per_1000", surface.needless_per_1000()),
            ("types_sharing_a_name_percent", surface.shared_percent()),
            ("named_closures_per_10000_lines", habits.named_closures_per_10000_lines()),
            ("bound_to_collect_per_10000_lines", habits.bound_to_collect_per_10000_lines()),
            ("whoever_nobody_somebody", habits.people().len()),
            ("file_import_circles", circles.count()),
            ("pairs_sharing_six_lines", repeats.count()),
            ("translated_turns_per_10000_lines", turns.per_10000_lines()),
        ],
        surface,
        habits,
        circles,
        repeats,
        turns,
        long_functions,
        long_files,
    }
}

impl Figures {
    /// The places behind the figures that have details, one per line.
    pub(super) fn details(&self) -> Vec<String> {
        let places = self.surface.details().into_iter().chain(self.habits.details());
        let places = places.chain(self.circles.details()).chain(self.repeats.details());
        places.chain(self.turns.details()).collect()
    }
}

/// The value that `percent` of the values do not exceed; 0 for no values.
fn percentile(values: &mut [usize], percent: usize) -> usize {
    values.sort_unstable();
    let rank = (values.len() * percent).div_ceil(100);
    values.get(rank.max(1) - 1).copied().unwrap_or(0)
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} functions", self.functions)?;
        for (name, value) in self.ratcheted {
            writeln!(f, "{name} = {value}")?;
        }
        for function in &self.long_functions {
            writeln!(f, "  over {LONG_FUNCTION} lines: {function}")?;
        }
        for file in &self.long_files {
            writeln!(f, "  over {LONG_FILE} lines: {file}")?;
        }
        Ok(())
    }
}

/// Compares the figures with the limits; in [`Mode::Tighten`] also lowers the limits.
pub(super) fn ratchet(figures: &Figures, mode: Mode) -> Result<Vec<String>, Failure> {
    let path = shell::root().join(LIMITS);
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure::new(format!("cannot read {LIMITS}: {error}")))?;
    let limits: toml::Table =
        text.parse().map_err(|error| Failure::new(format!("{LIMITS}: {error}")))?;
    let limit = |name: &str| {
        let value = limits.get(name).and_then(toml::Value::as_integer);
        usize::try_from(value.unwrap_or(0)).unwrap_or(0)
    };
    if mode == Mode::Tighten {
        let tightened = tighten(&text, figures, limit);
        std::fs::write(&path, tightened)
            .map_err(|error| Failure::new(format!("cannot write {LIMITS}: {error}")))?;
    }
    let complaint = |(name, value): &(&str, usize)| {
        let limit = limit(name);
        (*value > limit).then(|| {
            format!("{name} is {value}, the limit in {LIMITS} is {limit}; shorten what has grown")
        })
    };
    Ok(figures.ratcheted.iter().filter_map(complaint).collect())
}

/// The text of the limits file with each limit lowered to its figure if that is smaller.
fn tighten(text: &str, figures: &Figures, limit: impl Fn(&str) -> usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let figure = figures
            .ratcheted
            .iter()
            .find(|(name, _)| line.split('=').next().is_some_and(|key| key.trim() == *name));
        let tightened = figure.map(|(name, value)| setting(name, limit(name).min(*value)));
        out.push_str(&tightened.unwrap_or_else(|| format!("{line}\n")));
    }
    out
}

fn setting(name: &str, value: usize) -> String {
    format!("{name} = {value}\n")
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn percentiles_are_nearest_rank() {
        let mut values: Vec<usize> = (1..=10).rev().collect();
        assert_eq!(percentile(&mut values, 90), 9);
        assert_eq!(percentile(&mut values, 50), 5);
        assert_eq!(percentile(&mut [], 90), 0);
    }
}
