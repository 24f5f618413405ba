//! The result of inspecting storage: the requested page, the answer and the outcome.

use std::path::Path;

use device::Clock as _;
use device_os::OsClock;
use record::{StorageFinding, StorageRuling};
use report::{StorageLook, StorageTally};
use serde_json::Value;

use super::flags::InspectAnswerFlags;
use console::Console;
use console::Outcome;
use console::documents::{self, Existing};
use console::error::CommandError;

/// Result of an inspection, in every form.
pub(crate) struct InspectAnswer<'a> {
    /// The machine, and the inspected paths.
    pub subject: &'a str,
    /// The findings.
    pub findings: &'a [StorageFinding],
    /// The devices underneath each path, for programs.
    pub paths: &'a [Value],
    /// Saved outputs of controllers' tools, for programs.
    pub outputs: &'a [Value],
    /// `true` if decisive evidence is missing, contradictory or not understood.
    pub(crate) is_open: bool,
    /// The paths and outputs as lines for people, before the findings.
    pub(crate) lead: &'a [String],
    /// Files that a page must not replace.
    pub inputs: &'a [&'a Path],
}

/// Writes the requested page and prints the answer; fails if something needs fixing.
pub(crate) fn conclude(
    answer: &InspectAnswer<'_>,
    flags: &InspectAnswerFlags,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let &InspectAnswer { subject, findings, paths, outputs, is_open, lead, inputs } = answer;
    let look = StorageLook { subject, at_epoch_ns: OsClock::new().epoch().0, findings };
    if let Some(page) = &flags.html {
        let existing = Existing::of_flag(flags.force);
        documents::write(page, report::storage_html(&look).as_bytes(), existing, inputs)?;
    }
    if flags.json {
        console.answer_text(&report::storage_json(&look, &paths, &outputs))?;
    } else {
        for line in lead {
            console.answer(line)?;
        }
        print(findings, console)?;
    }
    let fails = StorageTally::of(findings).fail > 0;
    Ok(match (fails, is_open) {
        (true, _) => Outcome::Fail,
        (false, true) => Outcome::CannotJudge,
        (false, false) => Outcome::Pass,
    })
}

/// The worst first, each with its remedy; items in order take one line each.
fn print(findings: &[StorageFinding], console: &mut Console) -> Result<(), CommandError> {
    for finding in report::worst_first(findings) {
        let StorageFinding { title, subject, seen, outcome, .. } = finding;
        let outcome = outcome.name();
        console.answer_folded(format_args!("{outcome:<14}{title} - {subject}: {seen}"), 14)?;
        if finding.outcome != StorageRuling::Pass {
            console.answer_folded(format_args!("{:<14}{}", "", finding.reason), 14)?;
            if let Some(remedy) = &finding.remedy {
                // Not folded, since users copy the command.
                console.answer(format_args!("{:<14}-> {remedy}", ""))?;
            }
        }
    }
    console.answer("")?;
    console.answer_folded(StorageTally::of(findings).sentence(), 0)
}
