//! The next step to propose after a volume has filled up.

use plan::{LOG_RESERVE, Plan, end_reserve, write_shown_size};
use record::{DatabaseFacts, Phase, RunRecord, Series};
use units::{Bytes, Nanos};

use super::command::{again, filled_anew, has_plan};
use super::step::{NextStep, StepKind};
use super::time;

/// Share of the measured time for which a shorter run is advised, in percent.
const SHORTER_PERCENT: u64 = 80;

/// Phases in which a load makes the databases grow.
const LOADED: [Phase; 3] = [Phase::Warm, Phase::Tune, Phase::Measure];

const MEBIBYTE: u64 = 1 << 20;

/// The step that keeps the volume from filling up.
pub(super) fn room(run: &RunRecord) -> NextStep {
    if let Some(seconds) = fitting_seconds(run).filter(|_| fits_again(run)) {
        let shorter = again(run, &[("--duration", format!("{seconds}s"))]);
        return StepKind::ShorterRun.with("Free space on the volume, or run shorter", shorter);
    }
    let same = again(run, &[]);
    let Some(smaller) = fitting_size(run) else {
        let words = "Free space on the volume, or take a larger one; then";
        return StepKind::LargerVolume.with(words, same);
    };
    if has_plan(run) {
        let words = format!(
            "Free space on the volume, or lower `size` in the plan to {smaller} and fill the \
             databases anew ({}); then",
            filled_anew(run)
        );
        return StepKind::SmallerDatabases.with(words, same).ranked(smaller.0 as f64);
    }
    let size = write_shown_size(smaller);
    let smaller = format!("{} --reset", again(run, &[("--size", size)]));
    let words = "Free space on the volume, or replace the databases with smaller ones";
    StepKind::SmallerDatabases.with(words, smaller)
}

/// The size of databases, at most half the present one, beside which the volume has space for the
/// whole test at the growth of this run; `None` if there is none.
fn fitting_size(run: &RunRecord) -> Option<Bytes> {
    let filled = filled_bytes(run);
    let volumes =
        run.start.databases.iter().map(|of| (of.volume.mount.as_str(), of.volume.free_bytes));
    let mut size = filled / 2;
    for (mount, free) in volumes {
        let needed = Needed::on(run, mount);
        let lacking = needed.of_whole(run).saturating_sub(free);
        size = size.min(filled.saturating_sub(lacking.div_ceil(needed.databases)));
    }
    let size = Bytes(size / MEBIBYTE * MEBIBYTE);
    (size >= plan::SMALLEST_FILE).then_some(size)
}

/// The size to which a database was filled. Earlier runs may have made it larger since; their size
/// is taken only if the record has no plan.
fn filled_bytes(run: &RunRecord) -> u64 {
    let first = run.start.databases.first();
    let planned = Plan::parse("plan", &run.start.plan_text).ok().map(|plan| plan.size.0);
    planned.unwrap_or_else(|| first.map_or(0, |facts| facts.initial_bytes))
}

/// The time for which the volume has space, if it is enough for a verdict.
fn fitting_seconds(run: &RunRecord) -> Option<u64> {
    let thresholds = &run.start.settings.thresholds;
    let fitting_ns = shorter(run.span_ns(Phase::Measure));
    let needed = [
        (Series::DatabaseRead, thresholds.minimum_reads),
        (Series::LogWrite, thresholds.minimum_log_writes),
    ];
    let is_enough = fitting_ns >= thresholds.minimum_measure_ns.max(1)
        && needed.iter().all(|(series, least)| shorter(time::fewest(run, *series)) >= *least);
    is_enough.then(|| fitting_ns / Nanos::from_secs(1).0)
}

/// The part of a number that falls to a shorter run.
const fn shorter(number: u64) -> u64 {
    number / 10 * (SHORTER_PERCENT / 10)
}

/// Whether a shorter run fits beside the databases as this one left them.
fn fits_again(run: &RunRecord) -> bool {
    let volumes = run.start.databases.iter().flat_map(|of| [&of.volume, &of.log_volume]);
    let mut volumes = volumes.map(|volume| (volume.mount.as_str(), volume.free_bytes));
    volumes.all(|(mount, free)| Needed::on(run, mount).fits(free))
}

/// What this run and the next one take of a volume that both share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Needed {
    databases: u64,
    logs: u64,
    /// Bytes by which this run made its databases larger.
    grown: u64,
    page_bytes: u64,
    checkpoint_depth: u64,
}

impl Needed {
    fn on(run: &RunRecord, mount: &str) -> Self {
        let settings = &run.start.settings;
        let all = &run.start.databases;
        let logs = all.iter().filter(|of| of.log_volume.mount == mount).count();
        let on_it = all.iter().filter(|of| of.volume.mount == mount);
        Self {
            databases: on_it.clone().count() as u64,
            logs: logs as u64,
            grown: on_it.map(|of| grown(run, of)).sum(),
            page_bytes: settings.page_size_bytes.into(),
            checkpoint_depth: settings.checkpoint_depth_bytes,
        }
    }

    /// Whether `free` bytes before this run are enough for both.
    const fn fits(self, free: u64) -> bool {
        self.grown + shorter(self.grown) + self.beside() <= free
    }

    /// Bytes that the whole test takes if its databases grow as they did so far.
    fn of_whole(self, run: &RunRecord) -> u64 {
        let grew_ns = LOADED.map(|phase| run.span_ns(phase)).iter().sum::<u64>().max(1);
        let left_ns = run.start.settings.measure_ns.saturating_sub(run.span_ns(Phase::Measure));
        let grown = u128::from(self.grown) * u128::from(grew_ns + left_ns) / u128::from(grew_ns);
        u64::try_from(grown).unwrap_or(u64::MAX).saturating_add(self.beside())
    }

    /// Bytes beside the growth. The logs count whole and once: the next run finds those that this
    /// one leaves.
    const fn beside(self) -> u64 {
        let logs = self.logs * (self.checkpoint_depth + LOG_RESERVE.0);
        logs + end_reserve(self.databases, self.logs, self.page_bytes).0
    }
}

/// Bytes by which a database has become larger, as far as its intervals show.
fn grown(run: &RunRecord, facts: &DatabaseFacts) -> u64 {
    let phases = LOADED.iter().chain(&[Phase::Drain]);
    let seen = phases.filter_map(|phase| run.totals_of(*phase, facts.index));
    let largest = seen.map(|totals| totals.gauges.file_bytes).max().unwrap_or(0);
    largest.saturating_sub(facts.initial_bytes)
}

#[cfg(test)]
mod tests {
    use plan::Plan;
    use record::synthetic::Synthetic;
    use record::{Phase, RunRecord};

    use super::{Needed, room};
    use crate::next::step::StepKind;

    const MIB: u64 = 1 << 20;

    /// A run whose plan asks for databases of 512 MiB, and that made them larger since.
    fn full() -> RunRecord {
        let mut run = Synthetic { measure_intervals: 1, ..Synthetic::default() }.run();
        let mut plan = Plan::parse("plan", &Plan::example()).expect("the example is a plan");
        plan.size.0 = 512 * MIB;
        run.start.plan_text = plan.to_toml();
        run.start.settings.measure_ns = run.span_ns(Phase::Measure);
        run
    }

    #[test]
    fn smaller_is_half_of_the_plan_and_not_of_the_grown_file() {
        let mut run = full();
        run.start.databases[0].initial_bytes = 2048 * MIB;
        let step = room(&run);
        assert_eq!(step.kind, StepKind::SmallerDatabases);
        let words = "or lower `size` in the plan to 256.0 MiB and fill the databases anew \
                     (plimsoll prepare plan.toml --reset); then";
        assert!(step.to_string().contains(words), "{step}");
        run.start.plan_text.clear();
        assert!(room(&run).to_string().contains("to 1.00 GiB"), "{}", room(&run));
    }

    #[test]
    fn smaller_databases_leave_room_for_the_rest_of_the_test() {
        let mut run = full();
        let mount = run.start.databases[0].volume.mount.clone();
        run.start.databases.retain(|of| of.volume.mount == mount);
        let needed = Needed::on(&run, &mount);
        let lacking = |run: &mut RunRecord, bytes: u64| {
            let free = needed.of_whole(run).saturating_sub(bytes);
            run.start.databases.iter_mut().for_each(|of| of.volume.free_bytes = free);
        };
        run.start.settings.measure_ns = 36_000 * 1_000_000_000;
        lacking(&mut run, 300 * MIB * needed.databases);
        assert!(
            room(&run).to_string().contains("`size` in the plan to 212.0 MiB"),
            "{}",
            room(&run)
        );
        lacking(&mut run, 510 * MIB * needed.databases);
        assert_eq!(room(&run).kind, StepKind::LargerVolume, "{}", room(&run));
    }

    #[test]
    fn a_shorter_run_is_proposed_only_if_it_fits_beside_what_this_one_wrote() {
        let needed = Needed {
            databases: 2,
            logs: 2,
            grown: 100 * MIB,
            page_bytes: 32 << 10,
            checkpoint_depth: 20 * MIB,
        };
        // 180 MiB of growth, 72 of logs, and 40 for the end.
        assert!(needed.fits(292 * MIB));
        assert!(!needed.fits(292 * MIB - 1));
        let mut run = Synthetic::default().run();
        assert_eq!(room(&run).kind, StepKind::ShorterRun);
        run.start.databases[0].volume.free_bytes = 0;
        assert_eq!(room(&run).kind, StepKind::SmallerDatabases, "the free space is unknown");
    }
}
