//! `builds identify`: the release, its age and its support.

use builds::{BuildNumber, BuildTable, Identity, Release};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::macros::format_description;

use super::subject::{BuildSubject, subjects};
use super::{Answer, as_json};
use console::error::CommandError;

/// Identifies every version, name and file given.
pub(super) fn run(table: &BuildTable, texts: &[String]) -> Result<Answer, CommandError> {
    let mut lines = Vec::new();
    let mut found = Vec::new();
    for text in texts {
        for subject in subjects(table, text)? {
            let answer = one(table, &subject);
            lines.extend(answer.lines);
            found.push(answer.json);
        }
    }
    let json = json!({ "found": found });
    Ok(Answer { lines, json })
}

fn one(table: &BuildTable, subject: &BuildSubject) -> Answer {
    match subject {
        BuildSubject::Version { place, version, count } => {
            version_answer(table, place, *version, *count)
        }
        BuildSubject::Database { place, format: (version, update), page_bytes, system, engine } => {
            Answer {
                lines: vec![format!(
                    "{place}: a database of format {version:#x},{update} with pages of {} KiB, \
                     last open under Windows {system}: written by {}; its header holds no build of \
                     Exchange",
                    page_bytes >> 10,
                    engine.unwrap_or("an engine unknown here")
                )],
                json: json!({
                    "place": place,
                    "match": "database",
                    "format": { "version": version, "update": update },
                    "page_size_bytes": page_bytes,
                    "system": system,
                    "engine": engine,
                }),
            }
        }
    }
}

fn version_answer(table: &BuildTable, place: &str, version: BuildNumber, count: usize) -> Answer {
    let identity = table.identify(version);
    let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
    let mut lines = vec![format!("{place}{times}: {identity}")];
    if let Some(release) = identity.release() {
        lines.extend(details(table, release, &today()));
    }
    Answer { lines, json: version_json(table, place, version, count, &identity) }
}

fn version_json(
    table: &BuildTable,
    place: &str,
    version: BuildNumber,
    count: usize,
    identity: &Identity<'_>,
) -> Value {
    let release = identity.release();
    let newer = release.map(|release| table.newer(release));
    let newest = newer.as_ref().and_then(|newer| newer.last());
    json!({
        "place": place,
        "version": version.to_string(),
        "count": count,
        "match": identity.word(),
        "label": identity.to_string(),
        "release": release.map(as_json),
        "supported": release.map(|release| release.support_end >= today()),
        "newer_builds": newer.as_ref().map(Vec::len),
        "newest": newest.map(|release| as_json(release)),
    })
}

/// Lines below the name, indented.
fn details(table: &BuildTable, release: &Release, today: &str) -> Vec<String> {
    let ends = if release.support_end.as_str() < today { "ended" } else { "ends" };
    let mut lines = vec![
        format!(
            "    released {}, extended support {ends} {}",
            release.released, release.support_end
        ),
        format!(
            "    directory: schema {}, organization {}, domain {}",
            level(release.schema),
            level(release.organization),
            level(release.domain)
        ),
    ];
    lines.push(match table.newer(release).as_slice() {
        [] => format!("    the newest build of {} known here", release.product),
        [newer @ .., newest] => format!(
            "    newer builds: {}, the last one {} ({})",
            newer.len() + 1,
            newest.name(),
            newest.version
        ),
    });
    if !release.note.is_empty() {
        lines.push(format!("    note: {}", release.note));
    }
    lines
}

fn level(level: Option<u32>) -> String {
    level.map_or("unknown".to_owned(), |level| level.to_string())
}

fn today() -> String {
    let format = format_description!("[year]-[month]-[day]");
    // The format has no part that could fail.
    OffsetDateTime::now_utc().format(format).unwrap_or_default()
}
