//! A run in one line: what lists, searches and metrics show of it.

use record::{Phase, RunRecord, Series};
use serde_json::{Value, json};
use verdict::{Ruling, Verdict};

/// What is kept in memory of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunLine {
    /// Its name; empty in records of earlier releases.
    pub name: String,
    /// Words that it can be found by.
    pub tags: Vec<String>,
    /// The person's own words for it.
    pub description: String,
    /// The machine that made the load.
    pub machine: String,
    /// The kind of test.
    pub test: &'static str,
    /// When it began, where that is known.
    pub started_ns: Option<u64>,
    /// The same in ISO 8601.
    pub started: Option<String>,
    /// What it came to, in a word or two.
    pub verdict: String,
    /// Class of the page's style for that.
    pub tone: &'static str,
    /// Transactional IOPS that were achieved.
    pub iops: Option<f64>,
    /// Mean latency of database reads.
    pub read_ms: Option<f64>,
    /// Mean latency of log writes.
    pub log_write_ms: Option<f64>,
}

/// Of a run that has ended.
pub(crate) fn of(run: &RunRecord, verdict: &Verdict) -> RunLine {
    let tone = match verdict.outcome {
        Ruling::Pass => "pass",
        Ruling::Fail => "fail",
        Ruling::Warn | Ruling::CannotJudge => "warn",
    };
    RunLine { verdict: report::verdict_name(run, verdict), tone, ..figures(run) }
}

/// Of a run that goes on.
pub(crate) fn of_live(run: &RunRecord) -> RunLine {
    RunLine { verdict: "Live".to_owned(), tone: "live", ..figures(run) }
}

fn figures(run: &RunRecord) -> RunLine {
    let start = &run.start;
    RunLine {
        name: start.name.clone(),
        tags: start.tags.clone(),
        description: start.description.clone(),
        machine: start.machine.name.clone(),
        test: start.test.name(),
        started_ns: report::started_ns(run),
        started: report::started_iso(run),
        iops: report::achieved_iops(run),
        read_ms: report::mean_ms(run, Series::DatabaseRead),
        log_write_ms: report::mean_ms(run, Series::LogWrite),
        ..RunLine::default()
    }
}

impl RunLine {
    /// Whether every word of `query` is somewhere in what the list shows; case does not count.
    pub(crate) fn matches(&self, id: &str, query: &str) -> bool {
        let shown = [id, &self.name, &self.description, &self.machine, self.test, &self.verdict];
        let started = self.started.as_deref().unwrap_or_default();
        let text = format!("{} {} {started}", shown.join(" "), self.tags.join(" ")).to_lowercase();
        query.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }

    /// For programs, with the run's name in requests.
    pub(crate) fn json(&self, id: &str) -> Value {
        json!({
            "id": id,
            "name": self.name,
            "tags": self.tags,
            "description": self.description,
            "machine": self.machine,
            "test": self.test,
            "started": self.started,
            "verdict": self.verdict,
            "achieved_transactional_iops": self.iops,
            "read_latency_ms": self.read_ms,
            "log_write_latency_ms": self.log_write_ms,
        })
    }
}

/// Whether a run is measured under load, so that rates and latencies of it mean something.
pub(crate) const fn is_load(phase: Phase) -> bool {
    matches!(phase, Phase::Warm | Phase::Tune | Phase::Measure)
}

#[cfg(test)]
mod tests {
    use super::RunLine;

    #[test]
    fn every_word_of_a_search_must_be_somewhere() {
        let run = RunLine {
            name: "Array A".to_owned(),
            tags: vec!["rack-3".to_owned()],
            verdict: "Fail".to_owned(),
            ..RunLine::default()
        };
        assert!(run.matches("runs/one", ""));
        assert!(run.matches("runs/one", "array RACK-3 fail"));
        assert!(run.matches("runs/one", "runs/"));
        assert!(!run.matches("runs/one", "array rack-4"));
    }
}
