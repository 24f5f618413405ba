//! `iscsi grow`: grows LUNs to the size in the document.

use luns::tgt::Revision;
use luns::{DesignedLun, rescan};
use serde_json::json;
use units::Bytes;

use super::backing;
use super::work::IscsiWork;
use crate::iscsi::flags::IscsiGrowFlags;
use console::Console;
use console::Outcome;
use console::error::CommandError;

/// A LUN and its previous length.
struct LunGrowth {
    lun: DesignedLun,
    from: Bytes,
}

/// Grows files, and makes `tgtd` check them again.
pub(super) fn run(flags: &IscsiGrowFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let mut work = IscsiWork::begin(&flags.what)?;
    work.refuse_violations()?;
    let growths = wanted(&work)?;
    work.store.complete(&work.design)?;
    let names: Vec<String> = growths.iter().map(|growth| growth.lun.name.clone()).collect();
    // Refuses logged-in initiators before any file is extended.
    let live = work.tgtd.live()?;
    luns::tgt::steps(work.wanted(&[], flags.force), &live, Revision::Renew(&names))?;
    for growth in &growths {
        backing::set_length(&growth.lun)?;
        let records = work.store.state.luns.iter_mut();
        for record in records.filter(|record| record.name == growth.lun.name) {
            record.size_bytes = growth.lun.size.0;
        }
        work.store.write_state()?;
    }
    if !growths.is_empty() {
        work.carry_out(flags.force, Revision::Renew(&names), console)?;
    }
    tell(&work, &growths, flags.what.json, console)?;
    Ok(Outcome::Pass)
}

/// LUNs that must grow.
fn wanted(work: &IscsiWork) -> Result<Vec<LunGrowth>, CommandError> {
    let mut growths = Vec::new();
    for record in &work.store.state.luns {
        let Some(lun) = work.design.lun(&record.name) else {
            continue;
        };
        if lun.size.0 < record.size_bytes {
            return Err(CommandError::new(format!(
                "{} is {} and the document says {}: no LUN is made smaller, for what lies at its \
                 end would be lost; give its size as it was",
                lun.name,
                Bytes(record.size_bytes),
                lun.size
            )));
        }
        if lun.size.0 > record.size_bytes {
            backing::prove(record)?;
            growths.push(LunGrowth { lun: lun.clone(), from: Bytes(record.size_bytes) });
        }
    }
    Ok(growths)
}

fn tell(
    work: &IscsiWork,
    growths: &[LunGrowth],
    as_json: bool,
    console: &mut Console,
) -> Result<(), CommandError> {
    let names: Vec<&str> = growths.iter().map(|growth| growth.lun.name.as_str()).collect();
    let touched = work
        .design
        .targets
        .iter()
        .filter(|target| target.luns.iter().any(|lun| names.contains(&lun.name.as_str())));
    if as_json {
        let mut grown = Vec::new();
        for growth in growths {
            grown.push(json!({
                "name": growth.lun.name,
                "from_bytes": growth.from.0,
                "size_bytes": growth.lun.size.0,
            }));
        }
        let rescans = touched.map(|target| json!({ "target": target.iqn, "ways": rescan(target) }));
        let members = json!({ "grown": grown, "rescan": rescans.collect::<Vec<_>>() });
        return console.answer_json("iscsi_grow", members);
    }
    if growths.is_empty() {
        return console.answer("Nothing to do: every LUN is as large as the document says.");
    }
    for growth in growths {
        console
            .answer(format_args!("{}: {} -> {}", growth.lun.name, growth.from, growth.lun.size))?;
    }
    for target in touched {
        console.answer(format_args!("{} sees it after", target.initiator))?;
        for way in rescan(target) {
            console.answer(format_args!("    {way}"))?;
        }
    }
    Ok(())
}
