//! How far a fleet run is, in a file of its folder for other programs: `watch` and `serve` show it.

use std::path::Path;

use fleet::FLEET_JOURNAL;
use host::is_live;
use serde_json::{Value, json};

use crate::documents;
use crate::error::CommandError;

/// The file's name in the folder of a fleet run.
const PROGRESS: &str = "progress.json";

/// The stage of a fleet run and the state of every host, each in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FleetProgress {
    pub(crate) stage: String,
    /// The name of each host and what it is doing.
    pub(crate) hosts: Vec<(String, String)>,
}

/// Whether a controller is at work on the fleet run in `folder`.
pub(crate) fn is_conducted(folder: &Path) -> bool {
    is_live(&folder.join(FLEET_JOURNAL))
}

impl FleetProgress {
    /// Writes it into the folder of its run.
    pub(super) fn write(&self, folder: &Path) -> Result<(), CommandError> {
        let mut hosts = Vec::new();
        for (host, doing) in &self.hosts {
            hosts.push(json!({ "host": host, "state": doing }));
        }
        let text = json!({ "stage": self.stage, "hosts": hosts }).to_string();
        Ok(documents::replace(&folder.join(PROGRESS), text.as_bytes())?)
    }

    /// The progress of the run in `folder`; none if it has not begun.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(folder.join(PROGRESS)).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        let mut hosts = Vec::new();
        for host in value["hosts"].as_array()? {
            hosts.push((word(host, "host"), word(host, "state")));
        }
        Some(Self { stage: word(&value, "stage"), hosts })
    }

    /// What has changed since `before`, a line each.
    pub(crate) fn news_since(&self, before: &Self) -> Vec<String> {
        let stage = (self.stage != before.stage).then(|| format!("Fleet: {}", self.stage));
        let hosts = self.hosts.iter().filter(|host| !before.hosts.contains(host));
        stage.into_iter().chain(hosts.map(|(host, doing)| format!("{host}: {doing}"))).collect()
    }
}

/// A member that is text; empty if it is none.
fn word(of: &Value, key: &str) -> String {
    of[key].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::FleetProgress;

    fn progress(stage: &str, doing: [&str; 2]) -> FleetProgress {
        let hosts = ["EX01", "EX02"].into_iter().zip(doing);
        let hosts = hosts.map(|(host, doing)| (host.to_owned(), doing.to_owned())).collect();
        FleetProgress { stage: stage.to_owned(), hosts }
    }

    #[test]
    fn only_what_changed_is_news() {
        let before = progress("warming up", ["warm", "warming up"]);
        let after = progress("warming up", ["warm", "lost"]);
        assert_eq!(after.news_since(&before), ["EX02: lost"]);
        let first = before.news_since(&FleetProgress::default());
        assert_eq!(first, ["Fleet: warming up", "EX01: warm", "EX02: warming up"]);
        assert!(before.news_since(&before).is_empty());
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
