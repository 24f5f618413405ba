//! A proof as JSON.

use serde_json::{Value, json};

use super::claim::{Claim, Outage, Remedy};
use super::proof::Proof;
use crate::design::{DesignEdit, not_sized};

/// The answer `design_proof`.
pub fn proof_json(proof: &Proof) -> Value {
    let claims: Vec<Value> = proof.claims.iter().map(claim_json).collect();
    let remedy = proof.remedy.as_ref().map(remedy_json);
    let (headline, _) = proof.title_and_tone();
    report::answer(
        "design_proof",
        json!({
            "title": proof.title,
            "assumption": proof.assumption,
            "design": proof.design,
            "headline": headline,
            "exit_code": proof.ruling().exit_code(),
            "verdict": Proof::verdict(proof.ruling()),
            "not_sized": not_sized(proof.has_unsized_processors),
            "uncertainty_percent": proof.uncertainty_percent,
            "formulas_disk_load_percent": proof.disk_load.map(|load| load * 100.0),
            "violations": proof.violations,
            "claims": claims,
            "remedy": remedy,
            "edits": proof.edits.iter().map(DesignEdit::json).collect::<Vec<_>>(),
        }),
    )
}

fn remedy_json(of: &Remedy) -> Value {
    json!({
        "edit": of.edit,
        "effect": of.effect,
        "tried": of.tried,
        "certain": of.is_certain,
    })
}

fn outage_json(of: &Outage) -> Value {
    json!({
        "databases": of.databases,
        "longest_ns": of.longest_ns,
        "allowed_ns": of.allowed_ns,
        "because": of.because(),
    })
}

fn claim_json(of: &Claim) -> Value {
    json!({
        "claim": of.name,
        "worst_case": of.worst,
        "cases": of.cases,
        "state": of.state.name(),
        "formulas": if of.formulas_hold { "holds" } else { "fails" },
        "narrow": of.is_narrow,
        "reads_ms": of.reads_ms,
        "worst_minute_reads_ms": of.worst_minute_ms,
        "disks_busy_percent": of.disks_busy * 100.0,
        "excess_percent": of.excess.map(|excess| excess * 100.0),
        "because": of.because,
        "disagreement": of.disagreement,
        "remedy": of.remedy.as_ref().map(remedy_json),
        "redundant_after_ns": of.redundant_after_ns,
        "verdict": report::outcome_name(of.ruling()),
        "outage": of.outage.as_ref().map(outage_json),
    })
}
