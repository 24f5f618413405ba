//! `size --prove`: plays every failure that a design claims to survive, and finds the smallest
//! change that helps if a claim fails.

mod case;
mod cases;
mod deciding;
#[cfg(test)]
pub(crate) mod fixture;
mod outage;
mod paper;
mod recovery;
mod remedy;
mod trial;

use blueprint::Proof;
use plan::Deployment;
use verdict::Ruling;

use super::flags::SizeFlags;
use crate::edits;
use console::Console;
use console::Outcome;
use console::documents::{self, Existing};
use console::error::CommandError;
use trial::Trial;

/// Proves the design of a document, prints the table, and writes the page.
pub(super) fn run(
    flags: &SizeFlags,
    document: &(String, String),
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let trial = Trial::of(document, &[])?;
    let mut claims = trial.played(console)?;
    let deployment = Deployment::parse(&document.0, &document.1)?;
    let currency = deployment.prices.as_ref().map_or("", |prices| prices.currency.as_str());
    let (remedy, edits) = remedy::found((document, currency), (&trial, &mut claims), console)?;
    let proof = Proof {
        title: trial.provision.needs.title.clone(),
        customer: deployment.origin.customer.clone(),
        date: deployment.origin.date.clone(),
        author: deployment.origin.author.clone(),
        description: deployment.description.clone(),
        assumption: deployment.product.assumption(),
        design: trial.words(),
        uncertainty_percent: trial.uncertainty_percent(),
        disk_load: trial.disk_load,
        has_unsized_processors: provision::size_unadvised(&deployment).has_unsized_processors(),
        violations: trial.violations.clone(),
        claims,
        remedy,
        edits: edits::written(&edits, &deployment),
    };
    if let Some(page) = &flags.html {
        let inputs: Vec<&std::path::Path> = flags.deployment.iter().map(AsRef::as_ref).collect();
        let existing = Existing::of_flag(flags.force);
        documents::write(page, blueprint::proof_html(&proof).as_bytes(), existing, &inputs)?;
    }
    if flags.json {
        console.answer_json_line(&blueprint::proof_json(&proof).to_string())?;
    } else {
        console.answer(blueprint::proof_text(&proof, console.text_width()).trim_end())?;
        if let Some(page) = &flags.html {
            console.remark(format_args!("Page: {}", page.display()))?;
        }
    }
    Ok(match proof.ruling() {
        Ruling::Pass | Ruling::Warn => Outcome::Pass,
        Ruling::Fail => Outcome::Fail,
        Ruling::CannotJudge => Outcome::CannotJudge,
    })
}
