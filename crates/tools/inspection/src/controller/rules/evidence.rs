//! Judges the tool's output itself: missing facts, unknown words and unknown lines. Any of these
//! rules out a clean pass.

use record::{StorageFinding, StorageRuling};

use super::super::{Controller, LogicalDrive, UnreadLine};
use crate::draft::{FindingDraft, mended_by};

const NAME: (&str, &str) = ("controller-output", "Output of the tool");

/// Number of unread lines that a finding quotes.
const SHOWN: usize = 5;

/// Checks that may lack evidence without leaving the answer open: their findings suggest a change,
/// but affect neither mail nor log latency.
const OPEN_TO_DOUBT: [&str; 5] =
    ["disk-cache", "strip-size", "raid-level", "controller-read-cache", "cache-ratio"];

/// Whether a finding leaves open the question that the output should answer. Missing evidence for
/// lesser checks does not; words not understood and gaps are separate findings.
pub fn leaves_open(finding: &StorageFinding) -> bool {
    finding.outcome == StorageRuling::CannotJudge
        && !OPEN_TO_DOUBT.contains(&finding.check.as_str())
}

/// Checks that depend on several lines, one of which may be missing.
const OF_SEVERAL_LINES: [&str; 9] = [
    "array-state",
    "cache-backup",
    "controller-cache",
    "controller-memory",
    "controller-status",
    "controller-write-cache",
    "device-health",
    "drive-state",
    "raid-level",
];

/// Withdraws a pass that depends on several lines, if the output is incomplete.
pub(super) fn doubt(finding: &mut StorageFinding) {
    let is_one = OF_SEVERAL_LINES.contains(&finding.check.as_str());
    if is_one && finding.outcome == StorageRuling::Pass {
        finding.outcome = StorageRuling::CannotJudge;
        "the output is incomplete; what is missing may say otherwise"
            .clone_into(&mut finding.reason);
    }
}

/// Lines of an output that no reader understood.
pub fn not_understood(file: &str, lines: &[UnreadLine]) -> Option<StorageFinding> {
    let draft = FindingDraft::new(NAME, file);
    let shown: Vec<String> = lines
        .iter()
        .take(SHOWN)
        .map(|line| format!("line {}: \"{:.80}\"", line.number, line.text))
        .collect();
    let more = if lines.len() > SHOWN { ", ..." } else { "" };
    let count = match lines.len() {
        0 => return None,
        1 => "1 line was".to_owned(),
        many => format!("{many} lines were"),
    };
    Some(mended_by(
        draft.unknown(
            format!("{count} not understood: {}{more}", shown.join(", ")),
            "a line that is not understood may be the one that matters",
        ),
        "read these lines, or save the output again without wrapping, as JSON if the tool can",
    ))
}

/// Facts of a controller that its output lacks, or states in unknown words.
pub(super) fn of_controller(controller: &Controller) -> Option<StorageFinding> {
    let mut all = controller.gaps.clone();
    all.extend(doubts(controller));
    all.dedup();
    let more = all.len().saturating_sub(SHOWN);
    let shown: Vec<String> = all.into_iter().take(SHOWN).collect();
    if shown.is_empty() {
        return None;
    }
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    Some(mended_by(
        FindingDraft::new(NAME, controller.name()).unknown(
            format!("incomplete or not understood: {}{more}", shown.join("; ")),
            "what is missing may be what matters; the other answers are those of the rest",
        ),
        "save the whole output again",
    ))
}

/// Facts of lesser checks that are contradictory or not understood.
fn doubts(controller: &Controller) -> Vec<String> {
    let mut doubts = Vec::new();
    let mut note = |part: &str, what: &str, doubt: Option<String>| {
        doubts.extend(doubt.map(|why| format!("{what} of {part}: {why}")));
    };
    note("the controller", "share of reads", controller.read_percent.doubt());
    // No rule depends on the size of the cache, and tools round it.
    if controller.cache_bytes.told().is_empty() {
        note("the controller", "size of the cache", controller.cache_bytes.doubt());
    }
    for drive in &controller.drives {
        let LogicalDrive { level, strip_bytes, reads_ahead, disk_caches, disks, .. } = drive;
        let part = format!("drive {}", drive.id);
        note(&part, "level", level.doubt());
        note(&part, "strip size", strip_bytes.doubt());
        note(&part, "read policy", reads_ahead.doubt());
        note(&part, "caches of disks", disk_caches.doubt());
        note(&part, "number of disks", disks.doubt());
        note(&part, "kind of disks", drive.is_flash.doubt());
        note(&part, "write policy that is set", drive.writes_set.doubt());
    }
    for disk in &controller.disks {
        note(&format!("disk {}", disk.name), "cache", disk.cache.doubt());
    }
    doubts
}
