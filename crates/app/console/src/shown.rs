//! Shows a person or a program the events that the host reports.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use host::{HostEvent, HostObserver};
use record::Event;

use crate::live::{self, Display, SetOutlook};
use crate::output::{complain, say};
use crate::term::ProgressLine;

/// Display of work in progress.
struct ConsoleObserver {
    quiet: bool,
    /// For a test in a set, its outlook and the folder of its run.
    outlook: Option<(SetOutlook, PathBuf)>,
    run: Option<Display>,
    work: Option<(String, ProgressLine)>,
}

/// Shows work on the console; little of it if `quiet`.
pub fn on_console(quiet: bool) -> HostObserver {
    observer(ConsoleObserver { quiet, outlook: None, run: None, work: None })
}

/// Shows the run in `folder`, a test in a set; `watch` finds the outlook there.
pub fn in_set(outlook: SetOutlook, folder: PathBuf, quiet: bool) -> HostObserver {
    observer(ConsoleObserver { quiet, outlook: Some((outlook, folder)), run: None, work: None })
}

fn observer(shown: ConsoleObserver) -> HostObserver {
    let shown = Mutex::new(shown);
    HostObserver::new(move |event| shown.lock().unwrap_or_else(PoisonError::into_inner).hear(event))
}

impl ConsoleObserver {
    fn hear(&mut self, event: HostEvent<'_>) {
        match event {
            HostEvent::Remark(text) if !self.quiet => say(&text),
            HostEvent::Warning(text) => say(&text),
            HostEvent::Load(next) if !self.quiet => say(&live::loads::words(next)),
            HostEvent::Remark(_) | HostEvent::Load(_) => {}
            HostEvent::Bytes { work, done, total } => self.work(work).bytes(done, total),
            HostEvent::State { work, text } => self.work(work).text(text),
            HostEvent::Ended => (self.run, self.work) = (None, None),
            event => self.hear_of_run(event),
        }
    }

    fn hear_of_run(&mut self, event: HostEvent<'_>) {
        match (event, &mut self.run) {
            (HostEvent::Begun(outline), run) => {
                let display = Display::new(outline.clone(), self.quiet);
                let outlook = self.outlook.as_ref().map(|(outlook, folder)| {
                    if let Err(error) = outlook.keep(folder) {
                        complain(error.told().map_or("", |(sentence, _)| sentence));
                    }
                    outlook.clone()
                });
                *run = Some(display.with_outlook(outlook));
            }
            (HostEvent::Event(Event::Finished(end)), _) => live::tell_end(end, self.quiet),
            (HostEvent::Event(event), Some(run)) => run.event_told(event),
            (HostEvent::Pass(work), Some(run)) => run.work(work),
            (HostEvent::Now { at_ns }, Some(run)) => run.show(at_ns),
            _ => {}
        }
    }

    /// Returns the progress line of this work, replacing that of any other.
    fn work(&mut self, name: &str) -> &mut ProgressLine {
        if self.work.as_ref().is_some_and(|(shown, _)| shown != name) {
            self.work = None;
        }
        let quiet = self.quiet;
        let (_, progress) =
            self.work.get_or_insert_with(|| (name.to_owned(), ProgressLine::new(name, quiet)));
        progress
    }
}
