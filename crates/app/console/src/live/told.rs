//! A run for programs that follow it: one JSON object for each event, with only the data that they
//! would show. `docs/json.md` describes them; the journal holds everything.

use std::collections::BTreeMap;

use record::{Event, Finished, Interval, Issue, Phase, Settings, Thresholds};
use serde_json::{Value, json};

use super::latency::SampledLatency;
use super::{Figures, LiveRun};
use crate::events;
use crate::output::{self, is_for_programs};

/// Converts the events of a run to their form for programs.
pub(crate) struct RunTeller {
    run: LiveRun,
    started_epoch_ns: u64,
}

impl RunTeller {
    /// Creates the converter for a run with these settings, started at this time after 1970.
    pub(crate) fn new(settings: Settings, started_epoch_ns: u64) -> Self {
        Self { run: LiveRun::new(settings, BTreeMap::new()), started_epoch_ns }
    }

    /// The form of an event for programs; `None` for most.
    pub(crate) fn told(&mut self, event: &Event) -> Option<Value> {
        self.run.event(event);
        match event {
            Event::Phase(mark) => {
                let members = json!({ "phase": mark.phase, "edge": mark.edge });
                Some(self.event("phase", mark.at_ns, members))
            }
            Event::Interval(interval) => {
                Some(self.event("interval", interval.to_ns, self.interval(interval)))
            }
            Event::Tuned(tuned) => {
                let members = json!({
                    "sessions_per_database": tuned.sessions_per_database,
                    "target_iops": tuned.target_iops,
                });
                Some(self.event("tuned", tuned.at_ns, members))
            }
            Event::Issue(issue) => Some(self.event("issue", issue.at_ns, of_issue(issue))),
            Event::Resumed(resumed) => Some(self.event("resumed", resumed.at_ns, json!({}))),
            Event::Finished(end) => Some(self.event("finished", end.at_ns, of_end(end))),
            _ => None,
        }
    }

    fn event(&self, name: &str, at_ns: u64, members: Value) -> Value {
        let Value::Object(members) = members else { unreachable!("an event has members") };
        events::event(name, self.started_epoch_ns.saturating_add(at_ns), members)
    }

    fn interval(&self, interval: &Interval) -> Value {
        let figures = Figures::of(interval);
        let settings = &self.run.settings;
        let Thresholds { read_average_ns, log_write_average_ns, .. } = settings.thresholds;
        let members = [
            ("phase", json!(interval.phase)),
            ("seconds", json!(seconds(interval.to_ns.saturating_sub(interval.from_ns)))),
            ("left_seconds", json!(self.left_seconds(interval))),
            ("iops", json!(figures.iops())),
            ("target_iops", json!(settings.target_iops)),
            ("reads_per_second", json!(figures.reads_per_second)),
            ("writes_per_second", json!(figures.writes_per_second)),
            ("log_writes_per_second", json!(figures.log_writes_per_second)),
            ("read", latency(figures.read, read_average_ns)),
            ("log_write", latency(figures.log_write, log_write_average_ns)),
            ("other_programs", json!(figures.others)),
        ];
        Value::Object(members.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
    }

    /// Remaining time of the measurement; `None` in other phases or without a fixed length.
    fn left_seconds(&self, interval: &Interval) -> Option<f64> {
        let planned = self.run.planned().filter(|_| interval.phase == Phase::Measure)?;
        Some(planned.saturating_sub(self.run.elapsed(interval.to_ns)).as_secs_f64())
    }
}

fn latency(latency: SampledLatency, limit_ns: u64) -> Value {
    json!({
        "mean_ms": latency.mean_ns.map(|ns| ns / 1e6),
        "slowest_database_ms": latency.slowest_ns.map(|ns| ns / 1e6),
        "waiting": latency.waiting,
        "oldest_waiting_ms": latency.oldest_ns as f64 / 1e6,
        "limit_ms": limit_ns as f64 / 1e6,
    })
}

/// Reports the end of a run as its last event, created here and timed now.
pub(crate) fn tell_end(end: &Finished, quiet: bool) {
    if is_for_programs() && !quiet {
        output::tell(&events::now("finished", of_end(end)));
    }
}

fn of_end(end: &Finished) -> Value {
    json!({ "interrupted": end.interrupted, "reason": end.reason })
}

fn of_issue(issue: &Issue) -> Value {
    json!({
        "severity": issue.severity,
        "issue": issue.kind,
        "database": issue.database,
        "file": issue.file,
        "text": issue.text,
    })
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use record::Event;
    use record::synthetic::Synthetic;

    use super::RunTeller;

    #[test]
    fn programs_are_told_phases_intervals_and_the_end() {
        let events = Synthetic::default().events();
        let Event::Start(start) = &events[0] else { panic!("a journal begins with a start") };
        let mut teller = RunTeller::new(start.settings.clone(), start.started_epoch_ns);
        let told: Vec<_> = events.iter().filter_map(|event| teller.told(event)).collect();
        let of = |name: &str| told.iter().filter(|event| event["event"] == name).count();
        assert_eq!((of("interval"), of("finished")), (47, 1));
        assert!(of("phase") >= 6, "{}", of("phase"));
        let mut intervals = told.iter().filter(|event| event["event"] == "interval");
        let interval = intervals.rfind(|event| event["phase"] == "measure").unwrap();
        assert_eq!((&interval["kind"], &interval["schema"]), (&"event".into(), &1.into()));
        assert_eq!(interval["read"]["limit_ms"], 20.0);
        assert_eq!(interval["left_seconds"], 0.0);
        assert!(interval["iops"].as_f64().unwrap() > 0.0);
        assert!(interval["at"].as_str().unwrap().ends_with('Z'), "{interval}");
    }
}
