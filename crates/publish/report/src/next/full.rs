//! The next step to propose after a volume has filled up.

use plan::{LOG_RESERVE, Plan, end_reserve, write_shown_size};
use record::{DatabaseFacts, Phase, RunRecord, Series};
use units::{Bytes, Nanos};

use super::command::{again, has_plan};
use super::step::{NextStep, StepKind};
use super::time;

/// Share of the measured time for which a shorter run is advised, in percent.
const SHORTER_PERCENT: u64 = 80;

/// The step that keeps the volume from filling up.
pub(super) fn room(run: &RunRecord) -> NextStep {
    if let Some(seconds) = fitting_seconds(run).filter(|_| fits_again(run)) {
        let shorter = again(run, &[("--duration", format!("{seconds}s"))]);
        return StepKind::ShorterRun.with("Free space on the volume, or run shorter", shorter);
    }
    let same = again(run, &[]);
    let half = Bytes(filled_bytes(run) / 2);
    if half < plan::SMALLEST_FILE {
        let words = "Free space on the volume, or take a larger one; then";
        return StepKind::LargerVolume.with(words, same);
    }
    if has_plan(run) {
        let words = format!(
            "Free space on the volume, or use databases of {half} in a new folder (`size`); then"
        );
        return StepKind::SmallerDatabases.with(words, same);
    }
    let mebibyte = 1 << 20;
    let size = write_shown_size(Bytes(half.0 / mebibyte * mebibyte));
    let smaller = format!("{} --reset", again(run, &[("--size", size)]));
    let words = "Free space on the volume, or replace the databases with smaller ones";
    StepKind::SmallerDatabases.with(words, smaller)
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

    /// Whether `free` bytes before this run are enough for both. The logs count whole and once: the
    /// next run finds those that this one leaves.
    const fn fits(self, free: u64) -> bool {
        let to_grow = shorter(self.grown);
        let logs = self.logs * (self.checkpoint_depth + LOG_RESERVE.0);
        let end = end_reserve(self.databases, self.logs, self.page_bytes).0;
        self.grown + to_grow + logs + end <= free
    }
}

/// Bytes by which a database has become larger, as far as its intervals show.
fn grown(run: &RunRecord, facts: &DatabaseFacts) -> u64 {
    let phases = [Phase::Warm, Phase::Tune, Phase::Measure, Phase::Drain];
    let seen = phases.iter().filter_map(|phase| run.totals_of(*phase, facts.index));
    let largest = seen.map(|totals| totals.gauges.file_bytes).max().unwrap_or(0);
    largest.saturating_sub(facts.initial_bytes)
}

#[cfg(test)]
mod tests {
    use plan::Plan;
    use record::synthetic::Synthetic;

    use super::{Needed, room};
    use crate::next::step::StepKind;

    const MIB: u64 = 1 << 20;

    #[test]
    fn smaller_is_smaller_than_the_plan_and_not_than_the_grown_file() {
        let mut run = Synthetic { measure_intervals: 1, ..Synthetic::default() }.run();
        let mut plan = Plan::parse("plan", &Plan::example()).expect("the example is a plan");
        plan.size.0 = 32 * MIB;
        run.start.plan_text = plan.to_toml();
        run.start.databases[0].initial_bytes = 128 * MIB;
        let step = room(&run);
        assert_eq!(step.kind, StepKind::SmallerDatabases);
        assert!(step.to_string().contains("use databases of 16.0 MiB in a new folder"), "{step}");
        run.start.plan_text.clear();
        assert!(room(&run).to_string().contains("use databases of 64.0 MiB"), "no plan is known");
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
