//! `line`: raises the load past the load line, and reports its position.

pub(crate) mod flags;

use std::path::Path;

use host::{LineOrder, TriedLine, search_line};
use plan::Overrides;
use report::LineReport;

use console::Outcome;
use console::documents::{dated_folder, make_new_folder, read_plan, write_new};
use console::error::CommandError;
use console::shell::{options_of_run, shell_word};
use console::shown;
use console::signals::{self, STOPS_A_RUN};
use console::{Concluded, Console};
use flags::LineFlags;

/// Searches, writes the reports, and prints the result.
pub(crate) fn run(flags: &LineFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let overrides =
        Overrides { name: flags.recorded.identity.name.clone(), ..Overrides::default() };
    let plan = read_plan(&flags.plan, &overrides)?;
    if !plan.test.kind.is_load() {
        return Err(CommandError::new(format!(
            "a {} test has no load to search the line of; give a plan of a performance test",
            plan.test.kind
        )));
    }
    let folder = flags.output.clone().unwrap_or_else(|| dated_folder(Path::new("."), &plan.name));
    make_new_folder(&folder)?;
    let stop = signals::install(STOPS_A_RUN)?;
    let tags = &flags.recorded.identity.tags;
    let required_iops = plan.workload.target_iops.map(f64::from);
    let order = LineOrder {
        plan,
        step: flags.step,
        command: format!("plimsoll run {}", shell_word(&flags.plan)),
        options: options_of_run(&overrides, tags, None),
        tags,
        folder: &folder,
    };
    let tried = search_line(order, &stop, &shown::on_console(console.is_quiet()))?;
    let TriedLine { run, steps, is_complete } = &tried;
    let line = LineReport { run, steps, required_iops, is_complete: *is_complete };
    conclude(&line, &folder, flags.json, console)
}

/// Writes the reports and prints the closing lines.
fn conclude(
    line: &LineReport<'_>,
    folder: &Path,
    json: bool,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let (text, answer) = (report::line_text(line), report::line_json(line));
    let page = folder.join("line.html");
    write_new(&page, report::line_html(line).as_bytes())?;
    write_new(&folder.join("line.txt"), text.as_bytes())?;
    write_new(&folder.join("line.json"), answer.as_bytes())?;
    let outcome = outcome(line);
    console.conclude(Concluded {
        folder: folder.to_path_buf(),
        name: line.run.start.name.clone(),
        verdict: outcome.word(),
        headline: text.lines().next().unwrap_or_default().to_owned(),
    });
    if json {
        console.answer(answer.trim_end())?;
    } else {
        console.answer(text.trim_end())?;
        console.answer(format_args!("Report: {}", page.display()))?;
    }
    Ok(outcome)
}

/// Returns pass if the line is at or above the required load; fail if it is below, if no judged
/// load passes, or if data was damaged; inconclusive if the search was cut short or judged no load.
fn outcome(line: &LineReport<'_>) -> Outcome {
    if line.steps.iter().any(|step| step.is_damaged) {
        return Outcome::Fail;
    }
    let was_judged = line.steps.iter().any(|step| step.holds.is_some());
    match line.knee() {
        Some(found) if line.required_iops.is_none_or(|required| found.iops >= required) => {
            Outcome::Pass
        }
        _ if !line.is_complete || !was_judged => Outcome::CannotJudge,
        _ => Outcome::Fail,
    }
}
