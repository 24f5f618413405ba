//! The runs as a table: a line for each, or two on a terminal that is too narrow for one.

use std::path::Path;

use record::Series;
use report::format::iso_time;
use report::{achieved_iops, mean_ms};

use super::ListedRun;
use crate::console::Console;
use crate::error::CommandError;

/// What the columns before the name are called.
const FIGURES: &str = "Started           Verdict            IOPS  Read ms   Log ms";

/// Spaces before the second line of a run.
const INDENT: usize = 4;

pub(super) fn print(
    runs: &[ListedRun],
    below: &Path,
    console: &mut Console,
) -> Result<(), CommandError> {
    if runs.is_empty() {
        return console.remark(format_args!("No runs found in {}.", below.display()));
    }
    let wide: Vec<String> = runs.iter().map(|run| whole(&figures(run), run)).collect();
    let widest = wide.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    if console.columns().is_none_or(|columns| widest <= columns) {
        console.answer(format_args!("{FIGURES}  Name              Run"))?;
        return wide.iter().try_for_each(|line| console.answer(line));
    }
    console.answer(FIGURES)?;
    console.answer(format_args!("{:INDENT$}Name  Run", ""))?;
    for run in runs {
        console.answer(figures(run))?;
        let (name, place) = (name(run), place(run));
        console.answer_folded(format_args!("{:INDENT$}{name}  {place}", ""), INDENT)?;
    }
    Ok(())
}

/// A run in one line.
fn whole(figures: &str, run: &ListedRun) -> String {
    format!("{figures}  {:<16}  {}", name(run), place(run))
}

fn figures(run: &ListedRun) -> String {
    let started = run.began_ns().and_then(iso_time).map_or("-".to_owned(), |time| {
        let text: String = time.chars().take(16).collect();
        text.replace('T', " ")
    });
    format!(
        "{started:<16}  {:<13}  {:>8}  {:>7}  {:>7}",
        verdict_word(run),
        achieved_iops(&run.record).map_or("-".to_owned(), |iops| format!("{iops:.0}")),
        milliseconds(mean_ms(&run.record, Series::DatabaseRead)),
        milliseconds(mean_ms(&run.record, Series::LogWrite)),
    )
}

/// Folder and tags.
fn place(run: &ListedRun) -> String {
    let folder = run.folder.display();
    match run.record.start.tags.join(", ") {
        tags if tags.is_empty() => folder.to_string(),
        tags => format!("{folder}  [{tags}]"),
    }
}

fn name(run: &ListedRun) -> &str {
    match run.record.start.name.as_str() {
        "" => "-",
        name => name,
    }
}

fn milliseconds(mean: Option<f64>) -> String {
    mean.map_or("-".to_owned(), |mean| format!("{mean:.3}"))
}

fn verdict_word(run: &ListedRun) -> String {
    if run.is_live { "live".to_owned() } else { report::verdict_name(&run.record, &run.verdict) }
}
