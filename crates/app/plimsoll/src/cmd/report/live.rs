//! `report` of a live run or set: how far it has come. Only its end can be judged, and until then
//! no report is written.

use std::path::Path;

use host::{journal_of, load};

use super::deliver;
use super::flags::{ReportFlags, ReportFormat};
use crate::cmd::suite::SetOfRuns;
use crate::cmd::watch;
use console::Console;
use console::Outcome;
use console::error::CommandError;
use console::shell::shell_word;

/// What `report` has of a live run in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LiveReport {
    /// How far it has come.
    Progress,
    /// Its intervals so far.
    Intervals,
    /// Nothing: the format contains a verdict.
    Refused,
}

impl LiveReport {
    const fn of(format: Option<ReportFormat>) -> Self {
        match format {
            None | Some(ReportFormat::Text) => Self::Progress,
            Some(ReportFormat::Csv) => Self::Intervals,
            Some(
                ReportFormat::Html | ReportFormat::Json | ReportFormat::Xml | ReportFormat::Esrp,
            ) => Self::Refused,
        }
    }
}

/// Reports a run that has not ended; the outcome is open.
pub(super) fn report_run(
    flags: &ReportFlags,
    run: &Path,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let text = match LiveReport::of(flags.format) {
        LiveReport::Progress => {
            format!("STILL RUNNING  {}\n\n{}\n", watch::progress(run)?, how_to_follow(run))
        }
        LiveReport::Intervals => {
            let shown = run.display();
            console
                .remark(format_args!("{shown}: the run is live; these are its intervals so far"))?;
            report::csv(&load(run)?)
        }
        LiveReport::Refused => {
            return Err(CommandError::new(format!(
                "{}: the run is live and has no verdict yet; report it in this form when it has \
                 ended",
                run.display()
            )));
        }
    };
    deliver(flags, &text, &[&journal_of(run)], console)?;
    Ok(Outcome::CannotJudge)
}

/// Reports the set in `folder` while its test in `run` is still in progress.
pub(super) fn report_set(
    set: &SetOfRuns,
    (folder, run): (&Path, &Path),
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    console.answer(set.summary(folder).trim_end())?;
    console.answer(format_args!("{}: {}", run.display(), watch::progress(run)?))?;
    console.answer(how_to_follow(folder))?;
    Ok(set.outcome())
}

/// How to see the rest of a live run or set, and its verdict.
fn how_to_follow(path: &Path) -> String {
    let word = shell_word(path);
    format!("The report is written at the end; plimsoll watch {word} follows it until then.")
}

#[cfg(test)]
mod tests {
    use super::LiveReport;
    use crate::cmd::report::flags::ReportFormat;

    #[test]
    fn a_live_run_has_no_form_with_a_verdict() {
        assert_eq!(LiveReport::of(None), LiveReport::Progress);
        assert_eq!(LiveReport::of(Some(ReportFormat::Text)), LiveReport::Progress);
        assert_eq!(LiveReport::of(Some(ReportFormat::Csv)), LiveReport::Intervals);
        for judged in [ReportFormat::Html, ReportFormat::Json, ReportFormat::Xml] {
            assert_eq!(LiveReport::of(Some(judged)), LiveReport::Refused);
        }
    }
}
