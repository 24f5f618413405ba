//! The prediction of `simulate` for one run, read from the reports of its hosts.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::runs::{PublishedQuantity, PublishedRun};
use crate::folder;
use xtask::failure::Failure;
use xtask::shell;

/// Reports of a simulated run, one per host.
pub(super) struct PredictedRun(Vec<Value>);

/// The two servers of a published run, with one database each.
const SERVERS: [&str; 2] = ["EX01", "EX02"];

impl PredictedRun {
    /// Simulates a published run with its files in `within`.
    pub(super) fn of(run: &PublishedRun, within: &Path) -> Result<Self, Failure> {
        Self::simulated(within, (run.plan, run.array), run.options, run.changes)
    }

    /// Simulates a plan, given as text, on an array that ships, with its files in `within`;
    /// `changes` override the array's file.
    pub(super) fn simulated(
        within: &Path,
        (text, array): (&str, &str),
        options: &[&str],
        changes: &[&str],
    ) -> Result<Self, Failure> {
        let plan = within.join("plan.toml");
        fs::write(&plan, text).map_err(|error| failed(&plan, &error))?;
        let mut words = options.to_vec();
        let mut report = "report.json";
        if !changes.is_empty() {
            words.push("--what-if");
            words.extend(changes);
            report = "what-if-01/report.json";
        }
        Self::ran(within, (&plan, array), &words, &[report])
    }

    /// Simulates a published run of two databases as a fleet: two servers with one database each on
    /// a shared array.
    pub(super) fn of_fleet(run: &PublishedRun, within: &Path) -> Result<Self, Failure> {
        let own = run.plan.replace("count = 2", "count = 1");
        if own == run.plan {
            return Err(Failure::new(format!("{}: it has no two databases", run.name)));
        }
        let mut fleet = "name = \"published\"\nshared_storage = true\n".to_owned();
        for server in SERVERS {
            let name = format!("{server}.toml");
            let path = within.join(&name);
            fs::write(&path, &own).map_err(|error| failed(&path, &error))?;
            fleet.extend(["[[host]]\nhost = \"", server, "\"\nplan = \"", &name, "\"\n"]);
        }
        let path = within.join("fleet.toml");
        fs::write(&path, fleet).map_err(|error| failed(&path, &error))?;
        let reports = SERVERS.map(|server| format!("hosts/{server}/report.json"));
        let reports = reports.each_ref().map(String::as_str);
        Self::ran(within, (&path, run.array), run.options, &reports)
    }

    /// Runs `simulate` for a document on an array, with the additional arguments `words`, and reads
    /// its reports.
    fn ran(
        within: &Path,
        (document, array): (&Path, &str),
        words: &[&str],
        reports: &[&str],
    ) -> Result<Self, Failure> {
        let out = within.join("run");
        folder::remove(&out)?;
        let program = shell::root().join("target/release/plimsoll");
        let (program, document) = (program.display().to_string(), document.display().to_string());
        let to = out.display().to_string();
        let fixed = [&program, "--quiet", "simulate", &document, "--array", array, "-o", &to];
        let words = [&fixed, words].concat();
        // The exit status reflects the verdict, which does not matter here.
        let output = shell::command(&words).output().map_err(|error| failed(&out, &error))?;
        let mut all = Vec::new();
        for name in reports {
            let text = fs::read(out.join(name)).map_err(|error| {
                let said = String::from_utf8_lossy(&output.stderr);
                Failure::new(format!("`{}`: {name}: {error}: {said}", words.join(" ")))
            })?;
            let report = serde_json::from_slice(&text);
            all.push(report.map_err(|error| Failure::new(error.to_string()))?);
        }
        Ok(Self(all))
    }

    /// Returns a figure of the prediction; `before` are the preceding predictions, by name of the
    /// run.
    pub(super) fn figure(
        &self,
        quantity: PublishedQuantity,
        before: &[(&str, Self)],
    ) -> Result<f64, Failure> {
        let found = match quantity {
            PublishedQuantity::Iops => self.iops(),
            PublishedQuantity::IopsOver(name) => {
                let before = before.iter().find(|(of, _)| *of == name);
                let before = before.and_then(|(_, run)| run.iops());
                self.iops().zip(before).map(|(now, before)| now / before)
            }
            PublishedQuantity::ReadMilliseconds => {
                self.mean(&["database_read", "maintenance_read"])
            }
            PublishedQuantity::WriteMilliseconds => self.mean(&["database_write"]),
            PublishedQuantity::LogMilliseconds => self.mean(&["log_write"]),
            PublishedQuantity::BackupMebibytes => self.pace("backups"),
            PublishedQuantity::ChecksumMebibytes => self.pace("checksums"),
        };
        found.ok_or_else(|| Failure::new(format!("the report says no {}", quantity.name())))
    }

    /// Sum over all hosts.
    fn iops(&self) -> Option<f64> {
        let all = self.0.iter().map(|report| report["achieved_transactional_iops"].as_f64());
        all.sum()
    }

    /// Mean latency of requests of these kinds, in milliseconds.
    fn mean(&self, kinds: &[&str]) -> Option<f64> {
        let (mut count, mut total) = (0.0, 0.0);
        for report in &self.0 {
            let series = &report["sum"]["series"];
            for kind in kinds {
                let requests = series[kind]["count"].as_f64().unwrap_or(0.0);
                count += requests;
                total += requests * series[kind]["average_ms"].as_f64().unwrap_or(0.0);
            }
        }
        (count > 0.0).then_some(total / count)
    }

    /// MiB per second of passes that run on all databases at once.
    fn pace(&self, passes: &str) -> Option<f64> {
        let mut sum = 0.0;
        for report in &self.0 {
            for pass in report[passes].as_array()? {
                let (bytes, took_ns) = (pass["bytes"].as_f64()?, pass["elapsed_ns"].as_f64()?);
                sum += bytes / f64::from(1 << 20) / (took_ns / 1e9);
            }
        }
        Some(sum)
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.display()))
}
