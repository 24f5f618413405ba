//! The prediction of `simulate` for one run, read from its report.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::runs::{PublishedQuantity, PublishedRun};
use crate::folder;
use xtask::failure::Failure;
use xtask::shell;

/// The report of a simulated run.
pub(super) struct PredictedRun(Value);

impl PredictedRun {
    /// Simulates a published run with its files in `within`.
    pub(super) fn of(run: &PublishedRun, within: &Path) -> Result<Self, Failure> {
        Self::simulated(within, (run.plan, run.array), run.options, run.changes)
    }

    /// Simulates a plan, given as its text, on an array that ships, with its files in `within`;
    /// `changes` are what differs from the array's file.
    pub(super) fn simulated(
        within: &Path,
        (text, array): (&str, &str),
        options: &[&str],
        changes: &[&str],
    ) -> Result<Self, Failure> {
        let (plan, out) = (within.join("plan.toml"), within.join("run"));
        fs::write(&plan, text).map_err(|error| failed(&plan, &error))?;
        folder::remove(&out)?;
        let program = shell::root().join("target/release/plimsoll");
        let (program, plan) = (program.display().to_string(), plan.display().to_string());
        let to = out.display().to_string();
        let fixed = [&program, "--quiet", "simulate", &plan, "--array", array, "-o", &to];
        let mut words = [&fixed, options].concat();
        let mut report = out.join("report.json");
        if !changes.is_empty() {
            words.push("--what-if");
            words.extend(changes);
            report = out.join("what-if-01").join("report.json");
        }
        // The status is that of the verdict, which is not asked for here.
        let output = shell::command(&words).output().map_err(|error| failed(&report, &error))?;
        let text = fs::read(&report).map_err(|error| {
            let said = String::from_utf8_lossy(&output.stderr);
            Failure::new(format!("`{}`: {error}: {said}", words.join(" ")))
        })?;
        let report = serde_json::from_slice(&text);
        Ok(Self(report.map_err(|error| Failure::new(error.to_string()))?))
    }

    /// A figure of it; `before` are the runs before it, by name.
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

    fn iops(&self) -> Option<f64> {
        self.0["achieved_transactional_iops"].as_f64()
    }

    /// Mean latency of requests of these kinds, in milliseconds.
    fn mean(&self, kinds: &[&str]) -> Option<f64> {
        let series = &self.0["sum"]["series"];
        let (mut count, mut total) = (0.0, 0.0);
        for kind in kinds {
            let requests = series[kind]["count"].as_f64().unwrap_or(0.0);
            count += requests;
            total += requests * series[kind]["average_ms"].as_f64().unwrap_or(0.0);
        }
        (count > 0.0).then_some(total / count)
    }

    /// MiB per second of passes over all databases at the same time.
    fn pace(&self, passes: &str) -> Option<f64> {
        let passes = self.0[passes].as_array()?;
        let paces = passes.iter().map(|pass| {
            let bytes = pass["bytes"].as_f64()?;
            Some(bytes / f64::from(1 << 20) / (pass["elapsed_ns"].as_f64()? / 1e9))
        });
        paces.sum()
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.display()))
}
