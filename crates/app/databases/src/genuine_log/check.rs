//! `check` of logs: every segment against its checksum, every file against the one before.

use eselog::{Gap, LogMember, LogSet};
use serde_json::{Value, json};

use super::files::{LogFiles, logs};
use crate::check::flags::CheckFlags;
use console::Console;
use console::Outcome;
use console::error::CommandError;

/// Indent of the continuation lines of a finding.
const INDENT: usize = 4;

/// Checks the logs that `flags` name; fails if one is missing or damaged.
pub(crate) fn run(flags: &CheckFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let files = LogFiles::examine(&logs(&flags.files)?, None)?;
    let gaps = files.set.gaps().iter().map(ToString::to_string);
    let others = files.others.iter().flat_map(of_other_stream);
    let findings: Vec<String> =
        files.unreadable.iter().cloned().chain(gaps).chain(others).collect();
    if flags.json {
        console.answer_json("log_check", as_json(&files, &findings))?;
    } else {
        console.answer_folded(files.set.sentence(), INDENT)?;
        for finding in &findings {
            console.answer_folded(finding, INDENT)?;
        }
        for sentence in corrections(&files) {
            console.answer_folded(sentence, INDENT)?;
        }
    }
    let mut gaps = sets(&files).flat_map(LogSet::gaps);
    let is_whole = files.unreadable.is_empty() && gaps.all(is_harmless);
    let has_flips = members(&files).any(|one| !one.survey.flipped_bits.is_empty());
    Ok(if is_whole && !has_flips { Outcome::Pass } else { Outcome::Fail })
}

/// A stream that is not the newest file's, in one sentence, followed by its faults.
fn of_other_stream(set: &LogSet) -> impl Iterator<Item = String> {
    let gaps = set.gaps().iter().map(ToString::to_string);
    std::iter::once(format!("another log stream: {}", set.sentence())).chain(gaps)
}

/// Every log stream among the files.
fn sets(files: &LogFiles) -> impl Iterator<Item = &LogSet> {
    std::iter::once(&files.set).chain(&files.others)
}

/// The files of every stream.
fn members(files: &LogFiles) -> impl Iterator<Item = &LogMember> {
    sets(files).flat_map(LogSet::members)
}

/// Files of another stream in the same folder are not damage.
const fn is_harmless(gap: &Gap) -> bool {
    matches!(gap, Gap::OtherStream { .. })
}

/// Describes flipped bits that were corrected on reading, one sentence per file.
fn corrections(files: &LogFiles) -> Vec<String> {
    let flipped = members(files).filter(|one| !one.survey.flipped_bits.is_empty());
    flipped
        .map(|member| {
            let places: Vec<String> = member
                .survey
                .flipped_bits
                .iter()
                .map(|(segment, bit)| format!("segment {segment} byte {} bit {}", bit / 8, bit % 8))
                .collect();
            format!("{}: one bit flipped, correctable: {}", member.name, places.join(", "))
        })
        .collect()
}

fn as_json(files: &LogFiles, findings: &[String]) -> Value {
    json!({
        "sentence": files.set.sentence(),
        "findings": findings,
        "files": members(files).map(member_json).collect::<Vec<_>>(),
    })
}

fn member_json(member: &LogMember) -> Value {
    let survey = &member.survey;
    json!({
        "file": member.name,
        "generation": member.facts.generation.0,
        "created": member.facts.created.to_string(),
        "signature": member.facts.signature.to_string(),
        "readable_segments": survey.readable_segments,
        "checksum": format!("{:#018x}", survey.checksum),
        "torn_segment": survey.torn,
        "segment_from_shadow": survey.from_shadow,
        "flipped_bits": survey.flipped_bits.iter().map(|(segment, bit)| json!({
            "segment": segment,
            "bit": bit,
        })).collect::<Vec<_>>(),
        "damaged_segments": survey.faults.iter().map(|fault| json!({
            "segment": fault.segment,
            "text": fault.damage.to_string(),
        })).collect::<Vec<_>>(),
        "is_shut_down": member.is_shut_down,
        "bad_record": member.bad_record,
    })
}
