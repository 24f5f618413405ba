//! `iscsi plan`: the contents of a document, and its problems.

use ::plan::LunDocument;
use luns::{LunDesign, LunSeverity, Numbers, check};

use super::{Wish, answer};
use crate::iscsi::flags::IscsiPlanFlags;
use console::Console;
use console::Outcome;
use console::error::CommandError;

/// Prints the design, or a document to start from.
pub(super) fn run(flags: &IscsiPlanFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let Some(path) = &flags.document else {
        console.answer_text(LunDocument::example())?;
        return Ok(Outcome::Pass);
    };
    let design = Wish::read(path)?.design(&Numbers::default())?;
    let findings = check(&design);
    if flags.json {
        let mut members = answer::design(&design);
        members["findings"] = findings.iter().map(answer::finding).collect();
        console.answer_json("iscsi_plan", members)?;
    } else {
        tell(&design, console)?;
        for finding in &findings {
            let severity = finding.severity.name();
            let line = format!("{severity}: {}: {}", finding.subject, finding.text);
            console.answer_folded(format_args!("{line}; {}", finding.remedy), 4)?;
        }
    }
    let fails = findings.iter().any(|finding| finding.severity == LunSeverity::Violation);
    Ok(if fails { Outcome::Fail } else { Outcome::Pass })
}

fn tell(design: &LunDesign, console: &mut Console) -> Result<(), CommandError> {
    for lun in &design.luns {
        let filled = lun.filled().map(|filled| format!(", {:.1} % filled", filled * 100.0));
        let line = format!("LUN {:<3} {:<20} {:>12}", lun.number, lun.name, lun.size.to_string());
        let held = lun.holds.name();
        console.answer(format_args!("{line}  {held}{}", filled.unwrap_or_default()))?;
    }
    for target in &design.targets {
        console.answer(format_args!("target {} for {}", target.iqn, target.initiator_iqn))?;
        for lun in &target.luns {
            let access = if lun.is_read_only { "read" } else { "read/write" };
            console.answer(format_args!("    LUN {:<3} {:<20} {access}", lun.number, lun.name))?;
        }
    }
    let portals: Vec<String> = design.portals.iter().map(ToString::to_string).collect();
    console.answer(format_args!("portals {}", portals.join(", ")))
}
