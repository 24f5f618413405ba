//! Many simulations of one plan: each combination of changes of the array, with each seed. Results
//! are kept by content, so that a sweep that is cut off continues where it was, and designs that
//! were simulated once are not simulated again.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use fleet::SimulationItem;
use host::simulate;
use host::sweep::{ContentKey, SweepFolder};
use host::{Measured, StopFlag, crew};
use plan::deployment::Replacement;
use report::{PredictedArray, Prediction, PredictionFigures};
use simdisk::ArrayDescription;
use units::Bytes;

use super::item::build;
use super::progress::SweepProgress;
use super::{SeededLoad, SimulationRequest, pairs, queue};
use crate::console::Console;
use crate::error::CommandError;

/// The journals and reports of so many simulations are kept; of more, only the figures that rank
/// them.
const MOST_KEPT: usize = 100;

/// One simulation of a sweep.
pub(super) struct SweepItem<'a> {
    /// Number in the sweep, from 0.
    pub index: usize,
    changes: &'a [Replacement],
    load: &'a SeededLoad,
    array: ArrayDescription,
    pub key: ContentKey,
}

/// A sweep under way.
pub(super) struct OpenSweep<'a> {
    pub request: &'a SimulationRequest<'a>,
    items: Vec<SweepItem<'a>>,
    folder: SweepFolder,
    build: String,
    pub stop: &'a StopFlag,
}

impl<'a> OpenSweep<'a> {
    /// Begins the sweep of `all` combinations in its folder, or continues it. Mistakes in any of
    /// them are reported before anything is simulated.
    pub(super) fn open(
        request: &'a SimulationRequest<'a>,
        all: &'a [Vec<Replacement>],
        folder: &std::path::Path,
        stop: &'a StopFlag,
    ) -> Result<Self, CommandError> {
        let build = build();
        let mut items = Vec::new();
        for changes in all {
            for load in &request.seeds {
                let array = request.array(changes)?;
                let key = key(request, load, (&array, &build));
                items.push(SweepItem { index: items.len(), changes, load, array, key });
            }
        }
        let keys: Vec<ContentKey> = items.iter().map(|item| item.key.clone()).collect();
        let folder = SweepFolder::open(folder, &keys, request.flags.cache.as_deref())?;
        Ok(Self { request, items, folder, build, stop })
    }

    /// Simulates what was not simulated yet, as many at a time as processors and memory allow;
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
        self.announce((count, missing.len(), at_a_time), console)?;
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
        let predictions = self.items.iter().zip(done).map(|(item, figures)| self.of(item, figures));
        Ok(report::ranked_predictions(predictions.collect()))
    }

    /// The figures of each item that is missing, with its number, unless the sweep is stopped.
    fn simulated(
        &self,
        missing: &[&SweepItem<'_>],
        at_a_time: usize,
        progress: &SweepProgress,
    ) -> Result<Vec<(usize, PredictionFigures)>, CommandError> {
        let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || -> Result<(), CommandError> {
            while !self.stop.is_set() {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = missing.get(at) else { break };
                if let Some(figures) = self.one(item, (at, progress))? {
                    let mut found = found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    found.push((item.index, figures));
                }
                progress.end(at);
            }
            Ok(())
        };
        thread::scope(|scope| {
            let mut workers = Vec::new();
            workers.resize_with(at_a_time, || scope.spawn(work));
            for worker in workers {
                worker.join().map_err(|_| crew::panicked())??;
            }
            Ok::<(), CommandError>(())
        })?;
        Ok(found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Simulates one item and keeps its figures; none if the sweep is stopped meanwhile. Figures
    /// are those that were kept, read back, so that they never depend on who computed them.
    fn one(
        &self,
        item: &SweepItem<'_>,
        (at, progress): (usize, &SweepProgress),
    ) -> Result<Option<PredictionFigures>, CommandError> {
        let name = self.name(item).unwrap_or_else(|| format!("at-work-{}", item.index));
        let folder = self.folder.run_folder(&name)?;
        let told = progress.of(at, &item.load.plan);
        let Measured { record, verdict, .. } =
            self.request.one(item.load, (item.changes, &folder), self.stop, told)?;
        if self.stop.is_set() {
            return Ok(None);
        }
        let text = serde_json::to_string(&PredictionFigures::of(&record, &verdict))?;
        if !self.keeps_runs() {
            self.folder.run_folder(&name)?;
        }
        self.kept(item.index, &text).map(Some)
    }

    /// Keeps the figures of the item at `index`, and reads them back.
    pub(super) fn kept(&self, index: usize, text: &str) -> Result<PredictionFigures, CommandError> {
        self.folder.store.put(&self.items[index].key, text)?;
        Ok(serde_json::from_str(text)?)
    }

    /// An item for an agent.
    pub(super) fn described(&self, item: &SweepItem<'_>) -> SimulationItem {
        let request = self.request;
        SimulationItem {
            key: item.key.as_str().to_owned(),
            build: self.build.clone(),
            plan: item.load.plan.to_toml(),
            array_file: request.file.to_owned(),
            array: request.text.to_owned(),
            changes: pairs(item.changes),
            is_by_operations: item.load.profile.is_some(),
            rest_percent: request.flags.rest,
            is_each_folder: request.flags.each_folder,
        }
    }

    /// The figures of an item that was simulated before.
    fn known(&self, item: &SweepItem<'_>) -> Option<PredictionFigures> {
        let text = self.folder.store.get(&item.key)?;
        let is_whole = self.name(item).is_none_or(|name| self.folder.has_run(&name));
        serde_json::from_str(&text).ok().filter(|_| is_whole)
    }

    /// Whether runs are kept: a cache that others share has results alone.
    const fn keeps_runs(&self) -> bool {
        let flags = self.request.flags;
        self.items.len() <= MOST_KEPT && flags.cache.is_none() && !flags.fleet
    }

    /// Name of the folder of an item's run, if it is kept.
    fn name(&self, item: &SweepItem<'_>) -> Option<String> {
        self.keeps_runs().then(|| format!("what-if-{:02}", item.index + 1))
    }

    fn of(&self, item: &SweepItem<'_>, figures: PredictionFigures) -> Prediction {
        let raid = &item.array.raid;
        Prediction {
            changes: pairs(item.changes),
            figures,
            folder: self.name(item),
            disks: u32::try_from(raid.disks + raid.spares).ok(),
            survived: u32::try_from(raid.survived_disks()).ok(),
        }
    }

    /// Announces the simulations, and their limit.
    fn announce(
        &self,
        (count, missing, at_a_time): (usize, usize, usize),
        console: &mut Console,
    ) -> Result<(), CommandError> {
        let memory = Bytes(at_a_time as u64 * simulate::BYTES_OF_A_SIMULATION);
        let known = match count - missing {
            0 => String::new(),
            known => format!("; {known} were simulated before"),
        };
        let by = if self.request.flags.fleet {
            "by the agents of the fleet".to_owned()
        } else {
            format!("{at_a_time} at a time, with {memory} of memory at most")
        };
        console.remark(format_args!(
            "{count} simulations of {} databases{known}, {by}.",
            self.request.seeds[0].plan.databases.len()
        ))?;
        console.flush()
    }

    /// Writes the ranking in every form; returns the page, the text and the answer.
    pub(super) fn write(
        &self,
        all: &[PredictedArray],
    ) -> Result<(PathBuf, String, String), CommandError> {
        let (text, answer) = (report::predictions_text(all), report::predictions_json(all));
        let page = self.folder.write("what-if.html", &report::predictions_html(all))?;
        self.folder.write("what-if.txt", &text)?;
        self.folder.write("what-if.csv", &report::predictions_csv(all))?;
        self.folder.write("what-if.json", &answer)?;
        Ok((page, text, answer))
    }
}

/// Everything that decides the figures of a simulation.
fn key(
    request: &SimulationRequest<'_>,
    load: &SeededLoad,
    (array, build): (&ArrayDescription, &str),
) -> ContentKey {
    let flags = request.flags;
    ContentKey::of(&[
        "simulate 1",
        build,
        &load.plan.to_toml(),
        &format!("{array:?}"),
        if load.profile.is_some() { "operations" } else { "engine" },
        &flags.rest.to_string(),
        if flags.each_folder { "each folder" } else { "shared" },
    ])
}
