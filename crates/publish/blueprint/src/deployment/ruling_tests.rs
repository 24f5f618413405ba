//! A deployment is judged by the range in which the true figures may be.

use rehearsal::{
    HostRow, Judgement, Limits, PlayedDeployment, PlayedHost, PlayedRules, RecoveryFigures,
    RowFigures, UsageShares,
};
use serde_json::Value;
use units::Nanos;

use super::{PlayedReport, deployment_json, deployment_text};

/// Text and JSON of a deployment whose reads take as long as each seed says.
fn told(reads_ms: &[f64], inactive: usize) -> (String, Value) {
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
    let mut stretches = rehearsal::timeline(&deployment, &[], Nanos::from_secs(60));
    stretches[0].duties = vec![vec![rehearsal::Duty::Idle]; inactive];
    let judgements: Vec<Judgement> = reads_ms.iter().map(|ms| judgement(*ms, inactive)).collect();
    let report = PlayedReport {
        maintenance_pause: None,
        name: "mail",
        array: "a shelf",
        assumption: None,
        uncertainty_percent: 25.0,
        deployment: &deployment,
        stretches: &stretches,
        occurrences: &[occurrence],
        limits: Limits { reads_ms: LIMIT_MS, log_ms: 10.0, reached: 0.95 },
        judgements: &judgements,
    };
    (deployment_text(&report, &[], report::TEXT_WIDTH), deployment_json(&report, &[]))
}

const LIMIT_MS: f64 = 20.0;

fn judgement(reads_ms: f64, inactive: usize) -> Judgement {
    let iops = 1_000.0 / reads_ms;
    let row = HostRow {
        host: 0,
        stretch: 0,
        span: (Nanos::ZERO, Nanos::from_secs(60)),
        played: Nanos::from_secs(60),
        is_degraded: false,
        active: 1,
        passive: 0,
        settled: RowFigures { reads_ms: Some(reads_ms), iops, ..RowFigures::default() },
        is_judged: true,
        worst: Some((Nanos::ZERO, 2.0 * reads_ms)),
        usage: UsageShares::default(),
        copies: Vec::new(),
    };
    let breach = rehearsal::Breach {
        row: 0,
        text: format!("database reads of EX01 take {reads_ms} ms, limit 20 ms"),
        excess: reads_ms / LIMIT_MS - 1.0,
        limit: row.usage.limit(),
    };
    let lost = RecoveryFigures { occurrence: 0, inactive, redundant_after: None };
    Judgement {
        rows: vec![row],
        breaches: Some(breach).filter(|of| of.excess > 0.0).into_iter().collect(),
        recoveries: if inactive > 0 { vec![lost] } else { Vec::new() },
    }
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
        let (text, json) = told(&[reads_ms], inactive);
        assert!(text.contains(headline), "{reads_ms}: {text}");
        assert_eq!(json["verdict"], verdict, "{reads_ms}");
    }
}

/// A database without an active copy outweighs a latency near its limit.
#[test]
fn the_reason_for_the_verdict_comes_first() {
    let (text, _) = told(&[20.2], 12);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let reason = flat.find("Fails because 12 databases had no active copy");
    let latency = flat.find("database reads of EX01 take 20.2 ms");
    assert!(reason.is_some() && reason < latency, "{text}");
    assert!(!told(&[20.2], 0).0.contains("no active copy"));
}

/// The slowest minute is not judged, and a kept limit limits nothing.
#[test]
fn the_headline_has_a_number_that_was_judged() {
    let headline = |reads_ms, inactive| {
        let (text, _) = told(&[reads_ms], inactive);
        let line = text.lines().find(|line| line.starts_with("SIMULATED ")).unwrap_or_default();
        (line.to_owned(), text.contains("limit: "))
    };
    let pass = "SIMULATED PASS  15.0 ms mean of reads on the slowest host".to_owned();
    assert_eq!(headline(15.0, 0), (pass, false));
    let fail = "SIMULATED FAIL  32.0 ms mean of reads on the slowest host".to_owned();
    assert_eq!(headline(32.0, 0), (fail, true));
    let inactive =
        "SIMULATED FAIL  2 databases without an active copy, for 1 min and to the end".to_owned();
    assert_eq!(headline(15.0, 2), (inactive, false));
}

/// Headline, sentences and tables speak of all seeds, not of the first.
#[test]
fn a_deployment_with_several_seeds_shows_figures_of_all_of_them() {
    let (text, json) = told(&[10.0, 40.0, 12.5], 0);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "40.0 ms mean of reads on the slowest host, worst of 3 seeds",
        "80.0 ms mean of reads, not judged; EX01 (seed 2 of 3): normal; limit: ",
        "database reads of EX01 take 40 ms, limit 20 ms (seed 2 of 3); the ",
        // Means of the three seeds, with their intervals.
        " 68 +- ",
        " 20.8 +- ",
    ] {
        assert!(flat.contains(part), "{part}: {text}");
    }
    assert!(!flat.contains("active nowhere"), "{text}");
    let broken = &json["broken"][0];
    assert_eq!((&broken["seed"], &broken["row"]), (&Value::from(1), &Value::from(0)));
    assert_eq!(json["rows"][0]["worst_minute_reads_ms"], 80.0);
    assert_eq!(json["rows"][0]["iops_over_seeds"].as_f64().map(f64::round), Some(68.0));
    let (text, _) = told(&[10.0], 0);
    assert!(!text.contains("(seed") && !text.contains(" seeds"), "{text}");
}
