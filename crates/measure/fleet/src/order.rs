//! The fleet plan: which hosts run which plan together, and how long each wait may be.

pub(crate) mod duty;
pub(crate) mod event;
#[cfg(test)]
mod event_tests;
pub(crate) mod placement;
mod written;

use std::fmt;

use serde::Deserialize;
use units::Nanos;

use crate::{HEARTBEAT, Timing};
use event::{CopySet, PlannedEvent};
use written::{HostNames, WrittenDatabase, WrittenEvent};

/// Default load of a passive copy in percent of an active one's: the documented need of Exchange
/// 2013 and later.
const PASSIVE_PERCENT: u32 = 50;

/// A checked fleet plan. The hosts' own plans are kept as text: each agent parses its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetOrder {
    /// Name of the fleet run.
    pub name: String,
    /// The hosts, in document order; at least one.
    pub hosts: Vec<HostOrder>,
    /// Whether two hosts may use the same folders because these are on shared storage.
    pub shared_storage: bool,
    /// Whether hosts warm up one after the other, each while those before it hold their load.
    pub warms_up_in_turns: bool,
    /// Load of a passive copy in percent of an active one's: 0 to 100.
    pub passive_percent: u32,
    /// Databases that have copies on several hosts; may be empty.
    pub databases: Vec<CopySet>,
    /// Deliberate events during the measurement, in time order.
    pub events: Vec<PlannedEvent>,
    /// Bounds of all waits.
    pub timing: Timing,
}

/// One host and its plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostOrder {
    /// Name of the host, or the id of its agent.
    pub host: String,
    /// Path of its plan, as the document has it.
    pub plan: String,
}

/// All faults of a fleet plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderError {
    file: String,
    faults: Vec<String>,
}

impl fmt::Display for OrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> =
            self.faults.iter().map(|fault| format!("{}: {fault}", self.file)).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for OrderError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FleetDocument {
    #[serde(default)]
    name: String,
    #[serde(default)]
    shared_storage: bool,
    #[serde(default)]
    timing: WrittenTiming,
    #[serde(default)]
    host: Vec<WrittenHost>,
    warm_up: Option<String>,
    passive_percent: Option<u32>,
    #[serde(default)]
    database: Vec<WrittenDatabase>,
    #[serde(default)]
    event: Vec<WrittenEvent>,
}

/// Empty strings are missing keys, so that all of them are reported together.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WrittenHost {
    host: String,
    plan: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WrittenTiming {
    suspect: Option<String>,
    lost: Option<String>,
    gather: Option<String>,
    prepare: Option<String>,
    warm_up: Option<String>,
    lead: Option<String>,
    finish: Option<String>,
    collect: Option<String>,
}

impl FleetOrder {
    /// Reads a fleet plan from TOML `text`; `file` is the name that faults print.
    pub fn parse(file: &str, text: &str) -> Result<Self, OrderError> {
        let mut faults = Vec::new();
        let document: FleetDocument = toml::from_str(text).map_err(|error| OrderError {
            file: file.to_owned(),
            faults: vec![error.to_string().trim_end().to_owned()],
        })?;
        let timing = document.timing.checked(&mut faults);
        faults.extend(document.missing());
        if let Some(fault) = plan::name_fault(&document.name).filter(|_| !document.name.is_empty())
        {
            faults.push(format!("name = {:?} {fault}", document.name));
        }
        faults.extend(repeated(&document.host));
        let passive_percent = document.passive_percent.unwrap_or(PASSIVE_PERCENT);
        if passive_percent > 100 {
            faults.push(format!(
                "passive_percent = {passive_percent} is more than the load of an active copy, 100"
            ));
        }
        let warms_up_in_turns = in_turns(document.warm_up.as_deref(), &mut faults);
        let names: Vec<String> = document.host.iter().map(|of| of.host.clone()).collect();
        let databases = written::copies(&document.database, HostNames(&names), &mut faults);
        let events = written::events(&document.event, &databases, HostNames(&names), &mut faults);
        if !faults.is_empty() {
            return Err(OrderError { file: file.to_owned(), faults });
        }
        Ok(Self {
            name: document.name,
            hosts: document.host.into_iter().map(HostOrder::from).collect(),
            shared_storage: document.shared_storage,
            warms_up_in_turns,
            passive_percent,
            databases,
            events,
            timing,
        })
    }

    /// Names of the hosts, in the order of the plan.
    pub fn names(&self) -> Vec<&str> {
        self.hosts.iter().map(|of| of.host.as_str()).collect()
    }

    /// Events that come too late for a measurement of `measured`, in sentences; empty if all take
    /// place.
    pub fn late_events(&self, measured: Nanos) -> Vec<String> {
        written::beyond(&self.events, &self.names(), measured)
    }

    /// Returns a fleet plan with every key explained, ready to edit.
    pub fn example() -> &'static str {
        include_str!("example.toml")
    }
}

impl FleetDocument {
    /// Sentences about all required keys that are missing, each with an example.
    fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        if self.name.is_empty() {
            missing.push("no name: write one, such as name = \"dag1\"".to_owned());
        }
        if self.host.is_empty() {
            let example = "[[host]]\nhost = \"EX01\"\nplan = \"ex01.toml\"";
            missing.push(format!("no [[host]]: name each host with its plan, as in\n{example}"));
        }
        for (number, WrittenHost { host, plan }) in (1..).zip(&self.host) {
            if host.is_empty() {
                missing.push(format!(
                    "[[host]] number {number} has no host: write its name, such as host = \"EX01\""
                ));
            }
            if plan.is_empty() {
                missing.push(format!(
                    "[[host]] number {number} has no plan: write the path of its plan, such as \
                     plan = \"ex01.toml\""
                ));
            }
        }
        missing
    }
}

impl From<WrittenHost> for HostOrder {
    fn from(of: WrittenHost) -> Self {
        Self { host: of.host, plan: of.plan }
    }
}

/// Whether hosts warm up in turns; together by default.
fn in_turns(written: Option<&str>, faults: &mut Vec<String>) -> bool {
    match written {
        None | Some("together") => false,
        Some("in turns") => true,
        Some(other) => {
            faults.push(format!("warm_up = {other:?}: write \"together\" or \"in turns\""));
            false
        }
    }
}

/// Hosts that are named twice.
fn repeated(hosts: &[WrittenHost]) -> Vec<String> {
    let mut names: Vec<String> = hosts.iter().map(|of| of.host.to_lowercase()).collect();
    names.retain(|name| !name.is_empty());
    names.sort();
    let mut twice: Vec<&str> =
        names.windows(2).filter(|two| two[0] == two[1]).map(|two| two[0].as_str()).collect();
    twice.dedup();
    twice
        .into_iter()
        .map(|name| format!("host {name} is named twice: a host runs one plan at a time"))
        .collect()
}

/// Reads durations and records the invalid ones.
struct TimingSpans<'a> {
    faults: &'a mut Vec<String>,
}

impl TimingSpans<'_> {
    fn of(&mut self, key: &str, written: Option<&str>, default: Nanos) -> Nanos {
        let Some(text) = written else { return default };
        plan::parse_duration(text).filter(|span| span.0 > 0).unwrap_or_else(|| {
            self.faults.push(format!("timing.{key} = {text:?} is no time: write it as \"2s\""));
            default
        })
    }
}

impl WrittenTiming {
    fn checked(&self, faults: &mut Vec<String>) -> Timing {
        let default = Timing::default();
        let mut spans = TimingSpans { faults };
        let timing = Timing {
            suspect: spans.of("suspect", self.suspect.as_deref(), default.suspect),
            lost: spans.of("lost", self.lost.as_deref(), default.lost),
            gather: spans.of("gather", self.gather.as_deref(), default.gather),
            prepare: spans.of("prepare", self.prepare.as_deref(), default.prepare),
            warm_up: spans.of("warm_up", self.warm_up.as_deref(), default.warm_up),
            lead: spans.of("lead", self.lead.as_deref(), default.lead),
            finish: spans.of("finish", self.finish.as_deref(), default.finish),
            collect: spans.of("collect", self.collect.as_deref(), default.collect),
        };
        let least = Nanos(2 * HEARTBEAT.0);
        if timing.suspect < least || timing.suspect >= timing.lost {
            faults.push(format!(
                "timing: suspect ({}) must be at least {least}, two heartbeats of an agent, and \
                 less than lost ({})",
                timing.suspect, timing.lost
            ));
        }
        timing
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::FleetOrder;

    #[test]
    fn the_example_is_a_fleet_plan() {
        let order =
            FleetOrder::parse("fleet.toml", FleetOrder::example()).expect("a sound example");
        assert_eq!(order.hosts.len(), 2);
        assert_eq!(order.timing, crate::Timing::default());
    }

    #[test]
    fn all_missing_keys_are_named_at_once_with_an_example() {
        let text = "[[host]]\nplan = \"a.toml\"\n[[host]]\nhost = \"EX02\"\n";
        let error = FleetOrder::parse("f.toml", text).expect_err("three faults").to_string();
        let wanted = "f.toml: no name: write one, such as name = \"dag1\"\n\
                      f.toml: [[host]] number 1 has no host: write its name, such as host = \
                      \"EX01\"\n\
                      f.toml: [[host]] number 2 has no plan: write the path of its plan, such as \
                      plan = \"ex01.toml\"";
        assert_eq!(error, wanted);
    }

    #[test]
    fn all_faults_are_named_at_once() {
        let text = "name = \"a/b\"\nwarm_up = \"alone\"\n[timing]\nsuspect = \"0.9s\"\n\
                    lead = \"soon\"\n\
                    [[host]]\nhost = \"EX01\"\nplan = \"a\"\n\
                    [[host]]\nhost = \"ex01\"\nplan = \"b\"\n";
        let error = FleetOrder::parse("f.toml", text).expect_err("four faults").to_string();
        for part in [
            "which no folder's name can",
            "must be at least 1.0 s",
            "\"soon\" is no time",
            "ex01 is named twice",
            "warm_up = \"alone\"",
        ] {
            assert!(error.contains(part), "{part} is missing in:\n{error}");
        }
    }

    #[test]
    fn an_unknown_key_and_no_host_are_faults() {
        let unknown = FleetOrder::parse("f.toml", "name = \"a\"\nhots = 1\n");
        assert!(unknown.expect_err("an unknown key").to_string().contains("hots"));
        let none = FleetOrder::parse("f.toml", "name = \"a\"\n");
        assert!(none.expect_err("no host").to_string().contains("[[host]]"));
    }

    #[test]
    fn times_are_read_with_units() {
        let text = "name = \"a\"\n[timing]\nlost = \"20s\"\n\
                    [[host]]\nhost = \"x\"\nplan = \"p\"\n";
        let order = FleetOrder::parse("f.toml", text).expect("sound");
        assert_eq!(order.timing.lost, Nanos::from_secs(20));
    }
}
