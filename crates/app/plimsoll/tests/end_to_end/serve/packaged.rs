//! The alerts and the dashboard that packages bring: every query asks for metrics that there are.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use super::http::{Request, Server};
use super::monitored::Prometheus;
use super::{live_run, two_runs, wait_for};

const RULES: &str = include_str!("../../../../../../packaging/prometheus/plimsoll.rules.yml");
const DASHBOARD: &str = include_str!("../../../../../../packaging/grafana/plimsoll.json");

/// Names of metrics in a text.
fn metrics(text: &str) -> BTreeSet<&str> {
    let is_of_name = |of: char| of.is_ascii_lowercase() || of.is_ascii_digit() || of == '_';
    let parts = text.split(|of| !is_of_name(of));
    parts.filter(|part| part.starts_with("plimsoll_")).collect()
}

/// The queries of the dashboard.
fn queries() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect()
}

/// A query, percent-encoded for an address.
fn encoded(query: &str) -> String {
    query.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02X}"))
}

#[test]
fn alerts_and_panels_ask_for_metrics_that_there_are() {
    let scene = two_runs("serve-packaged");
    let server = Server::start(&scene, &["."]);
    let id = live_run(&scene, &server);
    let named = metrics(RULES).union(&metrics(DASHBOARD)).copied().collect::<BTreeSet<_>>();
    assert!(named.len() > 10, "{named:?}");
    let mut missing = Vec::new();
    wait_for("every metric", || {
        let scraped = server.get("/metrics").expect(200).body;
        let there = metrics(&scraped);
        missing = named.iter().filter(|name| !there.contains(**name)).copied().collect();
        missing.is_empty().then_some(())
    });
    if let Some(prometheus) = Prometheus::start(&scene, &server) {
        for query in queries() {
            wait_for(&query, || prometheus.value(&encoded(&query)));
        }
        let rules = scene.path("plimsoll.rules.yml");
        scene.write("plimsoll.rules.yml", RULES.as_bytes());
        if let Ok(output) = Command::new("promtool").args(["check", "rules"]).arg(&rules).output() {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    server.ask(&Request::post(&format!("/stop/{id}"), "").token(&server.token)).expect(303);
}
