//! `builds compare`: the steps and prerequisites from one build to the other.

use builds::{BuildTable, Release, Upgrade};
use serde_json::{Value, json};

use super::subject::{BuildSubject, subjects};
use super::{Answer, as_json};
use console::error::CommandError;

/// Compares two builds, each given as a version, a name or a file.
pub(super) fn run(table: &BuildTable, one: &str, other: &str) -> Result<Answer, CommandError> {
    let comparison = table.compare(release(table, one)?, release(table, other)?);
    Ok(Answer { lines: lines(&comparison), json: json(&comparison) })
}

/// The one release that `text` denotes.
fn release<'table>(table: &'table BuildTable, text: &str) -> Result<&'table Release, CommandError> {
    let found = subjects(table, text)?;
    let [BuildSubject::Version { version, .. }] = found.as_slice() else {
        return Err(CommandError::new(format!(
            "{text}: does not stand for one build; give a version such as 15.1.2375.7"
        )));
    };
    let identity = table.identify(*version);
    identity.release().ok_or_else(|| {
        CommandError::new(format!(
            "{text}: is {identity}, so its levels are unknown; give a build that `plimsoll builds \
             list` prints, or a newer table with --data"
        ))
    })
}

fn lines(comparison: &Upgrade<'_>) -> Vec<String> {
    let Upgrade { older, newer, .. } = comparison;
    let mut lines = vec![
        format!("from {} ({}), {}", older.name(), older.version, older.released),
        format!("to   {} ({}), {}", newer.name(), newer.version, newer.released),
    ];
    if older == newer {
        lines.push("    the same build".to_owned());
        return lines;
    }
    if older.product == newer.product {
        let count = comparison.releases_between;
        lines.push(format!("    {count} builds newer, the last one included"));
    } else if comparison.is_in_place() {
        lines.push("    the next product: its Setup upgrades CU14 and later in place".to_owned());
    } else {
        lines.push(
            "    another product: install it beside the old one and move mailboxes".to_owned(),
        );
    }
    if let Some((from, to)) = comparison.sinking_schema {
        lines.push(format!(
            "    impossible in this order: Setup refuses, the schema is at {from} already, \
             above {to}"
        ));
    }
    if let Some(level) = comparison.first {
        lines.push(format!("    install first: {} ({})", level.name(), level.version));
    }
    if comparison.preparations.is_empty() {
        lines.push("    directory: nothing to prepare, as far as its levels are known".to_owned());
    }
    let steps = comparison.preparations.iter();
    lines.extend(steps.map(|step| format!("    directory: {step}")));
    lines
}

fn json(comparison: &Upgrade<'_>) -> Value {
    let steps: Vec<String> = comparison.preparations.iter().map(ToString::to_string).collect();
    json!({
        "older": as_json(comparison.older),
        "newer": as_json(comparison.newer),
        "in_place": comparison.is_in_place(),
        "builds_newer": comparison.releases_between,
        "preparations": steps,
        "setup_refuses": comparison.sinking_schema.is_some(),
        "install_first": comparison.first.map(as_json),
    })
}
