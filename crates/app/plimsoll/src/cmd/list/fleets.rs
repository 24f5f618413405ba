//! Fleet runs of a list: one entry each, with the runs of their hosts.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::listed::ListedRun;
use fleets::played;
use fleets::show::is_fleet;

/// A fleet run, with at least one run of its hosts.
pub(super) struct ListedFleet {
    pub folder: PathBuf,
    pub hosts: Vec<ListedRun>,
    /// Its report, or the answer of its simulation.
    report: Option<Value>,
}

/// The folder of the fleet run that a run is a part of.
pub(super) fn fleet_of(run: &ListedRun) -> Option<PathBuf> {
    let hosts = run.folder.parent().filter(|of| of.file_name() == Some(fleet::HOSTS.as_ref()))?;
    hosts.parent().filter(|folder| is_fleet(folder)).map(Path::to_path_buf)
}

impl ListedFleet {
    pub(super) fn new(folder: PathBuf, mut hosts: Vec<ListedRun>) -> Self {
        hosts.sort_by(|one, two| one.folder.cmp(&two.folder));
        let report = played::answer(&folder).or_else(|| {
            let text = fs::read_to_string(folder.join("report.json")).ok()?;
            serde_json::from_str(&text).ok()
        });
        Self { folder, hosts, report }
    }

    /// The host listed first.
    pub(super) fn first(&self) -> &ListedRun {
        &self.hosts[0]
    }

    /// The verdict in its report; `None` without a report.
    pub(super) fn verdict(&self) -> Option<&str> {
        self.member("verdict")
    }

    pub(super) fn verdict_word(&self) -> &'static str {
        word_of(self.verdict())
    }

    /// Whether its hosts were simulated together, so that no host has a verdict alone.
    pub(super) fn is_played(&self) -> bool {
        self.member("kind") == Some("simulated_deployment")
    }

    /// Name of the fleet plan.
    pub(super) fn name(&self) -> &str {
        self.member("name").unwrap_or("-")
    }

    /// Reads and writes per second of all hosts.
    pub(super) fn iops(&self) -> f64 {
        self.hosts.iter().filter_map(|host| report::achieved_iops(&host.record)).sum()
    }

    fn member(&self, name: &str) -> Option<&str> {
        self.report.as_ref()?.get(name)?.as_str()
    }
}

/// A verdict as the list shows it; a word of a later release is no pass.
fn word_of(verdict: Option<&str>) -> &'static str {
    match verdict {
        Some("pass") => "Pass",
        Some("fail") => "Fail",
        Some("simulated_pass") => "Simulated pass",
        Some("simulated_fail") => "Simulated fail",
        Some("simulated_cannot_judge") => "Simulated cannot judge",
        Some(_) => "Cannot judge",
        None => "No report",
    }
}

#[cfg(test)]
mod tests {
    use super::word_of;

    #[test]
    fn a_simulated_deployment_says_so_whatever_its_verdict() {
        for verdict in ["simulated_pass", "simulated_fail", "simulated_cannot_judge"] {
            let word = word_of(Some(verdict));
            assert_eq!(word.to_lowercase().replace(' ', "_"), verdict);
        }
        assert_eq!(word_of(Some("cannot_judge")), "Cannot judge");
    }
}
