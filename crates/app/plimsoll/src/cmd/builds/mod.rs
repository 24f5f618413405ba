//! `builds`: the Exchange release of a version number or a file, and the steps between two.

mod compare;
pub(crate) mod flags;
mod identify;
mod list;
mod subject;

use builds::{BuildTable, Release};
use serde_json::{Value, json};

use console::Console;
use console::Outcome;
use console::documents::read_text;
use console::error::CommandError;
use flags::{BuildsAction, BuildsFlags};

/// Answers from the embedded table or the one that was named.
pub(crate) fn run(flags: &BuildsFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let table = table(flags)?;
    let mut answer = match &flags.action {
        BuildsAction::Identify { subjects } => identify::run(&table, subjects)?,
        BuildsAction::List { product } => list::run(&table, product.as_deref())?,
        BuildsAction::Compare { one, other } => compare::run(&table, one, other)?,
    };
    let date = table.date();
    if flags.json {
        answer.json["data_as_of"] = Value::from(date);
        console.answer_json("builds", answer.json)?;
        return Ok(Outcome::Pass);
    }
    for line in answer.lines {
        console.answer(line)?;
    }
    // An answer, not a remark: a label is only as good as the table is recent.
    console.answer(format_args!("Data as of {date}; newer builds are unknown."))?;
    Ok(Outcome::Pass)
}

/// One answer in two forms: for people and for programs.
struct Answer {
    lines: Vec<String>,
    json: Value,
}

fn table(flags: &BuildsFlags) -> Result<BuildTable, CommandError> {
    let Some(path) = &flags.data else {
        return Ok(BuildTable::embedded());
    };
    let (file, text) = read_text(path)?;
    BuildTable::parse(&text).map_err(|error| CommandError::new(format!("{file}: {error}")))
}

fn as_json(release: &Release) -> Value {
    json!({
        "name": release.name(),
        "product": release.product,
        "level": release.level,
        "kind": release.kind.to_string(),
        "update": release.update,
        "version": release.version.to_string(),
        "released": release.released,
        "schema": release.schema,
        "organization": release.organization,
        "domain": release.domain,
        "support_end": release.support_end,
        "sources": release.sources,
        "note": release.note,
    })
}
