//! Executes a sweep: in this program, on several threads, or on the agents of a fleet.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use blueprint::{PredictedArray, PredictionFigures};
use host::{Measured, crew, simulate};
use units::Bytes;

use super::progress::SweepProgress;
use super::queue;
use super::sweep::{OpenSweep, SweepItem};
use console::Console;
use console::error::CommandError;

impl OpenSweep<'_> {
    /// Simulates the items without a result, as many at a time as processors and memory allow;
    /// returns the arrays, the best first.
    pub(super) fn run(&self, console: &mut Console) -> Result<Vec<PredictedArray>, CommandError> {
        let count = self.items.len();
        let known: Vec<Option<PredictionFigures>> =
            self.items.iter().map(|item| self.known(item)).collect();
        let missing: Vec<&SweepItem<'_>> = self
            .items
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none())
            .map(|(item, _)| item)
            .collect();
        let at_a_time = simulate::at_a_time(missing.len());
        let impossible = known.iter().flatten().filter(|of| of.impossibility().is_some()).count();
        let words = known_words(count - missing.len() - impossible, impossible);
        self.announce(count, &words, at_a_time, console)?;
        let progress = SweepProgress::new(missing.len(), count - missing.len(), console.is_quiet());
        let found = if self.request.flags.fleet && !missing.is_empty() {
            queue::collected(self, &missing, &progress, console)?
        } else {
            self.simulated(&missing, at_a_time, &progress)?
        };
        let mut figures = known;
        for (index, found) in found {
            figures[index] = Some(found);
        }
        let done: Vec<PredictionFigures> = figures.into_iter().flatten().collect();
        if done.len() < count {
            return Err(CommandError::new(format!(
                "stopped after {} of {count} simulations; the same command with -o {} continues",
                done.len(),
                self.folder.path().display()
            )));
        }
        let impossible: Vec<&str> =
            done.iter().filter_map(PredictionFigures::impossibility).collect();
        if impossible.len() == count {
            return Err(CommandError::new(impossible[0].to_owned()));
        }
        if let Some(first) = impossible.first() {
            console.remark(format_args!(
                "{} of {count} cannot be simulated and come last in the ranking: {first}",
                impossible.len()
            ))?;
        }
        let predictions = self.items.iter().zip(done).map(|(item, figures)| self.of(item, figures));
        Ok(blueprint::ranked_predictions(predictions.collect()))
    }

    /// Simulates each missing item and returns its figures with its index, unless the sweep is
    /// stopped.
    fn simulated(
        &self,
        missing: &[&SweepItem<'_>],
        at_a_time: usize,
        progress: &SweepProgress,
    ) -> Result<Vec<(usize, PredictionFigures)>, CommandError> {
        let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            let mut workers = Vec::new();
            workers.resize_with(at_a_time, || {
                scope.spawn(|| self.work(missing, (&next, &found), progress))
            });
            for worker in workers {
                worker.join().map_err(|_| crew::panicked())??;
            }
            Ok::<(), CommandError>(())
        })?;
        Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Worker loop: takes the next item until none is left, or the sweep is stopped.
    fn work(
        &self,
        missing: &[&SweepItem<'_>],
        (next, found): (&AtomicUsize, &Mutex<Vec<(usize, PredictionFigures)>>),
        progress: &SweepProgress,
    ) -> Result<(), CommandError> {
        while !self.stop.is_set() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = missing.get(at) else { break };
            if let Some(figures) = self.one(item, (at, progress))? {
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                found.push((item.index, figures));
            }
            progress.end(at);
        }
        Ok(())
    }

    /// Simulates one item and stores its figures; `None` if the sweep is stopped meanwhile. The
    /// figures are parsed from the stored text, so that they never depend on the host that computed
    /// them.
    fn one(
        &self,
        item: &SweepItem<'_>,
        (at, progress): (usize, &SweepProgress),
    ) -> Result<Option<PredictionFigures>, CommandError> {
        let name = self.name(item).unwrap_or_else(|| format!("at-work-{}", item.index));
        let folder = self.folder.run_folder(&name)?;
        let told = progress.of(at, &item.load.plan);
        let figures = match self.request.one(item.load, (item.changes, &folder), self.stop, told) {
            Ok(Measured { record, verdict, .. }) => PredictionFigures::of(&record, &verdict),
            Err(CommandError::Design(why)) => PredictionFigures::impossible(&why),
            Err(error) => return Err(error),
        };
        if self.stop.is_set() {
            return Ok(None);
        }
        let text = serde_json::to_string(&figures)?;
        if !self.keeps_runs() {
            self.folder.run_folder(&name)?;
        }
        self.kept(item.index, &text).map(Some)
    }

    /// Announces the simulations, and their limit.
    fn announce(
        &self,
        count: usize,
        known: &str,
        at_a_time: usize,
        console: &mut Console,
    ) -> Result<(), CommandError> {
        let memory = Bytes(at_a_time as u64 * simulate::BYTES_OF_A_SIMULATION);
        let by = if self.request.flags.fleet {
            "by the agents of the fleet".to_owned()
        } else {
            format!("{at_a_time} at a time, with {memory} of memory at most")
        };
        console.remark(format_args!(
            "{} of {}{known}, {by}.",
            units::plural(count as u64, "simulation"),
            units::plural(self.request.seeds[0].plan.databases.len() as u64, "database")
        ))?;
        console.flush()
    }
}

/// Explains why fewer simulations remain than there are designs: some were simulated earlier, and
/// impossible ones are not simulated.
fn known_words(simulated: usize, impossible: usize) -> String {
    let were = if simulated == 1 { "was" } else { "were" };
    let known = match simulated {
        0 => String::new(),
        _ => format!("; {simulated} {were} simulated before"),
    };
    match impossible {
        0 => known,
        _ => format!("{known}; {impossible} cannot be simulated"),
    }
}

#[cfg(test)]
mod tests {
    use super::known_words;

    #[test]
    fn impossible_designs_were_not_simulated_before() {
        assert_eq!(known_words(0, 0), "");
        assert_eq!(known_words(0, 4), "; 4 cannot be simulated");
        assert_eq!(known_words(1, 1), "; 1 was simulated before; 1 cannot be simulated");
        assert_eq!(known_words(3, 0), "; 3 were simulated before");
    }
}
