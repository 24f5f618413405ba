//! Finds the smallest change that makes a failed claim hold: each is played, not calculated.

use std::collections::BTreeSet;

use blueprint::{Claim, ClaimState, Remedy};
use plan::deployment::Replacement;
use provision::{LighterDesign, lighter_designs, more_servers};
use report::format::duration;

use super::cases::{NORMAL, ONE_DISK};
use super::trial::{Adjustment, Trial};
use crate::predict;
use console::Console;
use console::error::CommandError;

/// Maximum edits tried.
const MOST_EDITS: usize = 6;

/// Factors by which a reseed may take longer: slower ones leave more of the disks to users.
const LONGER_RESEEDS: [u32; 2] = [2, 4];

/// Shares of the mailboxes to try if no edit helps.
const SHARES: [f64; 5] = [0.9, 0.8, 0.7, 0.6, 0.5];

/// Changes in the order of trial, and the progress so far.
struct RemedySearch<'a> {
    claims: &'a mut [Claim],
    tried: usize,
}

/// Records for each failed claim the smallest change with which it holds, and returns the smallest
/// with which all claims hold; `None` if they already do.
pub(super) fn found(
    document: &(String, String),
    (trial, claims): (&Trial, &mut [Claim]),
    console: &mut Console,
) -> Result<Option<Remedy>, CommandError> {
    if claims.iter().all(|of| of.state == ClaimState::Holds) {
        return Ok(None);
    }
    let mut search = RemedySearch { claims, tried: 0 };
    if let Some(remedy) = search.slower_reseeds(trial, console)? {
        return Ok(Some(remedy));
    }
    for design in candidates(document, search.fails_on_paper()) {
        if let Some(remedy) = search.edit(document, &design, console)? {
            return Ok(Some(remedy));
        }
    }
    // A share of the mailboxes is played without resizing the design: it answers only for disks.
    if trial.violations.is_empty()
        && let Some(remedy) = search.fewer_mailboxes(trial, console)?
    {
        return Ok(Some(remedy));
    }
    Ok(Some(search.none()))
}

/// The edits to try, the fewest disks first. Processors and quorum need servers.
fn candidates((file, text): &(String, String), fails_on_paper: bool) -> Vec<LighterDesign> {
    let mut found = if fails_on_paper { more_servers(file, text) } else { Vec::new() };
    found.extend(lighter_designs(file, text));
    let mut seen: Vec<Replacement> = Vec::new();
    found.retain(|of| {
        let is_new = !seen.contains(&of.edit);
        seen.push(of.edit.clone());
        is_new
    });
    found.truncate(MOST_EDITS);
    found.sort_by(|one, two| one.disks.1.total_cmp(&two.disks.1));
    found
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
    fn fails_on_paper(&self) -> bool {
        self.claims.iter().any(|of| of.state == ClaimState::FailsOnPaper)
    }

    /// Names of the claims that hold.
    fn held(&self) -> impl Iterator<Item = String> {
        self.claims.iter().filter(|of| of.state == ClaimState::Holds).map(|of| of.name.clone())
    }

    /// Tries an edit; it is the remedy for all claims if every claim holds with it.
    fn edit(
        &mut self,
        document: &(String, String),
        design: &LighterDesign,
        console: &mut Console,
    ) -> Result<Option<Remedy>, CommandError> {
        self.tried += 1;
        console.remark(format_args!("Trying {} = {} ...", design.edit.key, design.edit.value))?;
        // A design that cannot be laid out or simulated is no remedy.
        let Ok(trial) = Trial::of(document, std::slice::from_ref(&design.edit)) else {
            return Ok(None);
        };
        let edit = predict::edit(design, None);
        let remedy = Remedy {
            edit: Some(format!("[{}] {}", edit.section, edit.line)),
            effect: edit.effect,
            tried: self.tried,
        };
        let is_sound = trial.violations.is_empty();
        let all_hold = self.note(&remedy, |name| trial.holds(name, Adjustment::NONE))?;
        Ok((all_hold && is_sound).then_some(remedy))
    }

    /// Tries slower seeding, which needs no hardware: a failed disk without redundancy hurts users
    /// most while its copies are seeded.
    fn slower_reseeds(
        &mut self,
        trial: &Trial,
        console: &mut Console,
    ) -> Result<Option<Remedy>, CommandError> {
        let mut of_disks = self.claims.iter().filter(|of| of.name == ONE_DISK);
        if !trial.reseeds() || !of_disks.any(|of| of.state == ClaimState::Fails) {
            return Ok(None);
        }
        // The other cases seed nothing, so their results remain valid.
        let held: BTreeSet<String> = self.held().collect();
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
            };
            let all_hold = self.note(&remedy, |name| match name {
                ONE_DISK => Ok(of_disk.as_ref().is_some_and(|of| of.state == ClaimState::Holds)),
                _ => Ok(held.contains(name)),
            })?;
            if all_hold {
                return Ok(Some(remedy).filter(|_| trial.violations.is_empty()));
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
                edit: Some(format!("at most {:.0} mailboxes", mailboxes * share)),
                effect: format!("{:.0} % of {mailboxes:.0}", share * 100.0),
                tried: self.tried,
            };
            let adjustment = Adjustment { share, ..Adjustment::NONE };
            if self.note(&remedy, |name| trial.holds(name, adjustment))? {
                return Ok(Some(remedy));
            }
        }
        Ok(None)
    }

    /// Plays the failed claims with a change, and records it for those that hold for the first
    /// time; `true` if all claims hold with it, including those that held before.
    fn note(
        &mut self,
        remedy: &Remedy,
        holds: impl Fn(&str) -> Result<bool, CommandError>,
    ) -> Result<bool, CommandError> {
        let mut all_hold = true;
        for claim in self.claims.iter_mut().filter(|of| of.state != ClaimState::Holds) {
            if claim.remedy.is_some() && !all_hold {
                continue;
            }
            let is_held = holds(&claim.name)?;
            all_hold &= is_held;
            if is_held && claim.remedy.is_none() {
                claim.remedy = Some(remedy.clone());
            }
            if !is_held && claim.name == NORMAL {
                // Every other case begins with it.
                return Ok(false);
            }
        }
        for claim in self.claims.iter().filter(|of| of.state == ClaimState::Holds) {
            all_hold = all_hold && holds(&claim.name)?;
        }
        Ok(all_hold)
    }

    /// No change helps all.
    fn none(&self) -> Remedy {
        let effect = "add servers or copies, and size again".to_owned();
        Remedy { edit: None, effect, tried: self.tried }
    }
}
