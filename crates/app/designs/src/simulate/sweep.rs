//! Many simulations of one plan: each combination of array changes, with each seed. Results are
//! stored by content, so that an interrupted sweep resumes, and designs are never simulated twice.

use std::collections::BTreeSet;
use std::path::PathBuf;

use blueprint::{PredictedArray, Prediction, PredictionFigures};
use fleet::SimulationItem;
use host::StopFlag;
use host::sweep::{ContentKey, SweepFolder};
use plan::Plan;
use plan::deployment::Replacement;
use report::{BestOfSweep, OnArrays, ReportForm, TEXT_WIDTH};
use simdisk::ArrayDescription;

use super::item::build;
use super::{SeededLoad, SimulationRequest, command, given, pairs};
use console::error::CommandError;
use console::shell::shell_word;

/// Largest sweep that keeps the journals and reports of its simulations; beyond it only the figures
/// that rank them are kept.
const MOST_KEPT: usize = 100;

/// One simulation of a sweep.
pub(super) struct SweepItem<'a> {
    /// Number in the sweep, from 0.
    pub index: usize,
    pub changes: &'a [Replacement],
    pub load: &'a SeededLoad,
    /// The array, or the reason why it is impossible.
    array: Result<ArrayDescription, String>,
    pub key: ContentKey,
}

/// A sweep under way.
pub(super) struct OpenSweep<'a> {
    pub request: &'a SimulationRequest<'a>,
    pub items: Vec<SweepItem<'a>>,
    pub folder: SweepFolder,
    build: String,
    pub stop: &'a StopFlag,
}

impl<'a> OpenSweep<'a> {
    /// Starts the sweep of `all` combinations in its folder, or resumes it. An error that all of
    /// them share is a user error and is returned; an error of only some makes those impossible.
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
                let array = request.array(changes).map_err(|error| sentence(&error));
                let key = key(request, load, (&array, &build));
                items.push(SweepItem { index: items.len(), changes, load, array, key });
            }
        }
        if let Some(Err(why)) = items.first().map(|item: &SweepItem<'_>| &item.array)
            && items.iter().all(|item| item.array.is_err())
        {
            return Err(CommandError::new(why.clone()));
        }
        let keys: Vec<ContentKey> = items.iter().map(|item| item.key.clone()).collect();
        let folder = SweepFolder::open(folder, &keys, request.flags.cache.as_deref())?;
        Ok(Self { request, items, folder, build, stop })
    }

    /// Stores the figures of the item at `index`, and returns them parsed from the stored text.
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

    /// The figures of an item that was simulated before, or that cannot be simulated.
    pub(super) fn known(&self, item: &SweepItem<'_>) -> Option<PredictionFigures> {
        if let Err(why) = &item.array {
            return Some(PredictionFigures::impossible(why));
        }
        let text = self.folder.store.get(&item.key)?;
        let figures: PredictionFigures = serde_json::from_str(&text).ok()?;
        let has_run = self.name(item).is_none_or(|name| self.folder.has_run(&name));
        Some(figures).filter(|of| has_run || of.impossibility().is_some())
    }

    /// Whether runs are kept: a shared cache holds only results.
    pub(super) const fn keeps_runs(&self) -> bool {
        let flags = self.request.flags;
        self.items.len() <= MOST_KEPT && flags.cache.is_none() && !flags.fleet
    }

    /// Name of the folder of an item's run, if it is kept.
    pub(super) fn name(&self, item: &SweepItem<'_>) -> Option<String> {
        self.keeps_runs().then(|| format!("what-if-{:02}", item.index + 1))
    }

    pub(super) fn of(&self, item: &SweepItem<'_>, figures: PredictionFigures) -> Prediction {
        let array = item.array.as_ref().ok();
        let on = on_arrays(&item.load.plan, self.request.flags.each_folder);
        let was_run = figures.impossibility().is_none();
        Prediction {
            changes: pairs(item.changes),
            figures,
            folder: self.name(item).filter(|_| was_run),
            disks: array.and_then(|array| disks_in_all(array, &on)),
            survived: array.and_then(|array| u32::try_from(array.raid.survived_disks()).ok()),
        }
    }

    /// What to do after the sweep, with the options that the user gave.
    fn next_steps(&self, best: &PredictedArray) -> Vec<String> {
        let flags = self.request.flags;
        let item = self.items.iter().find(|item| pairs(item.changes) == best.changes());
        let Some((item, array)) = item.and_then(|item| Some((item, item.array.as_ref().ok()?)))
        else {
            return Vec::new();
        };
        let mut options = given(flags, flags.seed, best.changes());
        let seeds = Some(flags.seeds).filter(|&seeds| seeds > 1);
        options.extend(seeds.map(|seeds| ("--seeds".to_owned(), seeds.to_string())));
        let cache = flags.cache.as_ref().map(|folder| shell_word(folder));
        options.extend(cache.map(|folder| ("--cache".to_owned(), folder)));
        report::sweep_steps(&BestOfSweep {
            command: command(flags),
            options,
            test: trial::test_type(&item.load.plan),
            outcome: best.ruling(),
            needed: best.needed(),
            lacks_sessions: best.lacks_sessions(),
            array_text: array.text(),
            databases: on_arrays(&item.load.plan, flags.each_folder),
            simulated: item.load.plan.test.duration,
            rates: best.rates(),
        })
    }

    /// Writes the ranking in every form; returns the page, the text in `width` columns and the
    /// answer.
    pub(super) fn write(
        &self,
        all: &[PredictedArray],
        width: usize,
    ) -> Result<(PathBuf, String, String), CommandError> {
        let steps = all.first().map(|best| self.next_steps(best)).unwrap_or_default();
        let forms = [
            ReportForm::Page,
            ReportForm::Text { width: TEXT_WIDTH },
            ReportForm::Csv,
            ReportForm::Json,
        ];
        let [page, text, table, answer] =
            forms.map(|form| blueprint::render_predictions(form, all, &steps));
        let shown = blueprint::render_predictions(ReportForm::Text { width }, all, &steps);
        let page = self.folder.write("what-if.html", &page)?;
        self.folder.write("what-if.txt", &text)?;
        self.folder.write("what-if.csv", &table)?;
        self.folder.write("what-if.json", &answer)?;
        Ok((page, shown, answer))
    }
}

/// The databases of a plan, on one array or on one for each volume.
fn on_arrays(plan: &Plan, is_each_folder: bool) -> OnArrays {
    let databases = plan.databases.len() as u64;
    let mut volumes = BTreeSet::new();
    volumes.extend(plan.databases.iter().flat_map(|of| [&of.volume, &of.log_volume]));
    let arrays = if is_each_folder { volumes.len() as u64 } else { 1 };
    OnArrays { databases, bytes: plan.size.0.saturating_mul(databases), arrays }
}

/// Disks of all arrays: the mailboxes and IOPS of a ranking are those of the whole plan, too.
fn disks_in_all(array: &ArrayDescription, on: &OnArrays) -> Option<u32> {
    let each = u64::try_from(array.raid.disks + array.raid.spares).ok()?;
    each.checked_mul(on.arrays)?.try_into().ok()
}

fn sentence(error: &CommandError) -> String {
    error.told().map_or_else(String::new, |(text, _)| text.to_owned())
}

/// Everything that decides the figures of a simulation.
fn key(
    request: &SimulationRequest<'_>,
    load: &SeededLoad,
    (array, build): (&Result<ArrayDescription, String>, &str),
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

#[cfg(test)]
mod tests {
    use plan::Plan;
    use simdisk::ArrayDescription;

    use super::{disks_in_all, on_arrays};

    const SHELF: &str = include_str!("../../../../../arrays/shelf-15k.toml");

    #[test]
    fn disks_are_those_of_all_arrays() {
        let text = "[databases]\nfolders = [\"/a\", \"/b\", \"/c\"]\nsize = \"100GiB\"\n\
                    [workload]\ntarget_iops = 200\n";
        let plan = Plan::parse("plan.toml", text).expect("a plan");
        let array = ArrayDescription::parse("array.toml", SHELF, &[]).expect("it ships");
        let each = u32::try_from(array.raid.disks + array.raid.spares).expect("a few");
        let disks = |is_each_folder| disks_in_all(&array, &on_arrays(&plan, is_each_folder));
        assert_eq!((disks(false), disks(true)), (Some(each), Some(3 * each)));
    }
}
