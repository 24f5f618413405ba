//! Compares a LUN with its plan, from the initiator's side.

use record::StorageFinding;
use units::Bytes;

use super::{LunFacts, LunProof, of_lun};
use crate::draft::{FindingDraft, mended_by};

/// The plan of a LUN, and the results of trying it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedLun {
    /// Address of the LUN.
    pub name: String,
    /// Required authentication: who must prove their identity.
    pub proof: LunProof,
    /// Planned length.
    pub capacity: Bytes,
    /// Whether the initiator may only read the LUN.
    pub is_read_only: bool,
    /// Result of a login with another secret; `None` if no secret is required.
    pub stranger: Option<LunStranger>,
    /// Result of a write of zero blocks; `None` if the initiator may write.
    pub empty_write: Option<LunWrite>,
    /// Result of writing a pattern; `None` if none was written.
    pub pattern: Option<LunPattern>,
}

/// Outcome of a login that must fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LunStranger {
    /// The login succeeded.
    LetIn,
    /// The login was refused because of the initiator's identity.
    Refused,
    /// The login failed for another reason, so it proves nothing.
    Unknown(String),
}

/// Result of a write of zero blocks on a read-only LUN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LunWrite {
    /// The write was carried out.
    Taken,
    /// The LUN said that it is write protected.
    Protected,
    /// The write failed for another reason, so it proves nothing.
    Unknown(String),
}

/// Outcome of writing a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LunPattern {
    /// Read back intact, and removed.
    Kept,
    /// The LUN is not blank, so nothing was written.
    NotBlank,
    /// The pattern was not read back; why.
    Lost(String),
}

/// Why there is nothing to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LunRefusal {
    /// The target does not let this machine in, whatever its secret.
    NotFromHere(String),
    /// The login or the inspection failed although the plan admits this machine.
    Refused(String),
}

/// Findings on a LUN compared with its plan.
pub fn against_plan(
    plan: &PlannedLun,
    facts: Result<&LunFacts, &LunRefusal>,
) -> Vec<StorageFinding> {
    let lun = match facts {
        Ok(lun) => lun,
        Err(refusal) => return vec![login(plan, refusal)],
    };
    let mut findings = of_lun(lun);
    // A read-only LUN must not accept writes.
    findings.retain(|finding| finding.check != "lun-writes" || !plan.is_read_only);
    findings.extend([proof(plan, lun), capacity(plan, lun), access(plan, lun)]);
    findings.extend(plan.stranger.as_ref().map(|stranger| secret(plan, stranger)));
    findings.extend(plan.empty_write.as_ref().map(|write| protected(plan, write)));
    findings.extend(plan.pattern.as_ref().map(|pattern| written(plan, pattern)));
    findings
}

fn login(plan: &PlannedLun, refusal: &LunRefusal) -> StorageFinding {
    let draft = FindingDraft::new(("plan-login", "Login as planned"), &plan.name);
    match refusal {
        LunRefusal::NotFromHere(why) => mended_by(
            draft.unknown(why, "only addresses of the plan are let in, and this is none of them"),
            "run `plimsoll inspect iscsi://...` at the initiator",
        ),
        LunRefusal::Refused(why) => mended_by(
            draft.fail(why, "its initiator cannot reach it"),
            "plimsoll iscsi apply, which brings back what is missing",
        ),
    }
}

fn proof(plan: &PlannedLun, lun: &LunFacts) -> StorageFinding {
    let draft = FindingDraft::new(("plan-proof", "Authentication as planned"), &plan.name);
    if lun.proof == plan.proof {
        return draft.pass("as planned", "both sides do what the plan asks of them");
    }
    mended_by(
        draft.fail("not as planned", "an account is missing, or is bound to another target"),
        "plimsoll iscsi apply",
    )
}

fn capacity(plan: &PlannedLun, lun: &LunFacts) -> StorageFinding {
    let draft = FindingDraft::new(("plan-capacity", "Capacity as planned"), &plan.name);
    if lun.capacity == plan.capacity {
        return draft.pass(lun.capacity.to_string(), "as planned");
    }
    mended_by(
        draft.fail(
            format!("{}, planned {}", lun.capacity, plan.capacity),
            "a LUN that has grown is offered at its old length until it is offered again",
        ),
        "plimsoll iscsi grow",
    )
}

fn access(plan: &PlannedLun, lun: &LunFacts) -> StorageFinding {
    let draft = FindingDraft::new(("plan-access", "Access as planned"), &plan.name);
    let seen = if lun.is_write_protected { "read only" } else { "read and write" };
    if lun.is_write_protected == plan.is_read_only {
        return draft.pass(seen, "as planned");
    }
    mended_by(
        draft.fail(seen, "the initiator may do more, or less, than the plan says"),
        "plimsoll iscsi apply",
    )
}

fn secret(plan: &PlannedLun, stranger: &LunStranger) -> StorageFinding {
    let draft = FindingDraft::new(("plan-secret", "A login with another secret"), &plan.name);
    match stranger {
        LunStranger::Refused => draft.pass("refused", "the secret is asked for"),
        LunStranger::LetIn => mended_by(
            draft.fail("let in", "whatever takes the name of the initiator reads the mail"),
            "plimsoll iscsi apply",
        ),
        LunStranger::Unknown(why) => mended_by(
            draft.unknown(why, "a login that fails for another reason proves nothing"),
            "verify again once the target answers",
        ),
    }
}

fn protected(plan: &PlannedLun, write: &LunWrite) -> StorageFinding {
    let draft = FindingDraft::new(("plan-read-only", "A write of no blocks"), &plan.name);
    match write {
        LunWrite::Protected => draft.pass("refused: write protected", "as planned"),
        LunWrite::Taken => mended_by(
            draft.fail("taken", "the initiator may only read it, and can overwrite it"),
            "plimsoll iscsi apply",
        ),
        LunWrite::Unknown(why) => mended_by(
            draft.unknown(why, "a write that fails for another reason proves nothing"),
            "look at the log of the target",
        ),
    }
}

fn written(plan: &PlannedLun, pattern: &LunPattern) -> StorageFinding {
    let draft = FindingDraft::new(("plan-pattern", "A pattern, written and read"), &plan.name);
    match pattern {
        LunPattern::Kept => draft.pass("read as it was written", "and removed again"),
        LunPattern::NotBlank => {
            draft.unknown("not written: something is on the LUN", "what is there stays")
        }
        LunPattern::Lost(why) => mended_by(
            draft.fail(why, "what is written there is not what comes back"),
            "look at the log of the target, and at what lies behind the LUN",
        ),
    }
}

#[cfg(test)]
mod tests {
    use record::StorageRuling::{self, CannotJudge, Fail, Pass};
    use units::Bytes;

    use super::super::tests::good;
    use super::{
        LunPattern, LunProof, LunRefusal, LunStranger, LunWrite, PlannedLun, against_plan,
    };

    fn outcome(check: &str, change: impl Fn(&mut PlannedLun)) -> StorageRuling {
        let lun = good();
        let mut plan = PlannedLun {
            name: lun.name.clone(),
            proof: lun.proof,
            capacity: lun.capacity,
            is_read_only: false,
            stranger: Some(LunStranger::Refused),
            empty_write: Some(LunWrite::Protected),
            pattern: Some(LunPattern::Kept),
        };
        change(&mut plan);
        let findings = against_plan(&plan, Ok(&lun));
        findings.iter().find(|finding| finding.check == check).expect("the check is made").outcome
    }

    #[test]
    fn what_is_not_as_planned_fails() {
        for (check, change) in [
            ("plan-proof", (|plan| plan.proof = LunProof::None) as fn(&mut PlannedLun)),
            ("plan-capacity", |plan| plan.capacity = Bytes(1)),
            ("plan-access", |plan| plan.is_read_only = true),
            ("plan-secret", |plan| plan.stranger = Some(LunStranger::LetIn)),
            ("plan-read-only", |plan| plan.empty_write = Some(LunWrite::Taken)),
            ("plan-pattern", |plan| plan.pattern = Some(LunPattern::Lost("other".to_owned()))),
        ] {
            assert_eq!([outcome(check, |_| {}), outcome(check, change)], [Pass, Fail], "{check}");
        }
        let silent = |plan: &mut PlannedLun| {
            plan.stranger = Some(LunStranger::Unknown("no answer".to_owned()));
            plan.empty_write = Some(LunWrite::Unknown("no answer".to_owned()));
        };
        assert_eq!(outcome("plan-secret", silent), CannotJudge);
        assert_eq!(outcome("plan-read-only", silent), CannotJudge);
        let taken = |plan: &mut PlannedLun| plan.pattern = Some(LunPattern::NotBlank);
        assert_eq!(outcome("plan-pattern", taken), CannotJudge);
    }

    #[test]
    fn a_machine_that_is_not_let_in_judges_nothing() {
        let plan = PlannedLun {
            name: "lun".to_owned(),
            proof: LunProof::None,
            capacity: Bytes(1),
            is_read_only: true,
            stranger: None,
            empty_write: None,
            pattern: None,
        };
        let of = |refusal: &LunRefusal| {
            let findings = against_plan(&plan, Err(refusal));
            assert_eq!(findings.len(), 1);
            findings[0].outcome
        };
        let why = "the target refuses".to_owned();
        assert_eq!(of(&LunRefusal::NotFromHere(why.clone())), CannotJudge);
        assert_eq!(of(&LunRefusal::Refused(why)), Fail);
    }
}
