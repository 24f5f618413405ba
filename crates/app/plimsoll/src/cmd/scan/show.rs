//! The groups seen, for people and for programs.

use serde_json::{Value, json};
use vrrp::{GroupFinding, GroupKey, Segment, Source};

use super::SeenGroups;
use console::Console;
use console::error::CommandError;

const SECOND: f64 = 1e9;

/// Owners, findings and free ids.
pub(super) fn text(seen: &SeenGroups, console: &mut Console) -> Result<(), CommandError> {
    let survey = &seen.survey;
    let seconds = survey.nanoseconds as f64 / SECOND;
    console.answer(format_args!("{}: {} frames in {seconds:.1} s", seen.place, seen.frames))?;
    for (key, sources) in &survey.groups {
        console.answer(format_args!("  {}", group(key)))?;
        for source in sources {
            console.answer(format_args!("    {}", owner(source)))?;
        }
    }
    for finding in &survey.findings {
        console.answer(format_args!("  {}", describe(finding)))?;
    }
    for (why, frames) in &survey.unread {
        console.answer(format_args!("  not understood: {frames} frames: {why}"))?;
    }
    free_ids(seen, console)?;
    if !survey.is_understood() {
        console.answer(
            "  cannot judge that nothing clashes: a clash may hide in what was not understood or \
             not believed",
        )?;
    }
    if !survey.is_long_enough() {
        console.answer(
            "  too short to say that nothing clashes: listen for three of the longest intervals",
        )?;
    }
    console.remark(
        "A backup is silent while it hears its master, and so is a router that has yielded to \
         another's id: what is not seen may be there.",
    )
}

/// Prints ids not seen in use, or that they are unknown if a frame was not understood, since it may
/// use any of them.
fn free_ids(seen: &SeenGroups, console: &mut Console) -> Result<(), CommandError> {
    let survey = &seen.survey;
    if !survey.unread.is_empty() {
        return console.answer("  which ids of VRRP and CARP are free is not known");
    }
    for segment in survey.segments() {
        let ranges: Vec<String> =
            survey.free_ids(segment).into_iter().map(|(first, last)| range(first, last)).collect();
        console.answer(format_args!(
            "  {}ids of VRRP and CARP not seen in use: {}",
            place(segment),
            ranges.join(", ")
        ))?;
    }
    Ok(())
}

fn range(first: u8, last: u8) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// The network segment; empty for the only one that captures usually have.
fn place(segment: &Segment) -> String {
    let mut parts: Vec<String> = Vec::new();
    if segment.interface > 0 {
        parts.push(format!("interface {}", segment.interface));
    }
    parts.extend(segment.vlans.iter().map(|vlan| format!("VLAN {vlan}")));
    if parts.is_empty() {
        return String::new();
    }
    format!("{}: ", parts.join(", "))
}

fn group(key: &GroupKey) -> String {
    format!("{}{} id {} (IP{})", place(&key.segment), key.protocol, key.id, family(key))
}

fn family(key: &GroupKey) -> &'static str {
    match key.family {
        vrrp::Family::V4 => "v4",
        vrrp::Family::V6 => "v6",
    }
}

fn addresses(source: &Source) -> Vec<String> {
    source.last.addresses.iter().map(ToString::to_string).collect()
}

fn owner(source: &Source) -> String {
    let last = &source.last;
    let addresses = addresses(source);
    let addresses = if addresses.is_empty() {
        "addresses that it does not name".to_owned()
    } else {
        addresses.join(", ")
    };
    format!(
        "{}{} answers for {addresses}; priority {}, every {:.2} s, heard {} times",
        last.source,
        last.mac.map_or_else(String::new, |mac| format!(" ({})", colons(mac))),
        last.priority,
        last.interval_nanoseconds as f64 / SECOND,
        source.adverts
    )
}

fn colons(mac: [u8; 6]) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

fn describe(finding: &GroupFinding) -> String {
    let word = if finding.problem.is_clash() { "CLASH" } else { "note" };
    format!("{word}: {}: {}", subject(finding), finding.problem)
}

fn subject(finding: &GroupFinding) -> String {
    let silent = finding.silent.as_ref().map(|silent| {
        let mac = silent.mac;
        format!("{}{} id {}", place(&silent.segment), mac.kind, mac.id)
    });
    let group = finding.key.as_ref().map(group);
    group.or(silent).unwrap_or_default()
}

/// All scans as JSON.
pub(super) fn json(all: &[SeenGroups]) -> Value {
    json!({ "scans": all.iter().map(one).collect::<Vec<_>>() })
}

fn one(seen: &SeenGroups) -> Value {
    let survey = &seen.survey;
    let groups = survey
        .groups
        .iter()
        .flat_map(|(key, sources)| sources.iter().map(move |source| owner_json(key, source)));
    let known = survey.segments().filter(|_| survey.unread.is_empty());
    let free = known.map(|segment| {
        json!({
            "interface": segment.interface,
            "vlans": segment.vlans,
            "ranges": survey.free_ids(segment),
        })
    });
    let unread = survey
        .unread
        .iter()
        .map(|(why, frames)| json!({ "frames": frames, "text": why.to_string() }));
    let findings = survey.findings.iter().map(|finding| {
        json!({
            "clash": finding.problem.is_clash(),
            "problem": finding.problem.word(),
            "subject": subject(finding),
            "id": finding.key.as_ref().map(|key| key.id),
            "text": finding.problem.to_string(),
        })
    });
    json!({
        "place": seen.place,
        "frames": seen.frames,
        "seconds": survey.nanoseconds as f64 / SECOND,
        "long_enough": survey.is_long_enough(),
        "understood": survey.is_understood(),
        "unread": unread.collect::<Vec<_>>(),
        "owners": groups.collect::<Vec<_>>(),
        "findings": findings.collect::<Vec<_>>(),
        "free_ids": free.collect::<Vec<_>>(),
    })
}

fn owner_json(key: &GroupKey, source: &Source) -> Value {
    let last = &source.last;
    let addresses = addresses(source);
    json!({
        "interface": key.segment.interface,
        "vlans": key.segment.vlans,
        "protocol": key.protocol.to_string(),
        "id": key.id,
        "family": family(key),
        "source": last.source.to_string(),
        "mac": last.mac.map(colons),
        "addresses": addresses,
        "priority": last.priority,
        "interval_seconds": last.interval_nanoseconds as f64 / SECOND,
        "adverts": source.adverts,
    })
}
