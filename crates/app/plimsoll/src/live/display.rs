//! Output of a live run: on a terminal, in a log, or to programs.

use std::collections::BTreeMap;

use record::{Edge, Event, Phase, Settings};
use serde_json::Value;
use units::Nanos;

use super::{LiveRun, PassWork, RunTeller, SetOutlook};
use crate::console::{self, is_for_programs};
use crate::term::Progress;

/// Shows a run.
pub(crate) struct Display {
    run: LiveRun,
    teller: RunTeller,
    progress: Option<Progress>,
    quiet: bool,
}

impl Display {
    /// For a run with these settings, started at this time after 1970, whose phases have these
    /// limits.
    pub(crate) fn new(
        settings: &Settings,
        limits: BTreeMap<Phase, Nanos>,
        started_epoch_ns: u64,
        quiet: bool,
    ) -> Self {
        Self {
            run: LiveRun::new(settings.clone(), limits),
            teller: RunTeller::new(settings.clone(), started_epoch_ns),
            progress: None,
            quiet,
        }
    }

    /// The same for a test of a set.
    pub(crate) fn with_outlook(mut self, outlook: Option<SetOutlook>) -> Self {
        self.run.outlook = outlook;
        self
    }

    /// Processes an event; returns its form for programs.
    pub(crate) fn event(&mut self, event: &Event) -> Option<Value> {
        self.run.event(event);
        if let Event::Phase(mark) = event
            && mark.edge == Edge::Begin
        {
            self.progress = Some(Progress::new(mark.phase.name(), self.quiet));
        }
        self.teller.told(event)
    }

    /// The same, and prints it for programs that read the error output.
    pub(crate) fn event_told(&mut self, event: &Event) {
        if let Some(told) = self.event(event).filter(|_| is_for_programs() && !self.quiet) {
            console::tell(&told);
        }
    }

    /// The phase reads or writes files; its progress.
    pub(crate) fn work(&mut self, work: PassWork) {
        self.run.set_work(work);
    }

    /// Whether a load is running.
    pub(crate) fn is_loaded(&self) -> bool {
        self.run.is_loaded()
    }

    /// Shows how far the run is, `now_ns` after its begin. Call it as often as you like.
    pub(crate) fn show(&mut self, now_ns: u64) {
        let run = &self.run;
        if let Some(progress) = &mut self.progress {
            progress.show(|columns| match columns {
                Some(columns) => run.lines(now_ns, columns),
                None => vec![run.sentence(now_ns)],
            });
        }
    }
}
