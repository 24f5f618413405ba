//! Many designs from one document: every combination of the values given, sized and ranked.

use std::thread;

use blueprint::{Candidate, Sized};
use host::{crew, sweep};
use plan::Deployment;
use plan::deployment::Replacement;
use provision::size;

use super::outcome;
use crate::size::flags::SizeFlags;
use console::Console;
use console::Outcome;
use console::documents::{self, Existing};
use console::error::CommandError;

/// An example for the user.
pub const EXAMPLE: &str = "availability.servers_per_site=4,6,8 or tier.1.mailboxes=5000,8000";

/// Writes the page of the unmodified deployment, with the table of all candidates.
fn write_page(
    flags: &SizeFlags,
    (file, text): (&str, &str),
    candidates: &[Candidate],
) -> Result<(), CommandError> {
    let (Some(page), Some(path)) = (&flags.html, &flags.deployment) else {
        return Ok(());
    };
    let deployment = Deployment::parse(file, text)?;
    let sizing = size(&deployment);
    let sized = Sized::new(&deployment, &sizing);
    let html = blueprint::sizing_html(sized, candidates);
    documents::write(page, html.as_bytes(), Existing::of_flag(flags.force), &[path])
}

/// Ranks all combinations; fails if none is feasible.
pub(super) fn run(
    flags: &SizeFlags,
    file: &str,
    text: &str,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let all = sweep::combinations_of(&flags.scenarios, EXAMPLE)?;
    let candidates = blueprint::ranked(sized(&all, (file, text))?);
    write_page(flags, (file, text), &candidates)?;
    let first = candidates.first();
    if let Some(Err(complaint)) = first.map(|first| &first.outcome) {
        return Err(CommandError::new(complaint.clone()));
    }
    if flags.json {
        console.answer_json("scenarios", blueprint::scenarios_json(&candidates))?;
    } else {
        console.answer_prose(&blueprint::scenarios(&candidates))?;
    }
    let workable = first.and_then(|first| first.outcome.as_ref().ok());
    Ok(outcome(workable.is_some_and(sizing::Sizing::is_workable)))
}

fn candidates_of(all: &[Vec<Replacement>], (file, text): (&str, &str)) -> Vec<Candidate> {
    all.iter()
        .map(|replacements| {
            let parsed = Deployment::parse_with(file, text, replacements);
            Candidate::of(replacements.clone(), parsed)
        })
        .collect()
}

/// Sizes every combination on all processors; the results keep their order.
fn sized(
    all: &[Vec<Replacement>],
    (file, text): (&str, &str),
) -> Result<Vec<Candidate>, CommandError> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let each = all.len().div_ceil(workers).max(1);
    let mut candidates = Vec::with_capacity(all.len());
    thread::scope(|scope| {
        let parts: Vec<_> = all
            .chunks(each)
            .map(|part| scope.spawn(move || candidates_of(part, (file, text))))
            .collect();
        for part in parts {
            candidates.extend(part.join().map_err(|_| crew::panicked())?);
        }
        Ok::<(), CommandError>(())
    })?;
    Ok(candidates)
}
