//! One line of a list of runs, for measured, simulated and imported runs alike.

use record::{Checksum, Phase, PublishedInstance, RunRecord, Series, TestType};
use serde_json::{Value, json};
use verdict::{Ruling, Verdict};

use crate::document::Tone;
use crate::imported::words;
use crate::{format, passes, sections};

/// The verdict on a run in a few words: an imported run is marked as such, and one whose
/// requirement is not met names it.
pub fn verdict_name(run: &RunRecord, verdict: &Verdict) -> String {
    let outcome = verdict.outcome;
    match (run.imported(), run.simulated()) {
        (Some(imported), _) => words::outcome_words(imported, verdict),
        (None, Some(simulation)) if simulation.is_host_of_deployment => {
            "Simulated host of a deployment".to_owned()
        }
        (None, Some(_)) => {
            let caveat = caveat(outcome, verdict);
            format!("Simulated {}", qualified(&outcome.name().to_lowercase(), caveat))
        }
        (None, None) => qualified(outcome.name(), caveat(outcome, verdict)),
    }
}

/// The caveat of volumes without room for the mailboxes of the plan.
pub const TOO_SMALL: &str = "too small";

/// An outcome with what it lacks, as every headline prints it.
pub(crate) fn qualified(outcome: &str, lacking: Option<&str>) -> String {
    let lacking = lacking.map(|lacking| format!(", {lacking}")).unwrap_or_default();
    format!("{outcome}{lacking}")
}

/// What a passed run lacks, in two words: room for the mailboxes of its plan, their load, or a
/// state that a mean describes.
pub fn lacking(verdict: &Verdict) -> Option<&'static str> {
    caveat(verdict.outcome, verdict).filter(|_| verdict.exit_code() == 0)
}

/// What a run lacks, to be read beside an outcome: room is missing whatever the outcome, the rest
/// only qualifies a pass.
fn caveat(outcome: Ruling, verdict: &Verdict) -> Option<&'static str> {
    let is_passed = outcome.exit_code() == 0;
    let found = [
        (verdict.lacks_room(), TOO_SMALL),
        (is_passed && verdict.lacks_load(), "below plan"),
        (is_passed && verdict.is_unsteady(), "not steady"),
    ];
    found.into_iter().find(|(is_lacking, _)| *is_lacking).map(|(_, words)| words)
}

/// The outcome of several tests, with what the first of them lacks.
pub fn set_headline<'a>(outcome: Ruling, tests: impl IntoIterator<Item = &'a Verdict>) -> String {
    qualified(outcome.name(), tests.into_iter().find_map(|of| caveat(outcome, of)))
}

/// What a passed set lacks: the gap of the first of its tests that has one. `None` for any other
/// set.
pub(crate) fn set_lacking<'a>(
    outcome: Ruling,
    tests: impl IntoIterator<Item = &'a Verdict>,
) -> Option<&'static str> {
    tests.into_iter().find_map(lacking).filter(|_| outcome.exit_code() == 0)
}

/// Colour of a run's outcome; plain if the run is not judged alone.
pub(crate) fn tone_of(run: &RunRecord, verdict: &Verdict) -> Tone {
    if run.is_host_of_deployment() {
        return Tone::Plain;
    }
    if lacking(verdict).is_some() { Tone::Warn } else { sections::tone(verdict.outcome) }
}

/// Whether the program or the machine stopped before the run could end; also true of a live run.
pub fn is_cut_off(run: &RunRecord) -> bool {
    run.finished.is_none() && run.imported().is_none() && run.simulated().is_none()
}

/// State of a run, as shown in lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Being measured.
    Live,
    /// Ended normally, or stopped by the user.
    Ended,
    /// Ended by a crash or a power cut.
    CutOff,
    /// Its journal has not been read yet.
    Unread,
    /// Its journal cannot be read.
    Unreadable,
}

impl RunState {
    /// The word for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Ended => "ended",
            Self::CutOff => "cut_off",
            Self::Unread => "unread",
            Self::Unreadable => "unreadable",
        }
    }

    /// The state of a run whose journal was read.
    pub fn of(run: &RunRecord, is_live: bool) -> Self {
        match (is_live, is_cut_off(run)) {
            (true, _) => Self::Live,
            (false, false) => Self::Ended,
            (false, true) => Self::CutOff,
        }
    }
}

/// A run in machine-readable lists, shared by `list --json` and the server's `/api/runs`.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunEntry<'a> {
    /// Its name.
    pub name: &'a str,
    /// Words to find it by.
    pub tags: &'a [String],
    /// The user's own description.
    pub description: &'a str,
    /// The machine that made the load.
    pub machine: &'a str,
    /// The kind of test.
    pub test: &'a str,
    /// Start in ISO 8601; `None` for a simulation, which has its own clock.
    pub started: Option<&'a str>,
    /// The verdict, in the words of the JSON reports; `None` before the end.
    pub verdict: Option<&'a str>,
    /// The verdict in the words of the lists, with what the run lacks; `None` before the end.
    pub headline: Option<&'a str>,
    /// Whether a later run took its place in a set of tests.
    pub is_replaced: bool,
    /// The array of a simulated run.
    pub simulated: Option<&'a str>,
    /// The instrument of an imported result.
    pub imported: Option<&'a str>,
    /// Target in transactional IOPS.
    pub target_iops: Option<f64>,
    /// Achieved transactional IOPS.
    pub iops: Option<f64>,
    /// Rate at which a backup read all databases together, in MiB per second.
    pub backup_mib_per_second: Option<f64>,
    /// Mean latency of database reads, in milliseconds.
    pub read_ms: Option<f64>,
    /// Mean latency of log writes, in milliseconds.
    pub log_write_ms: Option<f64>,
}

impl RunEntry<'_> {
    /// The run as JSON. `id` is its folder relative to the listed one; its journal was last written
    /// at `written_ns` since 1970.
    pub fn json(&self, id: &str, state: RunState, written_ns: Option<u64>) -> Value {
        json!({
            "id": id,
            "state": state.name(),
            "written": written_ns.and_then(format::iso_time),
            "name": self.name,
            "tags": self.tags,
            "description": self.description,
            "machine": self.machine,
            "test": self.test,
            "started": self.started,
            "verdict": self.verdict,
            "headline": self.headline,
            "replaced": self.is_replaced,
            "simulated": self.simulated,
            "imported": self.imported,
            "target_transactional_iops": self.target_iops,
            "achieved_transactional_iops": self.iops,
            "backup_mib_per_second": self.backup_mib_per_second,
            "read_latency_ms": self.read_ms,
            "log_write_latency_ms": self.log_write_ms,
        })
    }
}

/// Start of a run, in nanoseconds since 1970; for an imported result, on the clock of its machine,
/// since nothing more is known. `None` for a simulated run, whose clock always starts at the same
/// time.
pub fn started_ns(run: &RunRecord) -> Option<u64> {
    match (run.imported(), run.simulated()) {
        (Some(imported), _) => imported.started_local_ns,
        (None, Some(_)) => None,
        (None, None) => Some(run.start.started_epoch_ns),
    }
}

/// The start of a run in ISO 8601, in UTC; without a zone if that is unknown.
pub fn started_iso(run: &RunRecord) -> Option<String> {
    let text = format::iso_time(started_ns(run)?)?;
    let is_utc = run.imported().is_none();
    Some(if is_utc { text } else { text.trim_end_matches('Z').to_owned() })
}

/// Least measurement that gives a rate: in a shorter one the first requests of all sessions count
/// as if more of them followed.
const LEAST_OF_RATE_NS: u64 = 1_000_000_000;

/// The rate of a load; `None` if it was measured for too short a time to have one.
pub(crate) fn rate(run: &RunRecord) -> Option<f64> {
    let is_long_enough = run.span_ns(Phase::Measure) >= LEAST_OF_RATE_NS;
    is_long_enough.then(|| run.achieved_transactional_iops())
}

/// Transactional IOPS; `None` if too little was measured under load, if the load only generated
/// logs for a recovery, or if an imported result does not state them.
pub fn achieved_iops(run: &RunRecord) -> Option<f64> {
    match run.imported() {
        Some(imported) => imported.transactional_iops(),
        None if run.start.test == TestType::Recovery => None,
        None => rate(run),
    }
}

/// Mean latency of database reads or of log writes in the measurement, in milliseconds.
pub fn mean_ms(run: &RunRecord, series: Series) -> Option<f64> {
    if let Some(imported) = run.imported() {
        let of = match series {
            Series::LogWrite => PublishedInstance::log_writes,
            _ => PublishedInstance::database_reads,
        };
        return imported.all(of).latency_ms;
    }
    let sum = run.sum_of(Phase::Measure);
    let total = sum.series.get(&series).filter(|total| !total.latency.is_empty())?;
    Some(total.latency.mean_ns() / 1e6)
}

/// Rate at which a backup read all databases combined, as in its report; `None` for other tests.
pub fn backup_mib_per_second(run: &RunRecord) -> Option<f64> {
    if run.start.test != TestType::Backup {
        return None;
    }
    match run.imported() {
        Some(imported) => imported.backup_mib_per_second(),
        None => passes::judged(run).and_then(|pass| Checksum::together(pass).mib_per_second()),
    }
}

#[cfg(test)]
mod tests {
    use record::{Phase, TestType};

    use super::{achieved_iops, backup_mib_per_second};
    use crate::document::Tone;
    use crate::format;
    use crate::sections::summary::{banner, main_number};
    use crate::tests::{backup, drifting, passing, too_small};

    /// A mean of a run whose rate changed throughout describes no state of the storage.
    #[test]
    fn a_drift_reaches_the_headline_and_its_colour() {
        let run = drifting();
        let verdict = verdict::judge(&run);
        assert_eq!((verdict.exit_code(), super::lacking(&verdict)), (0, Some("not steady")));
        assert_eq!(super::verdict_name(&run, &verdict), "Pass, not steady");
        assert_eq!(super::tone_of(&run, &verdict), Tone::Warn);
        assert_eq!(super::set_headline(verdict.outcome, [&verdict]), "Pass, not steady");
        assert_eq!(super::set_headline(verdict::Ruling::Fail, [&verdict]), "Fail");
        let page = crate::html(&run, &verdict);
        assert!(page.contains("<header class=\"banner warn\">"), "no warning colour");
    }

    /// Mailboxes without room have none whatever else was found.
    #[test]
    fn missing_room_is_in_every_headline_and_no_colour_of_a_failure() {
        let mut run = too_small();
        for (least_ns, headline, tone) in
            [(0, "Pass, too small", Tone::Warn), (u64::MAX, "Cannot judge, too small", Tone::Warn)]
        {
            run.start.settings.thresholds.minimum_measure_ns = least_ns;
            let verdict = verdict::judge(&run);
            assert_eq!(super::verdict_name(&run, &verdict), headline);
            assert_eq!(super::set_headline(verdict.outcome, [&verdict]), headline);
            assert_eq!(super::tone_of(&run, &verdict), tone);
        }
        run.start.settings.thresholds.minimum_measure_ns = 0;
        run.start.settings.thresholds.read_average_ns = 1;
        let verdict = verdict::judge(&run);
        assert_eq!(super::verdict_name(&run, &verdict), "Fail, too small");
        assert_eq!(super::tone_of(&run, &verdict), Tone::Fail);
    }

    /// Requests of 0.2 ms would be millions per second.
    #[test]
    fn a_measurement_of_less_than_a_second_has_no_rate() {
        let mut run = passing();
        let span_ns = |run: &mut record::RunRecord, span_ns| {
            let rows = run.intervals.iter_mut().filter(|row| row.phase == Phase::Measure);
            run.intervals = rows.map(|row| row.clone()).take(1).collect();
            run.intervals[0].to_ns = run.intervals[0].from_ns + span_ns;
        };
        span_ns(&mut run, 200_000);
        let verdict = verdict::judge(&run);
        assert!(crate::text(&run, &verdict).contains("  no rate: measured for 0.200 ms\n"));
        assert_eq!(crate::sections::summary::result(&run), "no rate: measured for 0.200 ms");
        assert_eq!(achieved_iops(&run), None);
        assert!(crate::json(&run, &verdict).contains("\"achieved_transactional_iops\": 0.0"));
        span_ns(&mut run, 1_000_000_000);
        assert!(achieved_iops(&run).is_some());
    }

    #[test]
    fn a_list_has_the_rate_of_a_backup_that_its_report_has() {
        let run = backup();
        let rate = backup_mib_per_second(&run).map(format::three_digits);
        assert_eq!(rate, Some(main_number(&run).0));
        assert_eq!(backup_mib_per_second(&passing()), None);
    }

    /// The load before a replay only generates its logs; its rate is not the result.
    #[test]
    fn a_recovery_has_neither_iops_nor_mailboxes() {
        let mut run = passing();
        assert!(achieved_iops(&run).is_some());
        let labels = |run: &record::RunRecord| {
            let banner = banner(run, &verdict::judge(run));
            banner.figures.iter().map(|figure| figure.label).collect::<Vec<_>>()
        };
        run.start.settings.iops_per_mailbox = Some(0.12);
        assert!(labels(&run).contains(&"Mailboxes"));
        for test in [TestType::Recovery, TestType::Backup, TestType::Checksum] {
            run.start.test = test;
            assert!(!labels(&run).contains(&"Mailboxes"), "{test:?}");
        }
        run.start.test = TestType::Recovery;
        assert_eq!(achieved_iops(&run), None);
    }
}
