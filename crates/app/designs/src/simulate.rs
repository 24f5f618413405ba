//! `simulate`: predicts a run on a described, possibly hypothetical array.

pub mod alternatives;
pub(crate) mod deployment;
pub mod flags;
pub mod item;
mod progress;
mod queue;
mod single_disk;
mod sweep;
mod sweep_run;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use blueprint::PredictedArray;
use clap::ValueEnum;
use host::simulate::{self, SimulatedStorage, SimulationLevel, SimulationOrder, arrays};
use host::sweep::combinations_of;
use host::{Measured, StopFlag, StopRequest, crew};
use plan::deployment::Replacement;
use plan::{Overrides, Plan, VolumeSize};
use record::{Event, SimulationDetail};
use simdisk::operations::OperationProfile;
use simdisk::{ArrayDescription, HostCacheSection};

use console::Console;
use console::Outcome;
use console::documents::{dated_folder, read_plan, read_text};
use console::error::CommandError;
use console::shell::{options_of_run, shell_word};
use console::signals;
use console::term::ProgressLine;
use flags::{LevelFlag, SimulateFlags};

use progress::SimulationProgress;
use sweep::OpenSweep;

/// An example for the user.
pub const EXAMPLE: &str = "raid.level=5,10 or cache.mode=write-back,write-through";

/// Interval between checks for a stop request.
const LOOK: Duration = Duration::from_millis(200);

/// Effect of a signal on a simulation.
pub(super) const STOPS_A_SIMULATION: &str = "stopping; again ends at once";

/// Simulates, and prints the result.
pub(crate) fn run(flags: &SimulateFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    if let Some(document) = deployment::document(&flags.plan)? {
        return deployment::run(flags, &document, console);
    }
    deployment::refuse_for_one_host(flags)?;
    let overrides = overrides(flags)?;
    let (file, text) = array_text(&flags.array)?;
    let changes = combinations_of(&flags.what_if, EXAMPLE)?;
    let (folder, stop) = folder_and_stop(flags, &overrides)?;
    let request = SimulationRequest::new(flags, &overrides, (&file, &text), console.is_quiet())?;
    if flags.what_if.is_empty() && flags.seeds == 1 {
        let simulated = request.alone(&folder, &stop, console.is_quiet())?;
        return console::conclusion::conclude(&simulated, &folder, flags.json, console);
    }
    let sweep = OpenSweep::open(&request, &changes, &folder, &stop)?;
    let all = sweep.run(console)?;
    conclude_sweep(&sweep, &all, flags.json, console)
}

/// Runs one plain simulation and returns the result with its folder. Only progress is printed.
pub(super) fn measured(
    flags: &SimulateFlags,
    stop: &StopFlag,
    quiet: bool,
) -> Result<(Measured, PathBuf), CommandError> {
    let overrides = overrides(flags)?;
    let (file, text) = array_text(&flags.array)?;
    let folder = folder_of(flags, &overrides)?;
    heed_requests(&folder, stop)?;
    let request = SimulationRequest::new(flags, &overrides, (&file, &text), quiet)?;
    let measured = request.alone(&folder, stop, quiet)?;
    Ok((measured, folder))
}

/// Returns the flags' overrides of the plan's values, and the default length of a simulation.
fn overrides(flags: &SimulateFlags) -> Result<Overrides, CommandError> {
    let mut overrides = Overrides {
        name: flags.identity.name.clone(),
        test: flags.test.clone(),
        duration: flags.duration,
        sessions: flags.threads,
        target_iops: flags.target_iops,
        seed: flags.seed,
        size: None,
        volume_of: Some(no_volume),
    };
    let mut plan = read_plan(&flags.plan, &overrides)?;
    let usual = simulate::usual_duration(&plan);
    if flags.duration.is_none() && plan.test.duration > usual && !plays_day(flags, &plan) {
        overrides.duration = Some(usual);
        plan = read_plan(&flags.plan, &overrides)?;
    }
    if plan.databases.iter().any(|database| plan.backup_folder(database).is_some()) {
        return Err(CommandError::new(format!(
            "{}: [databases] backup_folders: a simulated backup makes no copies; leave them out",
            flags.plan.display()
        )));
    }
    Ok(overrides)
}

/// Whether the load follows the hours of a day; its length then comes from the plan.
fn plays_day(flags: &SimulateFlags, plan: &Plan) -> bool {
    let detail = SimulationLevel::from(flags.level).detail(plan);
    plan.workload.day.is_some() && detail.is_ok_and(|of| of == SimulationDetail::Operations)
}

/// The folder of the run, and its stop flag.
fn folder_and_stop(
    flags: &SimulateFlags,
    overrides: &Overrides,
) -> Result<(PathBuf, StopFlag), CommandError> {
    let folder = folder_of(flags, overrides)?;
    let stop = signals::install(STOPS_A_SIMULATION)?;
    heed_requests(&folder, &stop)?;
    Ok((folder, stop))
}

fn folder_of(flags: &SimulateFlags, overrides: &Overrides) -> Result<PathBuf, CommandError> {
    let name = read_plan(&flags.plan, overrides)?.name;
    Ok(flags.output.clone().unwrap_or_else(|| dated_folder(Path::new("."), &name)))
}

/// Also stops when `serve` requests it through a file in the folder.
fn heed_requests(folder: &Path, stop: &StopFlag) -> Result<(), CommandError> {
    let (mut request, stop) = (StopRequest::start(folder)?, stop.clone());
    crew::start_thread("stop request", move || {
        while !stop.is_set() {
            thread::sleep(LOOK);
            if request.is_made() {
                stop.set();
            }
        }
    })?;
    Ok(())
}

/// Refuses a database size that is a share of its volume: a simulation has no volumes.
pub fn no_volume(_: &str) -> Result<VolumeSize, String> {
    Err("is a share of volumes, which a simulation has none of; give `size`".to_owned())
}

/// Name and text of the array file, or of the built-in array called `given`.
fn array_text(given: &str) -> Result<(String, String), CommandError> {
    if let Some(text) = arrays::text_of(given) {
        return Ok((given.to_owned(), text.to_owned()));
    }
    let path = Path::new(given);
    if path.exists() {
        return Ok(read_text(path)?);
    }
    Err(CommandError::new(format!(
        "{given}: neither a file nor an array that comes with the program; those are {}",
        arrays::names().join(", ")
    )))
}

/// The command that repeats the simulation, without its options.
fn command(flags: &SimulateFlags) -> String {
    let array = shell_word(Path::new(&flags.array));
    format!("plimsoll simulate {} --array {array}", shell_word(&flags.plan))
}

/// A seed and its consequences before any array is involved.
struct SeededLoad {
    plan: Plan,
    overrides: Overrides,
    /// The operation model of the load at level 2; `None` at level 1.
    profile: Option<OperationProfile>,
}

/// The requested seeds: the plan's and its successors.
fn seeds(
    flags: &SimulateFlags,
    overrides: &Overrides,
    quiet: bool,
) -> Result<Vec<SeededLoad>, CommandError> {
    let first = read_plan(&flags.plan, overrides)?.seed.0;
    let mut progress = ProgressLine::new("measuring the load of the engine", quiet);
    (0..u64::from(flags.seeds))
        .map(|number| {
            progress.text(&format!("seed {} of {}", number + 1, flags.seeds));
            let mut overrides = overrides.clone();
            if flags.seeds > 1 {
                overrides.seed = Some(first.wrapping_add(number));
            }
            let plan = read_plan(&flags.plan, &overrides)?;
            let profile = match SimulationLevel::from(flags.level).detail(&plan)? {
                SimulationDetail::Engine => None,
                SimulationDetail::Operations => Some(simulate::measured_profile(&plan)?),
            };
            Ok(SeededLoad { plan, overrides, profile })
        })
        .collect()
}

/// The parts of the request that all its simulations share.
struct SimulationRequest<'a> {
    flags: &'a SimulateFlags,
    /// Never empty.
    seeds: Vec<SeededLoad>,
    file: &'a str,
    text: &'a str,
}

impl<'a> SimulationRequest<'a> {
    fn new(
        flags: &'a SimulateFlags,
        overrides: &Overrides,
        (file, text): (&'a str, &'a str),
        quiet: bool,
    ) -> Result<Self, CommandError> {
        Ok(Self { flags, seeds: seeds(flags, overrides, quiet)?, file, text })
    }

    /// Simulates the first seed on the array exactly as its file describes it.
    fn alone(&self, folder: &Path, stop: &StopFlag, quiet: bool) -> Result<Measured, CommandError> {
        let load = &self.seeds[0];
        let shown = SimulationProgress::new(&load.plan, quiet);
        self.one(load, (&[], folder), stop, move |event| shown.event(event))
    }

    /// One simulation with a seed and these changes of the array.
    fn one(
        &self,
        load: &SeededLoad,
        (changes, folder): (&[Replacement], &Path),
        stop: &StopFlag,
        told: impl Fn(&Event) + 'static,
    ) -> Result<Measured, CommandError> {
        let array = self.array(changes)?;
        let storage = SimulatedStorage { array, is_each_folder: self.flags.each_folder };
        let order = SimulationOrder {
            plan: &load.plan,
            storage: &storage,
            profile: load.profile.as_ref(),
            rest_percent: self.flags.rest,
            seed: load.plan.seed,
            command: command(self.flags),
            options: given(self.flags, load.overrides.seed, &pairs(changes)),
            tags: &self.flags.identity.tags,
            folder,
        };
        Ok(if self.flags.is_host_of_deployment {
            simulate::simulate_host(&order, stop, told)?
        } else {
            simulate::simulate(&order, stop, told)?
        })
    }

    fn parsed(&self, changes: &[(String, String)]) -> Result<ArrayDescription, CommandError> {
        ArrayDescription::parse(self.file, self.text, changes)
            .map_err(|error| CommandError::new(error.to_string()))
    }

    /// Returns the array with these changes, behind the plan's cache unless it has its own.
    fn array(&self, changes: &[Replacement]) -> Result<ArrayDescription, CommandError> {
        if let Some(why) = single_disk::objection(&self.parsed(&[])?, changes) {
            return Err(CommandError::new(why));
        }
        let mut array = self.parsed(&pairs(changes))?;
        if let (None, Some(cache)) = (array.host_cache, &self.seeds[0].plan.flash_cache) {
            array.host_cache = Some(HostCacheSection::of_size(cache.size.0 as f64 / 1e9));
        }
        Ok(array)
    }
}

/// The options that the user gave for one array with these changes and this seed, each with its
/// value. What the program chooses by itself, it chooses again.
fn given(
    flags: &SimulateFlags,
    seed: Option<u64>,
    changes: &[(String, String)],
) -> Vec<(String, String)> {
    let overrides = Overrides {
        name: flags.identity.name.clone(),
        test: flags.test.clone(),
        duration: flags.duration,
        sessions: flags.threads,
        target_iops: flags.target_iops,
        seed,
        ..Overrides::default()
    };
    let output = flags.output.as_deref().filter(|_| !flags.is_part);
    let mut all = options_of_run(&overrides, &flags.identity.tags, output);
    let changes = changes.iter().map(|(key, value)| format!("{key}={value}"));
    all.extend(changes.map(|change| ("--what-if".to_owned(), shell_word(Path::new(&change)))));
    if flags.rest > 0 {
        all.push(("--rest".to_owned(), flags.rest.to_string()));
    }
    if flags.level != LevelFlag::Auto {
        let level = flags.level.to_possible_value();
        all.extend(level.map(|of| ("--level".to_owned(), of.get_name().to_owned())));
    }
    if flags.each_folder {
        all.push(("--each-folder".to_owned(), String::new()));
    }
    all
}

fn pairs(changes: &[Replacement]) -> Vec<(String, String)> {
    changes.iter().map(|of| (of.key.clone(), of.value.clone())).collect()
}

/// Writes and prints the ranking.
fn conclude_sweep(
    sweep: &OpenSweep<'_>,
    all: &[PredictedArray],
    json: bool,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let (page, text, answer) = sweep.write(all, console.text_width())?;
    if json {
        console.answer(answer.trim_end())?;
    } else {
        console.answer(text.trim_end())?;
        console.answer(format_args!("Report: {}", page.display()))?;
    }
    // The best is first; if it does not pass, none does.
    Ok(match all.first().map(PredictedArray::exit_code) {
        Some(0) => Outcome::Pass,
        Some(1) => Outcome::Fail,
        _ => Outcome::CannotJudge,
    })
}
