//! A deployment is judged by the range in which the true figures may be.

use rehearsal::{
    HostRow, Judgement, Limits, PlayedDeployment, PlayedHost, PlayedRules, RecoveryFigures,
    RowFigures, UsageShares,
};
use units::Nanos;

use super::{PlayedReport, deployment_json, deployment_text};

fn told(reads_ms: f64, inactive: usize) -> (String, String) {
    let row = HostRow {
        host: 0,
        stretch: 0,
        span: (Nanos::ZERO, Nanos::from_secs(60)),
        played: Nanos::from_secs(60),
        is_degraded: false,
        active: 1,
        passive: 0,
        settled: RowFigures { reads_ms: Some(reads_ms), ..RowFigures::default() },
        worst: None,
        usage: UsageShares::default(),
        copies: Vec::new(),
    };
    let lost = RecoveryFigures { occurrence: 0, inactive, redundant_after: None };
    let recoveries = if inactive > 0 { vec![lost] } else { Vec::new() };
    let judgement = Judgement { rows: vec![row], breaches: Vec::new(), recoveries };
    let deployment = PlayedDeployment {
        hosts: vec![PlayedHost { name: "EX01".to_owned(), site: 0, group: 0 }],
        arrays: Vec::new(),
        databases: Vec::new(),
        profiles: Vec::new(),
        rules: PlayedRules::default(),
    };
    let occurrence = rehearsal::Occurrence {
        at: Nanos::ZERO,
        until: None,
        what: rehearsal::Happening::HostLost { host: 0 },
        text: "host-lost=EX01".to_owned(),
        take_over: Vec::new(),
    };
    let stretches = rehearsal::timeline(&deployment, &[], Nanos::from_secs(60));
    let report = PlayedReport {
        name: "mail",
        array: "a shelf",
        uncertainty_percent: 25.0,
        deployment: &deployment,
        stretches: &stretches,
        occurrences: &[occurrence],
        limits: Limits { reads_ms: 20.0, log_ms: 10.0, reached: 0.95 },
        judgements: &[judgement],
    };
    let json = deployment_json(&report)["verdict"].as_str().unwrap_or_default().to_owned();
    (deployment_text(&report), json)
}

/// The rule of simulated runs and of proofs, in text and JSON.
#[test]
fn a_latency_near_its_limit_is_not_judged_in_a_deployment_either() {
    for (reads_ms, inactive, headline, verdict) in [
        (15.0, 0, "SIMULATED PASS", "simulated_pass"),
        (17.6, 0, "SIMULATED CANNOT JUDGE", "simulated_cannot_judge"),
        (23.6, 0, "SIMULATED CANNOT JUDGE", "simulated_cannot_judge"),
        (32.0, 0, "SIMULATED FAIL", "simulated_fail"),
        (15.0, 2, "SIMULATED FAIL", "simulated_fail"),
    ] {
        let (text, json) = told(reads_ms, inactive);
        assert!(text.contains(headline), "{reads_ms}: {text}");
        assert_eq!(json, verdict, "{reads_ms}");
    }
}
