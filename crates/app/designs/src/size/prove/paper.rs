//! Explains why the sizing formulas and a simulation disagree about a claim.

use blueprint::PaperFailure;
use units::Nanos;

use super::recovery::RecoveryWork;

/// Results of the sizing formulas for a claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OnPaper {
    /// Reason why the layout rejects the claim, from processors or quorum.
    pub(crate) objection: Option<PaperFailure>,
    /// Load of a disk as a share of the requests that it answers.
    pub disks: Option<f64>,
}

impl OnPaper {
    /// Whether the claim holds according to the formulas.
    pub(super) fn holds(&self) -> bool {
        self.objection.is_none() && self.disks.is_none_or(|load| load <= 1.0)
    }
}

/// Simulation results of the worst case.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Shown {
    /// Databases that stay inactive.
    pub(crate) inactive: usize,
    /// Whether a limit is broken.
    pub(crate) is_broken: bool,
    /// Whether a disk was missing on the host that broke the limit.
    pub(crate) is_degraded: bool,
    /// Recovery work there, if any.
    pub recovery: Option<RecoveryWork>,
    /// Utilisation of the busiest disk, as a share.
    pub(crate) disks_busy: f64,
    /// Amount of log that a lagged copy has to replay.
    pub(crate) lag: Nanos,
}

/// Explains why the two disagree; `None` if they agree.
pub(super) fn disagreement(paper: &OnPaper, shown: &Shown) -> Option<String> {
    let fails = shown.is_broken || shown.inactive > 0;
    let busy = shown.disks_busy * 100.0;
    let on_paper = paper.disks.unwrap_or(0.0) * 100.0;
    if paper.objection.is_some() {
        return (!fails).then(|| {
            "the simulation plays disks and no processors or votes: it cannot refute this"
                .to_owned()
        });
    }
    match (fails, paper.holds()) {
        (true, false) | (false, true) => None,
        (false, false) => Some(format!(
            "on paper a disk has {on_paper:.0} % of the work that its rated IOPS allow; played, it \
             is {busy:.0} % busy, because the write memory sorts and joins page writes and the \
             databases take part of the tracks"
        )),
        (true, true) => Some(unforeseen(shown, on_paper)),
    }
}

/// Why the formulas do not foresee a failure.
fn unforeseen(shown: &Shown, on_paper: f64) -> String {
    let busy = shown.disks_busy * 100.0;
    match *shown {
        Shown { inactive: 1.., lag, .. } if lag > Nanos::ZERO => format!(
            "the layout counts a lagged copy as available at once; it first replays {} of log",
            plan::write_duration(lag)
        ),
        Shown { inactive: 1.., .. } => {
            "the layout counts copies and votes, and not the time until a database is active again"
                .to_owned()
        }
        Shown { is_degraded: true, .. } => format!(
            "the formulas know no rebuild: on paper a disk has {on_paper:.0} % of the work that it \
             can do, and beside the rebuild it is {busy:.0} % busy"
        ),
        Shown { recovery: Some(work), .. } => format!(
            "the formulas know no reseed and no catching up: on paper a disk has {on_paper:.0} % \
             of the work that it can do; {}, and it is {busy:.0} % busy",
            work.words()
        ),
        _ => format!(
            "the formulas limit how many requests a disk gets ({on_paper:.0} % of its rated IOPS), \
             not how long one waits, and leave out background maintenance: played with it, a disk \
             works for {busy:.0} % of its time, and reads wait for one another"
        ),
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::{OnPaper, PaperFailure, RecoveryWork, Shown, disagreement};

    const SEEDS: RecoveryWork =
        RecoveryWork { read: (2, 48_000_000), written: (0, 0), catching_up: 0 };

    fn paper(disks: f64) -> OnPaper {
        OnPaper { objection: None, disks: Some(disks) }
    }

    #[test]
    fn what_agrees_needs_no_words() {
        let broken = Shown { is_broken: true, ..Shown::default() };
        assert_eq!(disagreement(&paper(0.8), &Shown::default()), None);
        assert_eq!(disagreement(&paper(1.2), &broken), None);
        let objection = Some(PaperFailure::NoQuorum);
        assert_eq!(disagreement(&OnPaper { objection, disks: None }, &broken), None);
    }

    #[test]
    fn every_kind_of_disagreement_has_its_reason() {
        let broken = Shown { is_broken: true, disks_busy: 0.97, ..Shown::default() };
        let lag = Nanos::from_secs(3_600);
        let cases = [
            (paper(1.2), Shown::default(), "write memory"),
            (paper(0.8), broken, "wait for one another"),
            (paper(0.8), Shown { is_degraded: true, ..broken }, "no rebuild"),
            (paper(0.8), Shown { recovery: Some(SEEDS), ..broken }, "no reseed"),
            (paper(0.8), Shown { recovery: Some(SEEDS), ..broken }, "48 MB/s in all to seed"),
            (paper(0.8), Shown { inactive: 2, lag, ..broken }, "replays 1h of log"),
            (paper(0.8), Shown { inactive: 2, ..broken }, "counts copies"),
        ];
        for (paper, shown, word) in cases {
            let text = disagreement(&paper, &shown).expect(word);
            assert!(text.contains(word), "{text}");
        }
        let objection = Some(PaperFailure::Processors(120.0));
        let of_processors = OnPaper { objection, disks: Some(0.5) };
        let text = disagreement(&of_processors, &Shown::default()).expect("no agreement");
        assert!(text.contains("cannot refute"), "{text}");
    }
}
