//! A held run, predicted on the calibrated array and then measured on the storage itself.

use std::path::Path;
use std::thread;

use host::fill::fill;
use host::scratch::ScratchFolder;
use host::simulate::{SimulatedStorage, SimulationOrder, simulate};
use host::{RunOrder, StopFlag};
use plan::{Overrides, Plan};
use record::RunRecord;
use simdisk::ArrayDescription;
use units::{Bytes, Nanos};

use super::held::HeldRun;
use console::Console;
use console::Outcome;
use console::error::CommandError;
use console::shown;

/// Size of each of the two databases: small enough to simulate in memory unscaled.
const DATABASE_BYTES: u64 = 256 << 20;

/// Room for both databases, their growth, and logs.
pub(super) const ROOM_BYTES: u64 = 6 << 30;

const SESSIONS: u32 = 4;
const DURATION: Nanos = Nanos::from_secs(40);

/// Share of the array's predicted capacity at which the load is held, capped at a number of
/// requests per second per processor: processor time must not decide the proof.
const HELD_PERCENT: f64 = 50.0;
const HELD_PER_PROCESSOR: f64 = 2_000.0;

/// Tolerance of the two figures that are judged: the rate, and the latency of the reads that hit no
/// stall.
const WITHIN_PERCENT: f64 = 15.0;

/// Predicts and measures; passes if the rate of database reads and writes and the latency of the
/// reads that hit no stall are as predicted.
pub(super) fn prove(
    folder: &Path,
    array: &ArrayDescription,
    stop: &StopFlag,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let shown = shown::on_console(console.is_quiet());
    let scratch = ScratchFolder::new(folder, "plimsoll-proof", &shown)?;
    let free = simulated(&plan(scratch.path(), None)?, array, &scratch.path().join("free"), stop)?;
    let most = free.achieved_transactional_iops();
    let processors = thread::available_parallelism().map_or(1, usize::from) as f64;
    let target = whole((most * HELD_PERCENT / 100.0).min(processors * HELD_PER_PROCESSOR));
    console.remark(format_args!(
        "The array would serve {most:.0} I/Os a second; {target} are held, predicted and measured."
    ))?;
    let plan = plan(scratch.path(), Some(target))?;
    let predicted = simulated(&plan, array, &scratch.path().join("predicted"), stop)?;
    fill(&plan, stop, &shown)?;
    let out = scratch.path().join("measured");
    let order = RunOrder {
        plan: &plan,
        command: "plimsoll calibrate --prove".to_owned(),
        options: Vec::new(),
        folder: &out,
        tags: &[],
        set: &[],
        resumed: None,
        acknowledge: None,
        is_held: false,
    };
    let measured = host::run(order, stop, &shown)?.record;
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
    /// Whether a deviation fails the proof.
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

/// Accessor for one figure of a held run; `None` if the run lacks it.
type HeldFigure = fn(&HeldRun) -> Option<f64>;

/// Tabulates a prediction and its measurement, omitting figures that either side lacks.
fn figures(predicted: &HeldRun, measured: &HeldRun) -> Vec<Proved> {
    let rows: [(&'static str, bool, HeldFigure); 5] = [
        ("database reads and writes/s", true, |of| of.load.transfers_per_second),
        ("database reads but stalls, ms", true, |of| of.usual_reads_ms),
        ("database reads, ms", false, |of| of.load.reads.latency_ms),
        ("database writes, ms", false, |of| of.load.writes.latency_ms),
        ("log writes, ms", false, |of| of.load.log_writes.latency_ms),
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
    let (predicted, measured) = (HeldRun::of(predicted), HeldRun::of(measured));
    let figures = figures(&predicted, &measured);
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
            "{name:<32} {predicted:>10.3} {measured:>10.3} {off:>+7.1} %  {word}"
        ))?;
    }
    let percent = measured.stalled_percent;
    if percent > 1.0 {
        console.answer(format_args!(
            "\nStalls took {percent:.0} % of the time of all reads: the storage stood still, for \
             others or for itself, and no prediction says when."
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

    use super::{HeldRun, Proved, figures};

    fn run(transfers: f64, usual_reads_ms: f64, write: f64) -> HeldRun {
        let requests =
            |latency| PublishedRequests { latency_ms: Some(latency), ..Default::default() };
        let load = ServerLoad {
            transfers_per_second: Some(transfers),
            reads: requests(3.0 * write),
            writes: requests(write),
            ..ServerLoad::default()
        };
        HeldRun { load, usual_reads_ms: Some(usual_reads_ms), stalled_percent: 0.0 }
    }

    #[test]
    fn rate_and_reads_decide_and_stalls_and_writes_do_not() {
        let measured = run(1_000.0, 2.0, 1.0);
        for (predicted, holds) in [
            (run(1_000.0, 2.2, 9.0), true),
            (run(1_000.0, 2.4, 1.0), false),
            (run(1_000.0, 1.6, 1.0), false),
            (run(800.0, 2.0, 1.0), false),
        ] {
            let rows = figures(&predicted, &measured);
            assert_eq!((rows.len(), rows.iter().all(Proved::holds)), (4, holds));
        }
    }
}
