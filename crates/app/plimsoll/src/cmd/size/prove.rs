//! `size --prove`: every failure that a design claims to survive, played, and the smallest change
//! that helps if one does not hold.

mod cases;
mod trial;

use plan::Deployment;
use plan::deployment::Replacement;
use provision::{LighterDesign, lighter_designs};
use report::{Claim, ClaimState, Proof, Remedy};

use super::flags::SizeFlags;
use crate::Outcome;
use crate::cmd::predict;
use crate::console::Console;
use crate::documents::{self, Existing};
use crate::error::CommandError;
use trial::Trial;

/// More edits than this are not tried.
const MOST_EDITS: usize = 6;

/// Shares of the mailboxes that are tried if no edit helps.
const SHARES: [f64; 5] = [0.9, 0.8, 0.7, 0.6, 0.5];

/// Proves the design of a document, prints the table, and writes the page.
pub(super) fn run(
    flags: &SizeFlags,
    document: &(String, String),
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let trial = Trial::of(document, &[])?;
    let claims = trial.claims(1.0, console)?;
    let remedy = remedy(document, (&trial, &claims), console)?;
    let deployment = Deployment::parse(&document.0, &document.1)?;
    let proof = Proof {
        title: trial.provision.needs.title.clone(),
        customer: deployment.origin.customer.clone(),
        design: trial.words(),
        uncertainty_percent: trial.uncertainty_percent(),
        violations: trial.violations.clone(),
        claims,
        remedy,
    };
    if let Some(page) = &flags.html {
        let inputs: Vec<&std::path::Path> = flags.deployment.iter().map(AsRef::as_ref).collect();
        let existing = Existing::of_flag(flags.force);
        documents::write(page, report::proof_html(&proof).as_bytes(), existing, &inputs)?;
    }
    if flags.json {
        console.answer_json_line(&report::proof_json(&proof).to_string())?;
    } else {
        console.answer(report::proof_text(&proof).trim_end())?;
        if let Some(page) = &flags.html {
            console.remark(format_args!("Page: {}", page.display()))?;
        }
    }
    Ok(if proof.holds() { Outcome::Pass } else { Outcome::Fail })
}

/// The smallest change with which every claim holds; none if they hold already.
fn remedy(
    document: &(String, String),
    (trial, claims): (&Trial, &[Claim]),
    console: &mut Console,
) -> Result<Option<Remedy>, CommandError> {
    if claims.iter().all(|of| of.state == ClaimState::Holds) {
        return Ok(None);
    }
    // Only disks are played: no change that is tried here answers processors or a quorum.
    if claims.iter().any(|of| of.state == ClaimState::FailsOnPaper) {
        return Ok(Some(no_remedy(0)));
    }
    let mut tried = 0;
    for design in lighter_designs(&document.0, &document.1).iter().take(MOST_EDITS) {
        tried += 1;
        console.remark(format_args!("Trying {} = {} ...", design.edit.key, design.edit.value))?;
        if all_hold(document, design, console)? {
            let edit = predict::edit(design, None);
            let edit = Some(format!("[{}] {}", edit.section, edit.line));
            let effect = predict::edit(design, None).effect;
            return Ok(Some(Remedy { edit, effect, tried }));
        }
    }
    // A share of the mailboxes is played without being sized again.
    if !trial.violations.is_empty() {
        return Ok(Some(no_remedy(tried)));
    }
    fewer_mailboxes(trial, tried, console).map(Some)
}

/// No change of the document helps.
fn no_remedy(tried: usize) -> Remedy {
    let effect = "add servers or copies, and size again".to_owned();
    Remedy { edit: None, effect, tried }
}

fn all_hold(
    document: &(String, String),
    design: &LighterDesign,
    console: &mut Console,
) -> Result<bool, CommandError> {
    let edits: &[Replacement] = std::slice::from_ref(&design.edit);
    // A design that cannot be laid out or simulated is no remedy.
    let Ok(trial) = Trial::of(document, edits) else {
        return Ok(false);
    };
    let claims = trial.claims(1.0, console)?;
    Ok(claims.iter().all(|of| of.state == ClaimState::Holds))
}

/// The largest share of the mailboxes with which every claim holds.
fn fewer_mailboxes(
    trial: &Trial,
    tried: usize,
    console: &mut Console,
) -> Result<Remedy, CommandError> {
    for (number, share) in (1..).zip(SHARES) {
        let claims = trial.claims(share, console)?;
        if claims.iter().all(|of| of.state == ClaimState::Holds) {
            let mailboxes = trial.mailboxes();
            return Ok(Remedy {
                edit: Some(format!("at most {:.0} mailboxes", mailboxes * share)),
                effect: format!("{:.0} % of {mailboxes:.0}", share * 100.0),
                tried: tried + number,
            });
        }
    }
    Ok(no_remedy(tried + SHARES.len()))
}
