//! Output of a live run: on a terminal, in a log, or to programs.

use host::{PassWork, RunOutline};
use record::{Edge, Event};
use serde_json::Value;

use super::{LiveRun, RunTeller, SetOutlook};
use crate::output::{self, is_for_programs};
use crate::term::ProgressLine;

/// Shows a live run.
pub struct Display {
    run: LiveRun,
    teller: RunTeller,
    progress: Option<ProgressLine>,
    quiet: bool,
}

impl Display {
    /// Creates the display of a run that begins with this outline.
    pub fn new(outline: RunOutline, quiet: bool) -> Self {
        let RunOutline { settings, limits, started_epoch_ns } = outline;
        Self {
            run: LiveRun::new(settings.clone(), limits),
            teller: RunTeller::new(settings, started_epoch_ns),
            progress: None,
            quiet,
        }
    }

    /// Adds the outlook of a test in a set.
    #[must_use]
    pub fn with_outlook(mut self, outlook: Option<SetOutlook>) -> Self {
        self.run.outlook = outlook;
        self
    }

    /// Processes an event; returns its form for programs.
    pub fn event(&mut self, event: &Event) -> Option<Value> {
        self.run.event(event);
        if let Event::Phase(mark) = event
            && mark.edge == Edge::Begin
        {
            self.progress = Some(ProgressLine::new(mark.phase.name(), self.quiet));
        }
        self.teller.told(event)
    }

    /// Processes an event, and prints it for programs that read standard error.
    pub(crate) fn event_told(&mut self, event: &Event) {
        if let Some(told) = self.event(event).filter(|_| is_for_programs() && !self.quiet) {
            output::tell(&told);
        }
    }

    /// Records the progress of a phase that reads or writes files.
    pub(crate) fn work(&mut self, work: PassWork) {
        self.run.set_work(work);
    }

    /// The progress of the run in one line, `now_ns` after its start.
    pub fn sentence(&self, now_ns: u64) -> String {
        self.run.sentence(now_ns)
    }

    /// Shows the progress of the run, `now_ns` after its start. May be called as often as needed.
    pub fn show(&mut self, now_ns: u64) {
        let run = &self.run;
        if let Some(progress) = &mut self.progress {
            progress.show(|columns| match columns {
                Some(columns) => run.lines(now_ns, columns),
                None => vec![run.sentence(now_ns)],
            });
        }
    }
}
