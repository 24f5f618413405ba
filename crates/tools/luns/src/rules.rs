//! Problems of a design, found before any of it is created.

use plan::luns::{ChapMode, LunContent};
use units::Bytes;

use crate::design::{ALIGNMENT, DesignedLun, LunDesign, MOST_FILLED_PERCENT, room_for};

/// Maximum database size with copies, and without. Source: the product's storage guidance.
const LARGEST_DATABASE: Bytes = Bytes(2 << 40);
const LARGEST_DATABASE_ALONE: Bytes = Bytes(200 << 30);
/// Allocation unit that the product's storage guidance requires of file systems with databases.
const ALLOCATION_UNIT: Bytes = Bytes(64 << 10);
/// Tolerance, as a fraction, for sizes that people write with two digits.
const ROUNDING: f64 = 0.001;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LunSeverity {
    /// Possible, but not advised.
    Warning,
    /// Forbidden: the design is not carried out.
    Violation,
}

/// One thing wrong with a design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LunFinding {
    /// Severity of the problem.
    pub severity: LunSeverity,
    /// The LUN, initiator or portal.
    pub subject: String,
    /// The problem.
    pub text: String,
    /// The remedy.
    pub remedy: String,
}

impl LunSeverity {
    /// Name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Violation => "violation",
        }
    }
}

/// All problems of `design`.
pub fn check(design: &LunDesign) -> Vec<LunFinding> {
    let mut findings = Vec::new();
    for lun in &design.luns {
        findings.extend(sizes(lun, design));
        findings.extend(databases(lun, design));
        findings.extend(users(lun, design));
    }
    findings.extend(spindles(design));
    findings.extend(network(design));
    findings
}

fn warning(subject: &str, text: impl Into<String>, remedy: impl Into<String>) -> LunFinding {
    finding(LunSeverity::Warning, subject, text.into(), remedy.into())
}

fn violation(subject: &str, text: impl Into<String>, remedy: impl Into<String>) -> LunFinding {
    finding(LunSeverity::Violation, subject, text.into(), remedy.into())
}

fn finding(severity: LunSeverity, subject: &str, text: String, remedy: String) -> LunFinding {
    LunFinding { severity, subject: subject.to_owned(), text, remedy }
}

fn sizes(lun: &DesignedLun, design: &LunDesign) -> Vec<LunFinding> {
    let mut findings = Vec::new();
    if lun.size < design.smallest_lun {
        findings.push(violation(
            &lun.name,
            format!("{} is less than the smallest LUN, {}", lun.size, design.smallest_lun),
            "make it larger, or lower `smallest_lun` where the initiator takes that",
        ));
    }
    if !lun.size.0.is_multiple_of(ALIGNMENT.0) {
        findings.push(violation(
            &lun.name,
            format!("{} bytes are no whole number of MiB: its end is not aligned", lun.size.0),
            "give a `size` in MiB, GiB or TiB",
        ));
    }
    let most = MOST_FILLED_PERCENT as f64 / 100.0 + ROUNDING;
    if let Some(filled) = lun.filled().filter(|filled| *filled > most) {
        findings.push(violation(
            &lun.name,
            format!(
                "will be {:.0} % full, and {MOST_FILLED_PERCENT} % is the most",
                filled * 100.0
            ),
            format!("make it {} or larger", room_for(lun.content.unwrap_or_default())),
        ));
    }
    findings
}

fn databases(lun: &DesignedLun, design: &LunDesign) -> Vec<LunFinding> {
    let mut findings = Vec::new();
    if lun.holds == LunContent::Other {
        return findings;
    }
    let largest = lun.content.unwrap_or_default();
    if lun.holds == LunContent::Databases && largest > LARGEST_DATABASE {
        findings.push(violation(
            &lun.name,
            format!("{largest} of databases on one LUN, and 2 TiB is the most, with copies"),
            "spread them over more LUNs",
        ));
    } else if lun.holds == LunContent::Databases
        && !design.has_copies
        && largest > LARGEST_DATABASE_ALONE
    {
        findings.push(warning(
            &lun.name,
            format!("{largest} of databases without copies, which take long to restore"),
            "keep databases without copies below 200 GiB, or give `dag = true` where there are \
             copies",
        ));
    }
    if design.allocation_unit != ALLOCATION_UNIT {
        findings.push(warning(
            &lun.name,
            format!("an allocation unit of {} is not what databases need", design.allocation_unit),
            "give `allocation_unit = \"64KiB\"`",
        ));
    }
    findings
}

fn users(lun: &DesignedLun, design: &LunDesign) -> Option<LunFinding> {
    let (writers, readers) = design.users(&lun.name);
    if writers.len() > 1 {
        return Some(violation(
            &lun.name,
            format!(
                "is written by {}: a file system that two systems have mounted is destroyed",
                writers.join(" and ")
            ),
            "name one of them in `read_write`",
        ));
    }
    if writers.is_empty() && readers.is_empty() {
        return Some(warning(
            &lun.name,
            "is reached by no initiator",
            "name an initiator in `read_write`",
        ));
    }
    if writers.is_empty() {
        return Some(warning(
            &lun.name,
            "is written by no initiator",
            "name an initiator in `read_write`",
        ));
    }
    (!readers.is_empty()).then(|| {
        warning(
            &lun.name,
            format!(
                "{} reads what {} writes, and sees an unfinished file system",
                readers.join(" and "),
                writers.join(" and ")
            ),
            "let it read snapshots, or unmount the LUN at its writer first",
        )
    })
}

/// Finds databases that share disks with their log: both are lost together, unless there is a copy
/// elsewhere.
fn spindles(design: &LunDesign) -> Option<LunFinding> {
    let (databases, rest): (Vec<_>, Vec<_>) =
        design.luns.iter().partition(|lun| lun.holds == LunContent::Databases);
    let shared = rest.into_iter().find(|lun| {
        lun.holds == LunContent::Logs && databases.iter().any(|other| other.pool == lun.pool)
    })?;
    (!design.has_copies).then(|| {
        violation(
            &shared.name,
            format!("logs share the disks of {} with databases that have no copies", shared.pool),
            "give logs a [[pool]] of their own, or `dag = true` where there are copies",
        )
    })
}

fn network(design: &LunDesign) -> Vec<LunFinding> {
    let mut findings = Vec::new();
    if design.portals.len() == 1 {
        findings.push(warning(
            &design.portals[0].to_string(),
            "is the only portal: one cable or switch takes every database away",
            "give two portals in networks of their own, and use multipath at the initiators",
        ));
    }
    if design.authentication == ChapMode::None {
        findings.push(warning(
            &design.name,
            "without CHAP every system that calls itself like an initiator is let in",
            "give `authentication = \"one-way CHAP\"`",
        ));
    }
    findings
}
