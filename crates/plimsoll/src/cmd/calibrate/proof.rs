//! A held run, predicted on the calibrated array and then measured on the storage itself.

use std::path::Path;
use std::thread;

use plan::{Overrides, Plan};
use record::{RunRecord, ServerLoad};
use simdisk::ArrayDescription;
use units::{Bytes, Nanos};

use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;
use crate::fill::fill;
use crate::measure::{Order, measure};
use crate::scratch::ScratchFolder;
use crate::signals::StopFlag;
use crate::simulate::{SimulatedStorage, SimulationOrder, simulate};

/// Two databases of this size are held in memory as they are.
const DATABASE_BYTES: u64 = 256 << 20;

/// Room for both, what they grow by, and logs.
pub(super) const ROOM_BYTES: u64 = 6 << 30;

const SESSIONS: u32 = 4;
const DURATION: Nanos = Nanos::from_secs(40);

/// The load is held at so much of what the array is predicted to serve, and at so many requests a
/// second for each processor: theirs is not the time that is to be proved.
const HELD_PERCENT: f64 = 50.0;
const HELD_PER_PROCESSOR: f64 = 2_000.0;

/// Judged: rate and read latency within this.
const WITHIN_PERCENT: f64 = 15.0;

/// Predicts and measures; passes where rate and latency of reads are as predicted.
pub(super) fn prove(
    folder: &Path,
    array: &ArrayDescription,
    stop: &StopFlag,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let scratch = ScratchFolder::new(folder, "plimsoll-proof")?;
    let quiet = console.is_quiet();
    let free = simulated(&plan(scratch.path(), None)?, array, &scratch.path().join("free"), stop)?;
    let most = free.achieved_transactional_iops();
    let processors = thread::available_parallelism().map_or(1, usize::from) as f64;
    let target = whole((most * HELD_PERCENT / 100.0).min(processors * HELD_PER_PROCESSOR));
    console.remark(format_args!(
        "The array would serve {most:.0} I/Os a second; {target} are held, predicted and measured."
    ))?;
    let plan = plan(scratch.path(), Some(target))?;
    let predicted = simulated(&plan, array, &scratch.path().join("predicted"), stop)?;
    fill(&plan, stop, quiet)?;
    let out = scratch.path().join("measured");
    let order = Order {
        plan: &plan,
        command: "plimsoll calibrate --prove".to_owned(),
        options: Vec::new(),
        folder: &out,
        tags: &[],
        resumed: None,
        acknowledge: None,
    };
    let measured = measure(order, stop, quiet)?.record;
    compare(&predicted, &measured, console)
}

fn plan(folder: &Path, target_iops: Option<u32>) -> Result<Plan, CommandError> {
    let overrides = Overrides {
        duration: Some(DURATION),
        size: Some(Bytes(DATABASE_BYTES)),
        sessions: Some(plan::Sessions::Count(SESSIONS)),
        target_iops,
        ..Overrides::default()
    };
    Ok(Plan::quick(&folder.display().to_string(), &overrides)?)
}

fn simulated(
    plan: &Plan,
    array: &ArrayDescription,
    folder: &Path,
    stop: &StopFlag,
) -> Result<RunRecord, CommandError> {
    let storage = SimulatedStorage { array: array.clone(), is_each_folder: false };
    let order = SimulationOrder {
        profile: None,
        plan,
        storage: &storage,
        rest_percent: 0,
        seed: plan.seed,
        command: "plimsoll calibrate --prove".to_owned(),
        options: Vec::new(),
        tags: &[],
        folder,
    };
    Ok(simulate(&order, stop, |_| ())?.record)
}

/// One figure, predicted and measured.
struct Proved {
    name: &'static str,
    predicted: f64,
    measured: f64,
    /// Whether it decides.
    is_judged: bool,
}

impl Proved {
    fn off_percent(&self) -> f64 {
        (self.predicted / self.measured - 1.0) * 100.0
    }

    fn holds(&self) -> bool {
        !self.is_judged || self.off_percent().abs() <= WITHIN_PERCENT
    }
}

/// One figure of a load, where it has it.
type LoadFigure = fn(&ServerLoad) -> Option<f64>;

/// The table of a prediction and what came; figures that are missing on a side are left out.
fn figures(predicted: &ServerLoad, measured: &ServerLoad) -> Vec<Proved> {
    let rows: [(&'static str, bool, LoadFigure); 4] = [
        ("database reads and writes/s", true, |of| of.transfers_per_second),
        ("database reads, ms", true, |of| of.reads.latency_ms),
        ("database writes, ms", false, |of| of.writes.latency_ms),
        ("log writes, ms", false, |of| of.log_writes.latency_ms),
    ];
    rows.into_iter()
        .filter_map(|(name, is_judged, figure)| {
            let (predicted, measured) = (figure(predicted)?, figure(measured)?);
            Some(Proved { name, predicted, measured, is_judged })
        })
        .collect()
}

fn compare(
    predicted: &RunRecord,
    measured: &RunRecord,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let figures = figures(&ServerLoad::of(predicted), &ServerLoad::of(measured));
    if figures.iter().filter(|figure| figure.is_judged).count() < 2 {
        return Err(CommandError::new("the held run was not measured to the end; run it again"));
    }
    console.answer(format_args!(
        "{:<32} {:>10} {:>10} {:>9}",
        "held run", "predicted", "measured", "off"
    ))?;
    for figure in &figures {
        let Proved { name, predicted, measured, .. } = figure;
        let word = match (figure.is_judged, figure.holds()) {
            (true, true) => "in",
            (true, false) => "OUT",
            (false, _) => "not judged",
        };
        let off = figure.off_percent();
        console.answer(format_args!(
            "{name:<32} {predicted:>10.2} {measured:>10.2} {off:>+7.1} %  {word}"
        ))?;
    }
    let holds = figures.iter().all(Proved::holds);
    Ok(if holds { Outcome::Pass } else { Outcome::Fail })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate of some storage, above one"
)]
fn whole(rate: f64) -> u32 {
    rate.clamp(1.0, 1e9) as u32
}

#[cfg(test)]
mod tests {
    use record::{PublishedRequests, ServerLoad};

    use super::{Proved, figures};

    fn load(transfers: f64, read: f64, write: f64) -> ServerLoad {
        let requests =
            |latency| PublishedRequests { latency_ms: Some(latency), ..Default::default() };
        ServerLoad {
            transfers_per_second: Some(transfers),
            reads: requests(read),
            writes: requests(write),
            ..ServerLoad::default()
        }
    }

    #[test]
    fn rate_and_reads_decide_and_writes_do_not() {
        let measured = load(1_000.0, 2.0, 1.0);
        for (predicted, holds) in [
            (load(1_000.0, 2.2, 9.0), true),
            (load(1_000.0, 2.4, 1.0), false),
            (load(800.0, 2.0, 1.0), false),
        ] {
            let rows = figures(&predicted, &measured);
            assert_eq!((rows.len(), rows.iter().all(Proved::holds)), (3, holds));
        }
    }
}
