//! `watch`: follows another process's run, and exits with that run's status.

pub(crate) mod flags;
mod fleets;

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use host::{RunOutline, StopFlag, is_live, journal_of, load, runs_at};
use plan::Plan;
use record::codec::JournalPieces;
use record::{Event, RunRecord, Start};
use serde_json::{Value, json};
use trial::bounds;
use verdict::Verdict;

use ::fleets::show::is_fleet;
use console::Console;
use console::Outcome;
use console::conclusion::concluded;
use console::error::CommandError;
use console::events;
use console::live::{Display, SetOutlook};
use console::shell::shell_word;
use console::signals;
use flags::WatchFlags;

/// Interval between checks of the journal.
const LOOK: Duration = Duration::from_millis(200);

/// Follows the run; the outcome is its verdict.
pub(crate) fn run(flags: &WatchFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    if is_fleet(&flags.run) {
        return fleets::run(&flags.run, flags.json, console);
    }
    let folder = runs_at(&flags.run)?.remove(0);
    // Refuses a file that is no journal before waiting for anything.
    let already = load(&folder)?;
    if folder != flags.run {
        console.remark(format_args!("The run in {}.", folder.display()))?;
    }
    let stop = signals::install("no longer watching; the run continues")?;
    let mut watched = JournalWatch::new(&folder);
    watched.outlook = SetOutlook::of(&watched.journal);
    if let Some(outlook) = &watched.outlook {
        console.remark(outlook.introduction())?;
    }
    let is_over = already.finished.is_some() || !is_live(&folder);
    if (flags.json || !is_over) && !watched.follow(&stop, flags.json, console)? {
        return Ok(Outcome::CannotJudge);
    }
    let record = load(&folder)?;
    let verdict = verdict::judge(&record);
    conclude(&record, &verdict, &folder, flags.json, console)
}

/// How far the run in `folder` has come, in one line.
pub(super) fn progress(folder: &Path) -> Result<String, CommandError> {
    let mut watched = JournalWatch::new(folder);
    watched.outlook = SetOutlook::of(&watched.journal);
    for event in watched.new_events()? {
        watched.take(&event, true);
    }
    let far = watched.display.map(|(display, started_epoch_ns)| {
        display.sentence(events::now_ns().saturating_sub(started_epoch_ns))
    });
    Ok(far.unwrap_or_else(|| "starting".to_owned()))
}

/// The journal that is followed.
struct JournalWatch {
    journal: PathBuf,
    offset: u64,
    pieces: JournalPieces,
    display: Option<(Display, u64)>,
    outlook: Option<SetOutlook>,
    has_finished: bool,
}

impl JournalWatch {
    fn new(folder: &Path) -> Self {
        Self {
            journal: journal_of(folder),
            offset: 0,
            pieces: JournalPieces::default(),
            display: None,
            outlook: None,
            has_finished: false,
        }
    }

    /// Shows events as they are written until the run has ended, whatever its outcome; `true` if it
    /// ended before the user stopped watching.
    fn follow(
        &mut self,
        stop: &StopFlag,
        json: bool,
        console: &mut Console,
    ) -> Result<bool, CommandError> {
        while !stop.is_set() {
            // Queried first, so that everything a run writes before it unlocks is read.
            let goes_on = is_live(&self.journal);
            for event in self.new_events()? {
                self.event(&event, json, console)?;
            }
            console.flush()?;
            if self.has_finished || !goes_on {
                self.display = None;
                return Ok(true);
            }
            if let Some((display, started_epoch_ns)) = self.display.as_mut().filter(|_| !json) {
                display.show(events::now_ns().saturating_sub(*started_epoch_ns));
            }
            thread::sleep(LOOK);
        }
        Ok(false)
    }

    fn event(
        &mut self,
        event: &Event,
        json: bool,
        console: &mut Console,
    ) -> Result<(), CommandError> {
        match self.take(event, console.is_quiet()).filter(|_| json) {
            Some(told) => console.answer_json_line(&told.to_string()),
            None => Ok(()),
        }
    }

    /// Adds an event to the display; returns its form for programs.
    fn take(&mut self, event: &Event, quiet: bool) -> Option<Value> {
        if let (Event::Start(start), None) = (event, &self.display) {
            let display = display(start, quiet).with_outlook(self.outlook.clone());
            self.display = Some((display, start.started_epoch_ns));
        }
        self.has_finished |= matches!(event, Event::Finished(_));
        self.display.as_mut().and_then(|(display, _)| display.event(event))
    }

    /// Events written since the last call.
    fn new_events(&mut self) -> Result<Vec<Event>, CommandError> {
        let mut new = Vec::new();
        let read = File::open(&self.journal).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.offset))?;
            file.read_to_end(&mut new)
        });
        read.map_err(|error| CommandError::file(&self.journal, "read", &error))?;
        self.offset += new.len() as u64;
        Ok(self.pieces.take(&new))
    }
}

/// Display of a run with this start.
fn display(start: &Start, quiet: bool) -> Display {
    let plan = Plan::parse("plan", &start.plan_text).ok();
    let limits = plan.as_ref().map(bounds::of_phases).unwrap_or_default();
    let (settings, started_epoch_ns) = (start.settings.clone(), start.started_epoch_ns);
    Display::new(RunOutline { settings, limits, started_epoch_ns }, quiet)
}

/// Prints the closing lines and returns the outcome.
fn conclude(
    record: &RunRecord,
    verdict: &Verdict,
    folder: &Path,
    json: bool,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let outcome = Outcome::of(verdict);
    let end = concluded(record, verdict, folder);
    if json {
        let members = json!({
            "verdict": end.verdict,
            "exit_status": outcome.exit_status(),
            "headline": end.headline,
            "folder": folder.display().to_string(),
        });
        console.answer_json_line(&events::now("verdict", members).to_string())?;
    } else {
        console.answer(report::summary_in(record, verdict, &shell_word(folder)).trim_end())?;
    }
    console.conclude(end);
    Ok(outcome)
}
