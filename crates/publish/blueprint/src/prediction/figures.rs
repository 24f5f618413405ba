//! The figures of a simulated run that a ranking needs: small enough to keep thousands in memory,
//! and storable without the run.

use record::{RunRecord, Series};
use report::document::Tone;
use report::{
    achieved_iops, lacking, margin_percent, mean_ms, meaning, simulated, tone, verdict_name,
};
use serde::{Deserialize, Serialize};
use verdict::{Ruling, Verdict};

/// Machine-readable verdict on a design that cannot be simulated.
const IMPOSSIBLE: &str = "impossible";

/// The figures of one simulated run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictionFigures {
    /// Name of the verdict's ruling.
    ruling: String,
    /// Machine-readable verdict, such as `simulated_pass`.
    pub(super) verdict: String,
    /// The same for people.
    pub(super) headline: String,
    /// Whether it passed and yet lacks something that its headline names.
    is_lacking: bool,
    /// Why it does not pass; empty if it does.
    pub(super) reason: String,
    /// The name and the time of the run, for the head of a page.
    pub(super) subject: String,
    pub(super) started: String,
    /// Meaning of the verdict, and the accuracy of the model.
    pub(super) said: Vec<String>,
    /// Name of the array.
    pub(super) array: Option<String>,
    /// Rates and means in milliseconds; `None` if nothing was measured.
    pub(super) iops: Option<f64>,
    pub(super) read_ms: Option<f64>,
    pub(super) write_ms: Option<f64>,
    pub(super) log_write_ms: Option<f64>,
    /// The rate at which the target counts as reached.
    pub(super) wanted_iops: Option<f64>,
    /// The rate, or the target if it counts as reached: small deviations either way are chance.
    pub(super) carried_iops: Option<f64>,
    /// Mailboxes that the rate supports, if the plan states the I/O of one.
    pub(super) mailboxes: Option<f64>,
    /// Distance of the worst latency from its limit, in percent of the limit.
    pub(super) margin_percent: Option<f64>,
    /// Whether a mean latency is beyond its limit, though too few requests may be known for a
    /// verdict.
    #[serde(default)]
    pub(super) misses_a_limit: bool,
    /// Error bound of latencies, in percent; 0 if it is not known.
    #[serde(default)]
    pub(super) uncertainty_percent: f64,
    /// Nanoseconds in which enough is seen for a verdict, if the time was too short for one.
    pub(super) needed_ns: Option<u64>,
    /// Whether only the sessions of the plan kept the load from its target.
    #[serde(default)]
    pub(super) lacks_sessions: bool,
}

/// The rate that a run supports: the target if the share of it that counts as `reached` was
/// achieved, so that a passing design has exactly the mailboxes it was sized for.
fn carried(iops: f64, target: Option<f64>, reached: f64) -> f64 {
    target.filter(|target| iops >= target * reached).unwrap_or(iops)
}

/// Mailboxes of `each` IOPS that a rate carries, rounded down: a part of one is not served. A plan
/// holds a whole number of IOPS, so a target within one IOPS of what its mailboxes need carries
/// exactly these, the `wanted` ones.
fn mailboxes(iops: f64, each: f64, wanted: Option<f64>) -> f64 {
    let theirs = wanted.filter(|wanted| (iops - wanted * each).abs() < 1.0);
    theirs.unwrap_or_else(|| (iops / each + 1e-9).floor())
}

fn misses_a_limit(run: &RunRecord) -> bool {
    let limits = &run.start.settings.thresholds;
    let judged = [
        (Series::DatabaseRead, limits.read_average_ns),
        (Series::LogWrite, limits.log_write_average_ns),
    ];
    judged.into_iter().any(|(series, limit_ns)| {
        mean_ms(run, series).is_some_and(|mean| mean > limit_ns as f64 / 1e6)
    })
}

impl PredictionFigures {
    /// The figures of a run and its verdict.
    pub fn of(run: &RunRecord, verdict: &Verdict) -> Self {
        let settings = &run.start.settings;
        let reached = settings.thresholds.target_reached_percent / 100.0;
        let iops = achieved_iops(run);
        let carried_iops = iops.map(|iops| carried(iops, run.target_iops(), reached));
        let said = meaning::sentences(run, verdict).into_iter().take(1);
        let per_mailbox = settings.iops_per_mailbox.map(|each| each * run.held_share());
        let is_target = carried_iops.is_some() && carried_iops == run.target_iops();
        let wanted = settings.mailboxes.filter(|_| is_target).map(|wanted| wanted as f64);
        Self {
            ruling: verdict.outcome.name().to_owned(),
            verdict: report::verdict_of(run, verdict).to_owned(),
            headline: verdict_name(run, verdict),
            is_lacking: lacking(verdict).is_some(),
            reason: reason(run, verdict),
            subject: report::subject(&run.start),
            started: report::started(&run.start),
            said: said.chain(run.simulated().map(simulated::trust)).collect(),
            array: run.simulated().map(|of| of.array.clone()),
            iops,
            read_ms: mean_ms(run, Series::DatabaseRead),
            write_ms: mean_ms(run, Series::DatabaseWrite),
            log_write_ms: mean_ms(run, Series::LogWrite),
            wanted_iops: run.target_iops().map(|target| target * reached),
            carried_iops,
            mailboxes: carried_iops
                .zip(per_mailbox)
                .map(|(iops, each)| mailboxes(iops, each, wanted)),
            margin_percent: margin_percent(verdict),
            misses_a_limit: misses_a_limit(run),
            uncertainty_percent: run.simulated().map_or(0.0, |of| of.uncertainty_percent),
            needed_ns: report::time_for_verdict(run, verdict)
                .filter(|_| verdict.outcome == Ruling::CannotJudge)
                .map(|needed| needed.0),
            lacks_sessions: verdict.lacks_sessions(),
        }
    }

    /// The figures of a design that cannot be simulated, such as a set with too few disks.
    pub fn impossible(why: &str) -> Self {
        Self {
            ruling: Ruling::CannotJudge.name().to_owned(),
            verdict: IMPOSSIBLE.to_owned(),
            headline: "IMPOSSIBLE".to_owned(),
            is_lacking: false,
            reason: why.to_owned(),
            subject: String::new(),
            started: String::new(),
            said: Vec::new(),
            array: None,
            iops: None,
            read_ms: None,
            write_ms: None,
            log_write_ms: None,
            wanted_iops: None,
            carried_iops: None,
            mailboxes: None,
            margin_percent: None,
            misses_a_limit: false,
            uncertainty_percent: 0.0,
            needed_ns: None,
            lacks_sessions: false,
        }
    }

    /// Why the design cannot be simulated; `None` if it can.
    pub fn impossibility(&self) -> Option<&str> {
        (self.verdict == IMPOSSIBLE).then_some(&*self.reason)
    }

    /// The ruling; `CannotJudge` for a name that no program writes.
    pub(super) fn ruling(&self) -> Ruling {
        let all = [Ruling::Pass, Ruling::Warn, Ruling::Fail];
        let found = all.into_iter().find(|ruling| ruling.name() == self.ruling);
        found.unwrap_or(Ruling::CannotJudge)
    }

    pub(super) fn tone(&self) -> Tone {
        if self.is_lacking { Tone::Warn } else { tone(self.ruling()) }
    }

    /// Rank of the verdict, best first; impossible designs come last.
    pub(super) fn class(&self) -> u8 {
        if self.impossibility().is_some() {
            return 3;
        }
        match self.ruling() {
            Ruling::Pass | Ruling::Warn => 0,
            Ruling::CannotJudge => 1,
            Ruling::Fail => 2,
        }
    }
}

/// Why a run does not pass, in a few words.
fn reason(run: &RunRecord, verdict: &Verdict) -> String {
    let decisive = match verdict.outcome {
        Ruling::Pass | Ruling::Warn => return String::new(),
        Ruling::Fail => Ruling::Fail,
        Ruling::CannotJudge => Ruling::CannotJudge,
    };
    let mut found = Vec::new();
    for finding in verdict.findings.iter().filter(|finding| finding.outcome == decisive) {
        found.push(match decisive {
            Ruling::CannotJudge => {
                meaning::objection(run, finding).trim_end_matches('.').to_owned()
            }
            _ => format!("{}{}", finding.title, finding.numbers()),
        });
    }
    found.join(", ")
}

#[cfg(test)]
mod tests {
    use record::synthetic::Synthetic;

    use super::{PredictionFigures, carried, mailboxes};

    /// 509 mailboxes at 0.1 IOPS need 50.9 IOPS, and their plan holds 51.
    #[test]
    fn a_plan_carries_the_mailboxes_that_it_states() {
        for (iops, wanted, carries) in [
            (51.0, Some(509.0), 509.0),
            (50.0, Some(504.0), 504.0),
            (61.0, Some(509.0), 610.0),
            (50.99, None, 509.0),
            (51.0, None, 510.0),
        ] {
            let found = mailboxes(iops, 0.1, wanted);
            assert!((found - carries).abs() < 1e-9, "{iops}, {wanted:?}: {found}");
        }
    }

    /// Half of one IOPS is five mailboxes of 0.1 IOPS.
    #[test]
    fn a_run_at_its_target_carries_the_mailboxes_of_its_plan() {
        let mut run = Synthetic::default().run();
        let settings = &mut run.start.settings;
        (settings.iops_per_mailbox, settings.mailboxes) = (Some(0.1), Some(995));
        for (target, carries) in [(100.0, 995.0), (80.0, 800.0)] {
            run.start.settings.target_iops = Some(target);
            let found = PredictionFigures::of(&run, &verdict::judge(&run)).mailboxes;
            assert_eq!(found, Some(carries), "{target}");
        }
    }

    /// 1,096 mailboxes at 0.1 IOPS each are 109.6 IOPS.
    #[test]
    fn a_target_that_is_reached_is_carried_in_full() {
        for (iops, carries) in [(108.6, 109.6), (130.0, 109.6), (90.0, 90.0)] {
            let found = carried(iops, Some(109.6), 0.99);
            assert!((found - carries).abs() < 1e-9, "{iops}: {found}");
        }
        assert!((carried(90.0, None, 0.99) - 90.0).abs() < 1e-9);
    }
}
