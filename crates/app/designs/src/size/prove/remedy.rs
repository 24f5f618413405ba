//! Finds the smallest change that makes a failed claim hold: each is played, not calculated.

use std::collections::BTreeMap;

use blueprint::{Claim, ClaimState, OutageEnd, PaperFailure, Remedy, SimulatedEdit};
use report::format::duration;
use units::Nanos;
use verdict::Ruling;

use super::cases::{NORMAL, ONE_DISK};
use super::trial::{Adjustment, Trial};
use crate::edits::{self, TriedEdit};
use console::Console;
use console::error::CommandError;

/// Factors by which a reseed may take longer: slower ones leave more of the disks to users.
const LONGER_RESEEDS: [u32; 2] = [2, 4];

/// Shares of the mailboxes to try if no edit helps.
const SHARES: [f64; 5] = [0.9, 0.8, 0.7, 0.6, 0.5];

/// Changes in the order of trial, and the progress so far.
struct RemedySearch<'a> {
    claims: &'a mut [Claim],
    currency: &'a str,
    tried: usize,
    /// The first change with which no claim fails, though some hold only narrowly.
    narrow: Option<Remedy>,
}

/// The ruling on a claim once a change is made, and its reason.
type ClaimWithChange = (Ruling, String);

/// Records for each failed claim the smallest change with which it holds. Returns the smallest
/// change with which all claims hold, and every edit of the document, with its result if it was
/// played. If no claim fails but some cannot be judged, only an edit with which all are certain is
/// a remedy.
pub(super) fn found(
    (document, currency): (&(String, String), &str),
    (trial, claims): (&Trial, &mut [Claim]),
    console: &mut Console,
) -> Result<(Option<Remedy>, Vec<TriedEdit>), CommandError> {
    if claims.iter().all(|of| of.ruling() == Ruling::Pass) {
        return Ok((None, Vec::new()));
    }
    let fails_on_paper = claims.iter().any(|of| matches!(of.state, ClaimState::FailsOnPaper(_)));
    let mut all = edits::to_try(document, fails_on_paper);
    let mut search = RemedySearch { claims, currency, tried: 0, narrow: None };
    if !search.has_failed() {
        let remedy = search.edits(document, &mut all, console)?;
        return Ok((remedy, all));
    }
    let remedy = search.remedy(document, (trial, &mut all), console)?;
    Ok((Some(remedy), all))
}

/// Describes the duration of seeding that is slower by this factor.
fn reseed_words(times: u32, played: Option<&Claim>) -> String {
    let redundant = match played.and_then(|of| of.redundant_after_ns) {
        Some(after) => format!("everything is redundant again after {}", duration(after)),
        None => "not everything is redundant again within the simulated time".to_owned(),
    };
    format!(
        "limit it in the network or seed by hand: this document has no key for it; it takes \
         {times} times as long, {redundant}, and no other hardware is needed"
    )
}

impl RemedySearch<'_> {
    /// Tries slower seeding, then the edits, then fewer mailboxes.
    fn remedy(
        &mut self,
        document: &(String, String),
        (trial, all): (&Trial, &mut [TriedEdit]),
        console: &mut Console,
    ) -> Result<Remedy, CommandError> {
        if let Some(remedy) = self.slower_reseeds(trial, console)? {
            return Ok(remedy);
        }
        if let Some(remedy) = self.edits(document, all, console)? {
            return Ok(remedy);
        }
        if let Some(remedy) = self.narrow.take() {
            return Ok(Remedy { tried: self.tried, ..remedy });
        }
        // A share of the mailboxes is played without resizing the design: it answers for disks
        // only.
        if trial.violations.is_empty()
            && let Some(remedy) = self.fewer_mailboxes(trial, console)?
        {
            return Ok(remedy);
        }
        Ok(self.narrow.take().unwrap_or_else(|| self.none()))
    }

    /// Whether a claim fails, not only cannot be judged.
    fn has_failed(&self) -> bool {
        self.claims.iter().any(|of| of.ruling() == Ruling::Fail)
    }

    /// Tries the edits until every claim holds with one for certain.
    fn edits(
        &mut self,
        document: &(String, String),
        all: &mut [TriedEdit],
        console: &mut Console,
    ) -> Result<Option<Remedy>, CommandError> {
        for tried in all {
            if let Some(remedy) = self.edit(document, tried, console)? {
                return Ok(Some(remedy));
            }
        }
        Ok(None)
    }

    /// Tries an edit; it is the remedy for all claims if every claim holds with it.
    fn edit(
        &mut self,
        document: &(String, String),
        tried: &mut TriedEdit,
        console: &mut Console,
    ) -> Result<Option<Remedy>, CommandError> {
        self.tried += 1;
        let design = &tried.design;
        console.remark(format_args!("Trying {} = {} ...", design.edit.key, design.edit.value))?;
        // A design that cannot be laid out or simulated is no remedy.
        let Ok(trial) = Trial::of(document, std::slice::from_ref(&design.edit)) else {
            return Ok(None);
        };
        let edit = edits::edit(design, self.currency, None);
        let effect = std::iter::once(edit.effect.as_str()).chain(edit.also.iter().map(|of| &**of));
        let remedy = Remedy {
            edit: Some(format!("[{}] {}", edit.section, edit.line)),
            effect: effect.collect::<Vec<_>>().join("; "),
            tried: self.tried,
            is_certain: true,
        };
        let simulated = self.note(&remedy, |name| again(&trial, name, Adjustment::NONE))?;
        let outcome = simulated.outcome;
        tried.simulated = Some(simulated);
        Ok(self.remedied(remedy, outcome, trial.violations.is_empty()))
    }

    /// Returns the change if every claim holds with it for certain and it violates no sizing rule;
    /// keeps the first with which no claim fails in `narrow`.
    fn remedied(&mut self, remedy: Remedy, outcome: Ruling, is_sound: bool) -> Option<Remedy> {
        match outcome {
            Ruling::Pass | Ruling::Warn if is_sound => Some(remedy),
            Ruling::CannotJudge if is_sound && self.narrow.is_none() => {
                self.narrow = Some(Remedy { is_certain: false, ..remedy });
                None
            }
            _ => None,
        }
    }

    /// Tries slower seeding, which needs no hardware: a failed disk without redundancy hurts users
    /// most while its copies are seeded.
    fn slower_reseeds(
        &mut self,
        trial: &Trial,
        console: &mut Console,
    ) -> Result<Option<Remedy>, CommandError> {
        let mut of_disks = self.claims.iter().filter(|of| of.name == ONE_DISK);
        let is_lost =
            of_disks.any(|of| of.state == ClaimState::Fails && of.ruling() == Ruling::Fail);
        if !trial.reseeds() || !is_lost {
            return Ok(None);
        }
        // The other cases seed nothing, so their results remain valid.
        let before: BTreeMap<String, ClaimWithChange> = self
            .claims
            .iter()
            .map(|of| (of.name.clone(), (of.ruling(), of.because.clone())))
            .collect();
        for times in LONGER_RESEEDS {
            self.tried += 1;
            let rate = trial.reseed_mb_per_second() / f64::from(times);
            console.remark(format_args!("Trying to reseed at {rate:.0} MB/s ..."))?;
            let adjustment = Adjustment { reseeds_take: times.into(), ..Adjustment::NONE };
            let of_disk = trial.play_again(ONE_DISK, adjustment)?;
            let remedy = Remedy {
                edit: Some(format!("seed lost copies at {rate:.0} MB/s at most")),
                effect: reseed_words(times, of_disk.as_ref()),
                tried: self.tried,
                is_certain: true,
            };
            let simulated = self.note(&remedy, |name| match (name, before.get(name)) {
                (ONE_DISK, _) | (_, None) => Ok(judged(of_disk.as_ref())),
                (_, Some(known)) => Ok(known.clone()),
            })?;
            let is_sound = trial.violations.is_empty();
            if let Some(remedy) = self.remedied(remedy, simulated.outcome, is_sound) {
                return Ok(Some(remedy));
            }
        }
        Ok(None)
    }

    /// Tries shares of the mailboxes, largest first.
    fn fewer_mailboxes(
        &mut self,
        trial: &Trial,
        console: &mut Console,
    ) -> Result<Option<Remedy>, CommandError> {
        let mailboxes = trial.mailboxes();
        for share in SHARES {
            self.tried += 1;
            console.remark(format_args!("Trying {:.0} % of the mailboxes ...", share * 100.0))?;
            let remedy = Remedy {
                edit: Some(format!("at most {:.0} mailboxes", (mailboxes * share).floor())),
                effect: format!("{:.0} % of {mailboxes:.0}", share * 100.0),
                tried: self.tried,
                is_certain: true,
            };
            let adjustment = Adjustment { share, ..Adjustment::NONE };
            let simulated = self.note(&remedy, |name| again(trial, name, adjustment))?;
            if let Some(remedy) = self.remedied(remedy, simulated.outcome, true) {
                return Ok(Some(remedy));
            }
        }
        Ok(None)
    }

    /// Plays the claims with a change, the failed ones first, and records it for those that hold
    /// for the first time; returns the outcome of all and the claim that decides it. If none failed
    /// before, one that cannot be judged ends the attempt.
    fn note(
        &mut self,
        remedy: &Remedy,
        play: impl Fn(&str) -> Result<ClaimWithChange, CommandError>,
    ) -> Result<SimulatedEdit, CommandError> {
        let mut all = (Ruling::Pass, None);
        for claim in self.claims.iter_mut().filter(|of| of.ruling() == Ruling::Fail) {
            if claim.remedy.as_ref().is_some_and(|of| of.is_certain) && all.0 == Ruling::Fail {
                continue;
            }
            let (ruling, why) = play(&claim.name)?;
            record_for(claim, remedy, ruling);
            worsen(&mut all, ruling, &claim.name, &why);
            if ruling == Ruling::Fail && claim.name == NORMAL {
                // Every other case begins with it.
                return Ok(outcome(all));
            }
        }
        for claim in self.claims.iter().filter(|of| of.ruling() != Ruling::Fail) {
            if all.0 == Ruling::Fail || all.0 == Ruling::CannotJudge && !self.has_failed() {
                break;
            }
            let (ruling, why) = play(&claim.name)?;
            worsen(&mut all, ruling, &claim.name, &why);
        }
        Ok(outcome(all))
    }

    /// The advice if no change makes every claim hold.
    fn none(&self) -> Remedy {
        let effect = format!("{}, and size again", advice(self.claims));
        Remedy { edit: None, effect, tried: self.tried, is_certain: true }
    }
}

/// What removes the first failure that disks do not cause.
fn advice(claims: &[Claim]) -> String {
    let failed = claims.iter().filter(|of| of.ruling() == Ruling::Fail);
    if let Some(outage) = failed.clone().filter_map(|of| of.outage.as_ref()).find(|of| of.exceeds())
    {
        let needed = plan::write_duration(Nanos(outage.longest_ns));
        let first = match outage.ended_by {
            OutageEnd::Replay => "give the databases another copy without lag (copies)",
            OutageEnd::Activation => {
                "place the witness so that the site which is left keeps a majority ([availability] \
                 witness)"
            }
        };
        return format!(
            "{first}, or allow the interruption ([availability] longest_outage = \"{needed}\")"
        );
    }
    let mut objections = failed.filter_map(|of| match of.state {
        ClaimState::FailsOnPaper(objection) => Some(objection),
        ClaimState::Fails | ClaimState::Holds => None,
    });
    match objections.next() {
        Some(PaperFailure::Processors(_)) => {
            "add servers (servers_per_site), or take faster processors ([servers] spec_rate)"
        }
        Some(PaperFailure::NoQuorum) => "add servers (servers_per_site), or move the witness",
        None => "add servers (servers_per_site)",
    }
    .to_owned()
}

/// Plays a claim of a changed design. A claim that it does not make, or that the layout rejects,
/// fails.
fn again(
    trial: &Trial,
    name: &str,
    adjustment: Adjustment,
) -> Result<ClaimWithChange, CommandError> {
    Ok(judged(trial.play_again(name, adjustment)?.as_ref()))
}

fn judged(played: Option<&Claim>) -> ClaimWithChange {
    played.map_or_else(
        || (Ruling::Fail, "the layout does not claim it".to_owned()),
        |of| (of.ruling(), of.because.clone()),
    )
}

/// Notes the change for a claim: the first that is certain, else the first that is not.
fn record_for(claim: &mut Claim, remedy: &Remedy, ruling: Ruling) {
    let known = claim.remedy.as_ref().map(|of| of.is_certain);
    match (ruling, known) {
        (Ruling::Pass | Ruling::Warn, None | Some(false)) => claim.remedy = Some(remedy.clone()),
        (Ruling::CannotJudge, None) => {
            claim.remedy = Some(Remedy { is_certain: false, ..remedy.clone() });
        }
        _ => {}
    }
}

/// Replaces the deciding claim by a worse one.
fn worsen(all: &mut (Ruling, Option<String>), ruling: Ruling, name: &str, why: &str) {
    let is_worse = ruling != all.0 && verdict::worst(&[all.0, ruling]) == ruling;
    if is_worse {
        *all = (ruling, Some(format!("{name}: {why}")));
    }
}

fn outcome((outcome, deciding): (Ruling, Option<String>)) -> SimulatedEdit {
    SimulatedEdit { outcome, deciding, read_ms: None }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use blueprint::{Claim, ClaimState, Remedy};
    use verdict::Ruling;

    use super::RemedySearch;

    fn claim(name: &str, state: ClaimState) -> Claim {
        Claim {
            name: name.to_owned(),
            worst: "-".to_owned(),
            cases: 1,
            state,
            formulas_hold: true,
            is_narrow: false,
            reads_ms: None,
            worst_minute_ms: None,
            disks_busy: 0.0,
            excess: None,
            because: String::new(),
            disagreement: None,
            remedy: None,
            redundant_after_ns: None,
            outage: None,
        }
    }

    fn change(tried: usize) -> Remedy {
        Remedy { edit: Some(tried.to_string()), effect: String::new(), tried, is_certain: true }
    }

    /// If no claim failed, only a change with which all are certain helps: the first claim that it
    /// leaves undecided ends its trial, and it is no remedy of any claim.
    #[test]
    fn a_change_for_undecided_claims_must_make_all_of_them_certain() {
        let undecided = |name| Claim { is_narrow: true, ..claim(name, ClaimState::Holds) };
        let mut claims = [undecided("normal operation"), undecided("one disk")];
        let mut search = RemedySearch { claims: &mut claims, currency: "", tried: 0, narrow: None };
        for (ruling, plays) in [(Ruling::CannotJudge, 1), (Ruling::Pass, 2)] {
            let played = Cell::new(0);
            let simulated = search.note(&change(1), |_| {
                played.set(played.get() + 1);
                Ok((ruling, "16 ms".to_owned()))
            });
            assert_eq!(simulated.expect("none").outcome, ruling);
            assert_eq!(played.get(), plays, "{ruling:?}");
        }
        assert!(search.claims.iter().all(|of| of.remedy.is_none()));
    }

    /// A change with which a claim holds narrowly is not judged better than by a prediction: the
    /// search continues, and a certain change replaces it.
    #[test]
    fn a_change_that_cannot_be_judged_is_kept_only_until_one_is_certain() {
        let mut claims =
            [claim("normal operation", ClaimState::Holds), claim("one disk", ClaimState::Fails)];
        let mut search = RemedySearch { claims: &mut claims, currency: "", tried: 0, narrow: None };
        let why = || "15 ms".to_owned();
        let narrow = search.note(&change(1), |_| Ok((Ruling::CannotJudge, why()))).expect("none");
        assert_eq!(narrow.outcome, Ruling::CannotJudge);
        assert_eq!(narrow.deciding.as_deref(), Some("one disk: 15 ms"));
        assert_eq!(search.remedied(change(1), narrow.outcome, true), None);
        assert!(search.narrow.as_ref().is_some_and(|of| !of.is_certain));
        assert_eq!(
            search.claims[1].remedy.as_ref().map(|of| (of.tried, of.is_certain)),
            Some((1, false))
        );
        let certain = search.note(&change(2), |_| Ok((Ruling::Pass, why()))).expect("none");
        assert_eq!((certain.outcome, certain.deciding), (Ruling::Pass, None));
        assert_eq!(search.remedied(change(2), certain.outcome, true), Some(change(2)));
        assert_eq!(search.claims[1].remedy, Some(change(2)));
        assert_eq!(search.remedied(change(2), Ruling::Pass, false), None, "it violates a rule");
    }
}
