//! Rules of a target beyond its plan, as `tgtd` reports them: a login from here cannot reveal an
//! added account or address.

use inspection::lun::TargetRules;
use luns::Target;
use luns::tgt::{LiveTarget, TgtLive};

use console::error::CommandError;

/// Initiators, accounts and other targets by which `live` gives access to `target` beyond its plan,
/// one of `planned`; or why they are unknown.
pub(super) fn beyond(
    target: &Target,
    planned: &[Target],
    has_chap: bool,
    live: Result<&TgtLive, &CommandError>,
) -> Result<TargetRules, String> {
    let live = live.map_err(|error| {
        error.told().map_or_else(String::new, |(sentence, _)| sentence.to_owned())
    })?;
    let iqn = &target.iqn;
    let there = live.target(iqn).ok_or_else(|| format!("tgtd shows no target {iqn}"))?;
    let account = has_chap.then(|| target.account.clone());
    Ok(TargetRules {
        admitted: others(&there.admitted, &target.admitted()),
        accounts: others(&there.accounts, account.as_slice()),
        elsewhere: elsewhere(target, planned, live),
    })
}

fn others(all: &[String], wanted: &[String]) -> Vec<String> {
    all.iter().filter(|one| !wanted.contains(one)).cloned().collect()
}

/// Unplanned targets that offer a file of this one.
fn elsewhere(target: &Target, planned: &[Target], live: &TgtLive) -> Vec<String> {
    live.targets
        .iter()
        .filter(|other| planned.iter().all(|one| one.iqn != other.iqn))
        .filter(|other| offers_file_of(target, other))
        .map(|other| other.iqn.clone())
        .collect()
}

fn offers_file_of(target: &Target, other: &LiveTarget) -> bool {
    other.luns.iter().any(|lun| target.luns.iter().any(|ours| ours.file == lun.file))
}
