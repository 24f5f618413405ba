//! The ranking of a sweep. Its folder holds simulations of several arrays, and the newest of them
//! need not be the best.

use std::path::Path;

use serde_json::Value;

use super::flags::{ReportFlags, ReportFormat};
use super::{Outcome, deliver};
use console::Console;
use console::error::CommandError;

/// Whether `folder` holds a finished sweep.
pub(super) fn is_sweep(folder: &Path) -> bool {
    folder.join("what-if.json").is_file()
}

/// The ranking as the sweep left it; the outcome is that of its best array.
pub(super) fn report_sweep(
    flags: &ReportFlags,
    folder: &Path,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let name = match flags.format.unwrap_or(ReportFormat::Text) {
        ReportFormat::Text => "what-if.txt",
        ReportFormat::Html => "what-if.html",
        ReportFormat::Json => "what-if.json",
        ReportFormat::Csv => "what-if.csv",
        ReportFormat::Xml | ReportFormat::Esrp => {
            return Err(CommandError::usage(format!(
                "{}: a ranking of simulated arrays has no such form; name the folder of one run",
                folder.display()
            )));
        }
    };
    let file = folder.join(name);
    deliver(flags, &read(&file)?, &[&file], console)?;
    if flags.format.is_none() && flags.output.is_none() {
        console.answer(format_args!("Report: {}", folder.join("what-if.html").display()))?;
    }
    Ok(outcome_of(&read(&folder.join("what-if.json"))?))
}

fn read(file: &Path) -> Result<String, CommandError> {
    std::fs::read_to_string(file).map_err(|error| CommandError::file(file, "read", &error))
}

/// The outcome of the first array of a ranking.
fn outcome_of(ranking: &str) -> Outcome {
    let ranking: Value = serde_json::from_str(ranking).unwrap_or_default();
    match ranking["predictions"][0]["verdict"].as_str() {
        Some("simulated_pass") => Outcome::Pass,
        Some("simulated_fail") => Outcome::Fail,
        _ => Outcome::CannotJudge,
    }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, outcome_of};

    #[test]
    fn the_best_array_decides_and_a_ranking_that_cannot_be_read_judges_nothing() {
        let ranking = |verdicts: &[&str]| {
            let all = verdicts.iter().map(|verdict| format!("{{\"verdict\": {verdict:?}}}"));
            format!("{{\"predictions\": [{}]}}", all.collect::<Vec<_>>().join(", "))
        };
        assert_eq!(outcome_of(&ranking(&["simulated_pass", "simulated_fail"])), Outcome::Pass);
        assert_eq!(outcome_of(&ranking(&["simulated_fail"])), Outcome::Fail);
        assert_eq!(outcome_of(&ranking(&["simulated_cannot_judge"])), Outcome::CannotJudge);
        assert_eq!(outcome_of("{"), Outcome::CannotJudge);
    }
}
