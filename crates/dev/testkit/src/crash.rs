//! The crash loop: random work with a model twin, power failing at chosen requests, recovery, and a
//! check that every promise was kept.
//!
//! A seed determines one *script*: a small database, sessions, and their work. One *step* is the
//! request at which power fails first; the points at which it fails again, inside recovery or in
//! the work that follows, derive from seed and step. After every recovery the database must hold
//! exactly the result of the first `n` commits of its log, where `n` is at least the number of
//! commits acknowledged as durable. At the end the database is closed, and every page and every
//! tree is checked.

mod check;
mod model;
mod script;
mod session;

use std::fmt;
use std::rc::Rc;

use device::{Runtime, VolumeImage};
use engine::recovery::RecoveryError;
use engine::{Database, OpenError};
use ese::log_file::SegmentSize;
use faults::{CrashOptions as PowerOptions, CrashVolume};
use simdisk::ArrayDescription;
use units::{Nanos, Prng, Seed};

use crate::world::World;
pub(crate) use model::Model;
pub(crate) use script::FILE;
pub use script::Script;
pub(crate) use session::work;

/// Requests at which power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// At this request, counted from 1.
    One(u64),
    /// At every request of the script.
    Every,
    /// At this number of requests, drawn by seed.
    Some(u64),
}

/// Options of a crash test.
#[derive(Clone, Debug)]
pub struct CrashOptions {
    /// Seed of the script and of the failures.
    pub seed: Seed,
    /// Where power fails.
    pub steps: Steps,
    /// What the sessions do.
    pub script: Script,
    /// The simulated array under the database, whose caches decide what survives a failure; if
    /// `None`, memory that keeps exactly the durable writes.
    pub array: Option<ArrayDescription>,
}

impl CrashOptions {
    /// Creates the script of `seed`, with power failing at `steps`.
    pub fn new(seed: Seed, steps: Steps) -> Self {
        Self { seed, steps, script: Script::of(seed), array: None }
    }
}

/// Counts of a run of the loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrashSummary {
    /// Power failures in all.
    pub crashes: u64,
    /// Power failures during recovery.
    pub during_recovery: u64,
    /// Total number of commits acknowledged as durable before a failure.
    pub durable_commits: u64,
    /// Lazy commits that were lost, which is allowed.
    pub lost_commits: u64,
    /// Recoveries that rejected a page torn by the failure.
    pub refused: u64,
    /// Requests that the script makes if power never fails.
    pub requests: u64,
}

impl CrashSummary {
    /// Adds the counts of another run.
    pub fn add(&mut self, other: &Self) {
        self.crashes += other.crashes;
        self.during_recovery += other.during_recovery;
        self.durable_commits += other.durable_commits;
        self.lost_commits += other.lost_commits;
        self.refused += other.refused;
        self.requests += other.requests;
    }
}

/// A promise that the database broke, and how to repeat the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashFailure {
    /// The seed of the script.
    pub seed: Seed,
    /// The request at which power failed first; 0 if the script failed without one.
    pub step: u64,
    /// Segment size of all logs, if the options prescribe one.
    pub log_segment: Option<SegmentSize>,
    /// The problem found.
    pub problem: String,
}

impl fmt::Display for CrashFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, step, log_segment, problem } = self;
        write!(
            f,
            "seed {}, step {step}: {problem}\n\
             reproduce with: cargo xtask crash --seed {} --step {step}",
            seed.0, seed.0
        )?;
        match log_segment {
            Some(size) => write!(f, " --log-segment {}", size.bytes()),
            None => Ok(()),
        }
    }
}

impl std::error::Error for CrashFailure {}

/// Whether recovery rejects a damaged page and names it.
const fn names_a_page(error: &OpenError) -> bool {
    matches!(error, OpenError::Damaged(_) | OpenError::Recovery(RecoveryError::DamagedPage { .. }))
}

/// Maximum number of further power failures after the first.
const MOST_AGAIN: u64 = 4;

/// Longest virtual time between two power failures. A script takes some hundred milliseconds; one
/// that takes this long waits for something that never happens.
const LONGEST_STRETCH: Nanos = Nanos::from_secs(3600);

/// Runs the script, with power failing at each of the chosen requests.
pub fn run(options: &CrashOptions) -> Result<CrashSummary, CrashFailure> {
    let (script, array) = (options.script.clone(), options.array.clone());
    let lab = Lab { seed: options.seed, script, array };
    let image = lab.script.initial_image(options.seed);
    let mut summary =
        CrashSummary { requests: lab.undisturbed(&image)?, ..CrashSummary::default() };
    let requests = summary.requests;
    match options.steps {
        Steps::One(step) => lab.step(&image, step, &mut summary)?,
        Steps::Every => {
            for step in 1..=requests {
                lab.step(&image, step, &mut summary)?;
            }
        }
        Steps::Some(count) => {
            let mut prng = Prng::new(options.seed.derive(0x57E9));
            for _ in 0..count {
                lab.step(&image, 1 + prng.below(requests), &mut summary)?;
            }
        }
    }
    Ok(summary)
}

/// One script under examination.
struct Lab {
    seed: Seed,
    script: Script,
    array: Option<ArrayDescription>,
}

/// How a stretch of work ended.
enum Ending {
    /// All work was done and the database closed.
    Closed { image: VolumeImage, requests: u64 },
    /// Power failed; whether recovery had finished by then.
    Crashed { image: VolumeImage, recovered: bool },
    /// Recovery rejected a torn page by name, as this script permits.
    Refused,
}

impl Lab {
    /// Runs the script without a failure; returns its number of requests.
    fn undisturbed(&self, image: &VolumeImage) -> Result<u64, CrashFailure> {
        self.run_undisturbed(image).map_err(|problem| self.failure(0, problem))
    }

    fn run_undisturbed(&self, image: &VolumeImage) -> Result<u64, String> {
        let model = Model::new(self.script.initial_rows());
        let Ending::Closed { image, requests } = self.stretch(image, None, &model, 0)? else {
            return Err("power failed without being asked for".to_owned());
        };
        check::closed_database(&self.script, &image, &model)?;
        check::every_page_is_in_the_map(&image)?;
        Ok(requests)
    }

    /// Fails power at request `step`, then perhaps during later stretches, until the database can
    /// be closed.
    fn step(
        &self,
        image: &VolumeImage,
        step: u64,
        summary: &mut CrashSummary,
    ) -> Result<(), CrashFailure> {
        self.run_step(image, step, summary).map_err(|problem| self.failure(step, problem))
    }

    fn run_step(
        &self,
        image: &VolumeImage,
        step: u64,
        summary: &mut CrashSummary,
    ) -> Result<(), String> {
        let model = Model::new(self.script.initial_rows());
        let mut prng = Prng::new(self.seed.derive(step));
        let (mut image, mut at) = (image.clone(), Some(step));
        for stretch in 0.. {
            match self.stretch(&image, at, &model, stretch)? {
                Ending::Closed { image, .. } => {
                    summary.lost_commits += model.lost();
                    return check::closed_database(&self.script, &image, &model);
                }
                Ending::Refused => {
                    summary.refused += 1;
                    return Ok(());
                }
                Ending::Crashed { image: after, recovered } => {
                    summary.crashes += 1;
                    summary.during_recovery += u64::from(stretch > 0 && !recovered);
                    summary.durable_commits += model.durable();
                    image = after;
                }
            }
            // A request this early is part of recovery, a later one part of the work.
            let is_last = stretch >= MOST_AGAIN || prng.percent(30);
            let most = if prng.percent(60) { 40 } else { 400 };
            at = (!is_last).then(|| 1 + prng.below(most));
        }
        Ok(())
    }

    /// Opens the database, compares it with the model, works on it and closes it, unless power
    /// fails at request `at`.
    fn stretch(
        &self,
        image: &VolumeImage,
        at: Option<u64>,
        model: &Rc<Model>,
        stretch: u64,
    ) -> Result<Ending, String> {
        let seed = self.seed.derive(stretch);
        let world = self.world(image, seed);
        let power = PowerOptions { at_request: at, ..PowerOptions::default() };
        let volume = CrashVolume::guaranteed(world.volume(), image, power, world.guarantee());
        let shared = Rc::new(volume.clone());
        let recovered = Rc::new(std::cell::Cell::new(false));
        let task = {
            let (runtime, script, model) = (world.runtime(), self.script.clone(), Rc::clone(model));
            let recovered = Rc::clone(&recovered);
            async move {
                let files = Script::files(shared);
                let opened =
                    Database::recover(&runtime, files, script.settings(stretch), seed, &|_| {})
                        .await;
                let database = match opened {
                    Ok((database, _)) => database,
                    Err(error) if script.may_refuse() && names_a_page(&error) => return Ok(false),
                    Err(error) => return Err(format!("the database does not open: {error}")),
                };
                check::open_database(&script, &database, &model).await?;
                recovered.set(true);
                session::work(&runtime, &script, &database, &model, seed).await?;
                let closed = database.shut_down().await;
                closed.map_err(|error| format!("the database does not close: {error}"))?;
                Ok(true)
            }
        };
        drop(world.runtime().spawn(self.watch(world.runtime(), at)));
        match volume.run(world.executor(), task) {
            Some(Ok(false)) => Ok(Ending::Refused),
            Some(Ok(true)) => {
                Ok(Ending::Closed { image: world.image(), requests: volume.requests() })
            }
            Some(Err(problem)) => Err(problem),
            None => Ok(Ending::Crashed {
                image: volume.survivors_with(seed.derive(at.unwrap_or(0)), |file| {
                    self.script.atomic_unit_of(file)
                }),
                recovered: recovered.get(),
            }),
        }
    }

    /// The storage of a stretch.
    fn world(&self, image: &VolumeImage, seed: Seed) -> World {
        let latency = (Nanos::from_micros(20), Nanos::from_micros(300));
        match &self.array {
            Some(array) => World::on_array(image, array, seed),
            None => World::with_latency(image, latency, seed),
        }
    }

    /// Fails the test if a script hangs, waiting for something that never happens.
    fn watch(&self, runtime: Runtime, at: Option<u64>) -> impl Future<Output = ()> + 'static {
        let seed = self.seed.0;
        async move {
            runtime.sleep(LONGEST_STRETCH).await;
            panic!("seed {seed}, power failing at request {at:?}: still at work after an hour");
        }
    }

    fn failure(&self, step: u64, problem: String) -> CrashFailure {
        CrashFailure { seed: self.seed, step, log_segment: self.script.log_segment, problem }
    }
}

#[cfg(test)]
mod on_arrays;
