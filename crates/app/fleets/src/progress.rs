//! Keeps the progress of a fleet run in a file in its folder, for other programs: `watch` and
//! `serve` show it.

use std::path::Path;

use fleet::{FLEET_JOURNAL, LiveLoad};
use host::is_live;
use serde_json::{Value, json};

use console::documents;
use console::error::CommandError;

/// The file's name in the folder of a fleet run.
const PROGRESS: &str = "progress.json";

/// The stage of a fleet run in words, and the progress of every host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetProgress {
    /// The stage, in words.
    pub stage: String,
    /// The progress of each host.
    pub hosts: Vec<HostProgress>,
}

/// Activity and load of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostProgress {
    /// The host's name.
    pub host: String,
    /// The host's current activity, in words.
    pub state: String,
    /// The load of its run, if it carries one.
    pub load: Option<LiveLoad>,
}

/// Whether a controller is conducting the fleet run in `folder`.
pub fn is_conducted(folder: &Path) -> bool {
    is_live(&folder.join(FLEET_JOURNAL))
}

impl HostProgress {
    /// Whether both are the same host in the same state.
    fn says(&self, other: &Self) -> bool {
        (&self.host, &self.state) == (&other.host, &other.state)
    }

    /// The host with its load, if it carries one.
    fn loaded(&self) -> Option<String> {
        self.load.map(|load| format!("{:<16} {load}", self.host))
    }

    fn json(&self) -> Value {
        json!({ "host": self.host, "state": self.state, "load": self.load })
    }

    fn of(value: &Value) -> Self {
        let load = serde_json::from_value(value["load"].clone()).unwrap_or_default();
        Self { host: word(value, "host"), state: word(value, "state"), load }
    }
}

impl FleetProgress {
    /// Writes the progress into the folder of its run.
    pub(super) fn write(&self, folder: &Path) -> Result<(), CommandError> {
        let text = json!({ "stage": self.stage, "hosts": self.hosts_json() }).to_string();
        Ok(documents::replace(&folder.join(PROGRESS), text.as_bytes())?)
    }

    /// Returns the hosts as JSON for programs.
    pub fn hosts_json(&self) -> Vec<Value> {
        self.hosts.iter().map(HostProgress::json).collect()
    }

    /// Reads the progress of the run in `folder`; `None` if it has not started.
    pub fn read(folder: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(folder.join(PROGRESS)).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        let hosts = value["hosts"].as_array()?.iter().map(HostProgress::of).collect();
        Some(Self { stage: word(&value, "stage"), hosts })
    }

    /// Returns a line for each change since `before`, except loads, which change all the time.
    pub fn news_since(&self, before: &Self) -> Vec<String> {
        let stage = (self.stage != before.stage).then(|| format!("Fleet: {}", self.stage));
        let hosts = self.hosts.iter().filter(|host| !before.hosts.iter().any(|of| of.says(host)));
        stage.into_iter().chain(hosts.map(|of| format!("{}: {}", of.host, of.state))).collect()
    }

    /// Returns a line for each host with a load.
    pub fn loads(&self) -> Vec<String> {
        self.hosts.iter().filter_map(HostProgress::loaded).collect()
    }
}

/// Returns a text member; empty if it is absent or not text.
fn word(of: &Value, key: &str) -> String {
    of[key].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use fleet::LiveLoad;

    use super::{FleetProgress, HostProgress};

    fn progress(stage: &str, doing: [&str; 2]) -> FleetProgress {
        let hosts = ["EX01", "EX02"].into_iter().zip(doing);
        let host = |(host, state): (&str, &str)| {
            let load = (state == "measuring").then_some(LiveLoad {
                span_ns: 1_000_000_000,
                requests: 100,
                read_ns: 2_000_000,
                log_write_ns: 500_000,
            });
            HostProgress { host: host.to_owned(), state: state.to_owned(), load }
        };
        FleetProgress { stage: stage.to_owned(), hosts: hosts.map(host).collect() }
    }

    #[test]
    fn only_what_changed_is_news() {
        let before = progress("warming up", ["warm", "warming up"]);
        let after = progress("warming up", ["warm", "lost"]);
        assert_eq!(after.news_since(&before), ["EX02: lost"]);
        let first = before.news_since(&FleetProgress::default());
        assert_eq!(first, ["Fleet: warming up", "EX01: warm", "EX02: warming up"]);
        let mut loaded = before.clone();
        loaded.hosts[0].load = progress("", ["measuring", ""]).hosts[0].load;
        assert!(loaded.news_since(&before).is_empty(), "a load is no news");
    }

    #[test]
    fn loads_are_those_of_loaded_hosts() {
        let loads = progress("measuring", ["measuring", "lost"]).loads();
        assert_eq!(loads, ["EX01             100 IOPS, reads 2.00 ms, log writes 0.50 ms"]);
    }

    #[test]
    fn another_program_reads_what_was_written() {
        let folder = std::env::temp_dir().join(format!("plimsoll-progress-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        assert_eq!(FleetProgress::read(&folder), None);
        let written = progress("measuring", ["measuring", "suspect"]);
        written.write(&folder).expect("a file");
        assert_eq!(FleetProgress::read(&folder), Some(written));
        std::fs::remove_dir_all(&folder).expect("the folder goes");
    }
}
