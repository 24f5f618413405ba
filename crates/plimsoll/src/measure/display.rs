//! What the terminal shows of a run while it goes on.

use std::time::Duration;

use ese::log_file::LOG_FILE_BYTES;
use plan::Plan;
use record::{Edge, Event, Phase};

use super::figures;
use crate::term::{self, Progress};

/// What the terminal shows of a run.
pub(super) struct Display {
    progress: Option<Progress>,
    phase: Option<Phase>,
    planned: Vec<(Phase, Duration)>,
    latest: String,
    /// Bytes that the phase has read, where it goes through files from end to end.
    pub(super) checked_bytes: u64,
    total_bytes: u64,
    /// Bytes that a replay is to read at least.
    replayed_bytes: u64,
    quiet: bool,
}

impl Display {
    /// For the run of `plan`.
    pub(super) fn new(plan: &Plan, quiet: bool) -> Self {
        let span = |nanos: units::Nanos| Duration::from_nanos(nanos.0);
        let mut planned = vec![(Phase::Warm, span(plan.test.warm_up_limit))];
        // Logs are generated for as long as it takes.
        if !plan.test.is_recovery() {
            planned.push((Phase::Measure, span(plan.test.duration)));
        }
        let logs = u64::from(plan.test.replay_logs) * plan.databases.len() as u64;
        let replayed_bytes = logs * LOG_FILE_BYTES;
        Self {
            progress: None,
            phase: None,
            planned,
            replayed_bytes,
            latest: String::new(),
            checked_bytes: 0,
            total_bytes: plan.size.0 * plan.databases.len() as u64,
            quiet,
        }
    }

    /// Takes what it has to show of an event.
    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::Phase(mark) if mark.edge == Edge::Begin => {
                self.phase = Some(mark.phase);
                self.latest.clear();
                self.checked_bytes = 0;
                self.progress = Some(Progress::new(mark.phase.name(), self.quiet));
            }
            Event::Interval(interval) => self.latest = figures(interval),
            _ => {}
        }
    }

    /// Whether the load goes on.
    pub(super) fn is_loaded(&self) -> bool {
        let load = [Phase::Warm, Phase::Tune, Phase::Measure];
        self.phase.is_some_and(|phase| load.contains(&phase))
    }

    /// Shows how far the phase is.
    pub(super) fn show(&mut self) {
        let Some(progress) = &mut self.progress else {
            return;
        };
        let whole = match self.phase {
            Some(Phase::Check | Phase::Backup) => Some(self.total_bytes),
            Some(Phase::Recover) => Some(self.replayed_bytes),
            _ => None,
        };
        if let Some(whole) = whole {
            return progress.bytes(self.checked_bytes, whole.max(self.checked_bytes));
        }
        let planned = self.planned.iter().find(|(phase, _)| Some(*phase) == self.phase);
        let elapsed = progress.elapsed();
        let time = match planned {
            Some((Phase::Warm, limit)) => {
                format!("{} of at most {}", term::duration(elapsed), term::duration(*limit))
            }
            Some((_, whole)) => {
                let left = term::duration(whole.saturating_sub(elapsed));
                format!("{} of {}, {left} left", term::duration(elapsed), term::duration(*whole))
            }
            None => term::duration(elapsed),
        };
        let separator = if self.latest.is_empty() { "" } else { "; " };
        progress.text(&format!("{time}{separator}{}", self.latest));
    }
}
