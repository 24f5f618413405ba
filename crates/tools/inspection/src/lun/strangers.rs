//! Compares a target with its plan: logins that it must refuse, and LUNs that it must not offer.

use record::StorageFinding;

use super::LunStranger;
use crate::draft::{FindingDraft, mended_by};

/// Logins that every target must refuse, by their defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrangerLogin {
    /// A name other than the initiator's, with the initiator's secret.
    OtherName,
    /// The initiator's name, and no secret.
    NoSecret,
}

/// Results of testing a target against its plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTarget {
    /// Address of the target.
    pub name: String,
    /// Logins tried at every portal, with the worst outcome of each.
    pub logins: Vec<(StrangerLogin, LunStranger)>,
    /// LUNs that the target offers beyond the plan, or why they are unknown.
    pub unplanned: Result<Vec<u64>, String>,
    /// Rules of the target beyond the plan, or why they are unknown.
    pub rules: Result<TargetRules, String>,
}

/// Rules of a target beyond the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetRules {
    /// Addresses and names that the target lets in; `ALL` admits every initiator.
    pub admitted: Vec<String>,
    /// Accounts with which initiators may log in.
    pub accounts: Vec<String>,
    /// Other targets that offer one of this target's files.
    pub elsewhere: Vec<String>,
}

/// Findings on a target compared with its plan.
pub fn of_target(target: &PlannedTarget) -> Vec<StorageFinding> {
    let mut findings: Vec<StorageFinding> =
        target.logins.iter().map(|(login, end)| tried(target, *login, end)).collect();
    findings.push(unplanned(target));
    findings.push(rules(target));
    findings
}

fn tried(target: &PlannedTarget, login: StrangerLogin, end: &LunStranger) -> StorageFinding {
    let (check, risk) = match login {
        StrangerLogin::OtherName => (
            ("plan-stranger", "A login under another name"),
            "a system that the plan does not know reads and overwrites mail",
        ),
        StrangerLogin::NoSecret => (
            ("plan-no-secret", "A login without a secret"),
            "whatever takes the name of the initiator reads and overwrites mail",
        ),
    };
    let draft = FindingDraft::new(check, &target.name);
    match end {
        LunStranger::Refused => draft.pass("refused", "only the initiator of the plan gets in"),
        LunStranger::LetIn => mended_by(draft.fail("let in", risk), "plimsoll iscsi apply"),
        LunStranger::Unknown(why) => mended_by(
            draft.unknown(why, "a login that fails for another reason proves nothing"),
            "verify again once the target answers",
        ),
    }
}

fn unplanned(target: &PlannedTarget) -> StorageFinding {
    let draft = FindingDraft::new(("plan-luns", "LUNs beyond the plan"), &target.name);
    match &target.unplanned {
        Ok(luns) if luns.is_empty() => draft.pass("none", "as planned"),
        Ok(luns) => {
            let numbers: Vec<String> = luns.iter().map(|lun| format!("LUN {lun}")).collect();
            let is = if luns.len() == 1 { "is" } else { "are" };
            mended_by(
                draft.fail(
                    format!("{} {is} not in the plan", numbers.join(", ")),
                    "the initiator reaches storage that was not meant for it",
                ),
                "plimsoll iscsi apply, or add it to the document",
            )
        }
        Err(why) => mended_by(
            draft.unknown(why, "what the target offers is not known"),
            "verify at the initiator",
        ),
    }
}

fn rules(target: &PlannedTarget) -> StorageFinding {
    let draft = FindingDraft::new(("plan-rules", "Access rules beyond the plan"), &target.name);
    let TargetRules { admitted, accounts, elsewhere } = match &target.rules {
        Ok(rules) => rules,
        Err(why) => {
            return mended_by(
                draft.unknown(why, "whom the target lets in beyond the plan is not known"),
                "verify as root on the machine of the target",
            );
        }
    };
    let mut seen: Vec<String> = Vec::new();
    if !admitted.is_empty() {
        seen.push(format!("lets in {}", admitted.join(", ")));
    }
    if !accounts.is_empty() {
        seen.push(format!("takes the account {}", accounts.join(", ")));
    }
    if !elsewhere.is_empty() {
        seen.push(format!("its files are offered by {}, too", elsewhere.join(", ")));
    }
    if seen.is_empty() {
        return draft.pass("none", "the rules are those of the plan");
    }
    mended_by(
        draft.fail(seen.join("; "), "the target is open to systems that are not in the plan"),
        "plimsoll iscsi apply; remove what it did not make with tgtadm",
    )
}

#[cfg(test)]
mod tests;
