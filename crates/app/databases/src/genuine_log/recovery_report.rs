//! The report of `recover --into` about the copy it has made, and everything that the copy lacks.

use std::path::Path;

use ese::LogTime;
use eselog::LostGenerations;
use serde_json::{Value, json};

use super::replay::{Replayed, place};
use super::store::CopyStore;
use crate::recover::flags::RecoverFlags;
use console::Console;
use console::error::CommandError;

/// Indent of continuation lines.
const INDENT: usize = 4;
/// Maximum pages of one kind to list individually.
const MOST_NAMED: usize = 100;

/// Why there is no copy without `--lossy`.
pub(super) fn what_is_behind(made: &Replayed<CopyStore>) -> String {
    let pages = units::plural(made.summary.behind.len() as u64, "page");
    let first = made.summary.behind.iter().next();
    let named = first.map(|(page, behind)| {
        format!("{pages} would stay behind, the first is {page}: {}", behind.cause)
    });
    let losses = made.losses.iter().cloned();
    named.into_iter().chain(losses).collect::<Vec<_>>().join("; ")
}

/// Reports a finished copy.
pub(super) fn tell(
    flags: &RecoverFlags,
    copy: &Path,
    made: &Replayed<CopyStore>,
    console: &mut Console,
) -> Result<(), CommandError> {
    if flags.json {
        return console.answer_json("log_recovery", as_json(flags, copy, made));
    }
    let (first, last) = made.generations;
    let summary = &made.summary;
    let undone = if flags.no_undo {
        format!("{} open transactions left as they are", summary.open_transactions)
    } else {
        format!(
            "{} undone ({})",
            units::plural(summary.transactions_undone, "transaction"),
            units::plural(summary.changes_undone, "change")
        )
    };
    console.answer_folded(
        format_args!(
            "{}: made of {} and log generations {first:#x} to {last:#x}: {} records, {} page \
             changes made, {} already present, {undone}",
            copy.display(),
            flags.file.display(),
            summary.records,
            summary.changes_made,
            summary.changes_present,
        ),
        INDENT,
    )?;
    tell_losses(made, console)
}

fn tell_losses(made: &Replayed<CopyStore>, console: &mut Console) -> Result<(), CommandError> {
    for doubt in &made.doubts {
        console.answer_folded(format_args!("doubt: {doubt}"), INDENT)?;
    }
    if !made.is_best_effort() {
        return Ok(());
    }
    console.answer_folded(
        format_args!(
            "best effort: the copy ends at {}, {}; later changes are lost",
            place(made.summary.end),
            made.end_time
        ),
        INDENT,
    )?;
    for loss in &made.losses {
        console.answer_folded(format_args!("lost: {loss}"), INDENT)?;
    }
    if let Some(lost) = &made.lost {
        console.answer_folded(format_args!("lost: {}", extent(lost)), INDENT)?;
    }
    let behind = made.summary.behind.iter().map(|(page, behind)| {
        format!("page {page} stays behind at {}: {}", behind.place, behind.cause)
    });
    tell_pages(behind, console)?;
    let end = made.end_dbtime;
    let ahead = made.ahead.iter().map(|(page, dbtime)| {
        format!(
            "page {page} is ahead: it has changes of lost generations, up to database time \
             {dbtime:#x}; the replay ends at {end:#x}"
        )
    });
    tell_pages(ahead, console)
}

/// The lost generations, and the time that they cover.
fn extent(lost: &LostGenerations) -> String {
    let LostGenerations { first, last, last_begun } = lost;
    let begun = if *last_begun == LogTime::NEVER {
        String::new()
    } else {
        format!("; generation {last:#X} was begun {last_begun}")
    };
    format!("changes of generations {first:#X} to {last:#X}{begun}")
}

/// Prints the first pages of a list, and how many more there are.
fn tell_pages(
    pages: impl ExactSizeIterator<Item = String>,
    console: &mut Console,
) -> Result<(), CommandError> {
    let more = pages.len().saturating_sub(MOST_NAMED);
    for page in pages.take(MOST_NAMED) {
        console.answer_folded(page, INDENT)?;
    }
    match more {
        0 => Ok(()),
        more => console.answer(format_args!(
            "and {}; --json lists all",
            units::plural(more as u64, "more page")
        )),
    }
}

fn as_json(flags: &RecoverFlags, copy: &Path, made: &Replayed<CopyStore>) -> Value {
    let summary = &made.summary;
    let behind = summary.behind.iter().map(|(page, behind)| {
        json!({
            "page": page.0,
            "place": behind.place.to_string(),
            "text": behind.cause.to_string(),
        })
    });
    json!({
        "file": flags.file.display().to_string(),
        "copy": copy.display().to_string(),
        "best_effort": made.is_best_effort(),
        "log_generation_first": made.generations.0,
        "log_generation_last": made.generations.1,
        "end": summary.end.to_string(),
        "end_time": made.end_time.to_string(),
        "records": summary.records,
        "page_changes_made": summary.changes_made,
        "page_changes_present": summary.changes_present,
        "transactions_undone": summary.transactions_undone,
        "changes_undone": summary.changes_undone,
        "open_transactions": summary.open_transactions,
        "losses": made.losses,
        "doubts": made.doubts,
        "lost_generations": made.lost.map(|lost| json!({
            "first": lost.first,
            "last": lost.last,
            "last_begun": lost.last_begun.to_string(),
        })),
        "pages_ahead": made.ahead.iter().map(|(page, dbtime)| json!({
            "page": page.0,
            "dbtime": dbtime,
        })).collect::<Vec<_>>(),
        "pages_behind": behind.collect::<Vec<_>>(),
    })
}
