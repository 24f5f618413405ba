//! Outcome of a run as reported by the program itself: exit status, journal, report, messages.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;

use serde_json::Value;

/// Name of the rule on processor time that other programs took.
const OTHERS: &str = "other-programs";

/// How a run ended.
pub(crate) enum Ending {
    /// The run ended by itself or by a signal.
    Exited(ExitStatus),
    /// The run did not end in time; for each thread, where it waits in the kernel.
    Overdue(String),
}

/// The observed outcome of a run.
pub(crate) struct Observed {
    /// Exit status; `None` if the run did not exit by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether Linux kept the process, which had ended, until the storage answered.
    pub was_kept: bool,
    /// Where its threads waited in the kernel, if it did not end in time.
    pub waits: Option<String>,
    /// Requests in which a fault was injected.
    pub injected: u64,
    /// The texts of the issues in the journal, with the names of their files.
    pub issues: Vec<String>,
    /// The rules that the run failed.
    pub failed_rules: Vec<String>,
    /// Whether other programs took CPU time from the run.
    pub is_beside_others: bool,
    /// Reasons for the verdict, or the program's output before it measured anything.
    pub meaning: Vec<String>,
}

impl Observed {
    /// The outcome of a run with its output in `folder`, which printed `messages` to standard
    /// error.
    pub(crate) fn of(ending: Ending, messages: &str, folder: &Path) -> Self {
        let journal = fs::read(folder.join("record.jsonl")).unwrap_or_default();
        let report = read_json(&folder.join("report.json"));
        let mut meaning: Vec<_> = texts(&report["meaning"]).collect();
        if meaning.is_empty() {
            meaning = messages.lines().map(str::to_owned).collect();
        }
        let (code, signal, waits) = match ending {
            Ending::Exited(status) => (status.code(), status.signal(), None),
            Ending::Overdue(waits) => (None, None, Some(waits)),
        };
        Self {
            code,
            signal,
            waits,
            was_kept: false,
            injected: 0,
            issues: issues(&String::from_utf8_lossy(&journal)),
            failed_rules: rules(&report, &["fail"]),
            is_beside_others: rules(&report, &["warning", "fail"]).contains(&OTHERS.to_owned()),
            meaning,
        }
    }

    /// The verdict in words.
    pub(crate) fn verdict(&self) -> &'static str {
        match self.code {
            Some(0) => "pass",
            Some(1) => "fail",
            Some(2) => "cannot judge",
            Some(_) => "broken",
            None if self.signal.is_some() => "killed",
            None => "does not end",
        }
    }

    /// Whether an issue or a message names a file with this extension.
    pub(crate) fn names(&self, extension: &str) -> bool {
        let mut said = self.issues.iter().chain(&self.meaning);
        said.any(|text| text.contains(extension))
    }

    /// The findings, most significant first.
    pub(crate) fn named(&self) -> String {
        if let Some(waits) = &self.waits {
            return waits.clone();
        }
        if let Some(signal) = self.signal {
            return format!("signal {signal}");
        }
        if let Some(issue) = self.issues.first() {
            return issue.clone();
        }
        if !self.failed_rules.is_empty() {
            return self.failed_rules.join(", ");
        }
        self.meaning.join(" ")
    }
}

fn issues(journal: &str) -> Vec<String> {
    journal
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|event: &Value| event["event"] == "issue")
        .map(|issue| told(&issue))
        .collect()
}

fn told(issue: &Value) -> String {
    let text = issue["text"].as_str().unwrap_or_default();
    match issue["file"].as_str() {
        Some(file) if !text.contains(file) => format!("{file}: {text}"),
        _ => text.to_owned(),
    }
}

/// The rules with one of these outcomes.
fn rules(report: &Value, outcomes: &[&str]) -> Vec<String> {
    let findings = report["findings"].as_array().into_iter().flatten();
    let mut rules = Vec::new();
    for finding in findings {
        let outcome = finding["outcome"].as_str();
        if outcome.is_some_and(|outcome| outcomes.contains(&outcome)) {
            rules.extend(finding["rule"].as_str().map(str::to_owned));
        }
    }
    rules
}

fn texts(list: &Value) -> impl Iterator<Item = String> {
    let texts = list.as_array().into_iter().flatten();
    texts.filter_map(|text| text.as_str().map(str::to_owned))
}

/// Parses a JSON file; null if the file does not exist.
fn read_json(path: &Path) -> Value {
    let bytes = fs::read(path).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}
