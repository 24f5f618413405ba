//! Errors beyond those that are written down one by one: a database that fails every request must
//! not drown its journal, and its report must still count all of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Errors of one database on one volume that were counted and have no [`crate::Issue`] of their
/// own, since the last such event of both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FurtherErrors {
    /// When they were reported, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Index of the database.
    pub database: u32,
    /// Mount point of the volume, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// Requests that failed or had no answer.
    #[serde(default)]
    pub failed_requests: u64,
    /// Places whose content differed from what had been written.
    #[serde(default)]
    pub damaged_content: u64,
}

impl FurtherErrors {
    /// All of them.
    pub const fn count(&self) -> u64 {
        self.failed_requests + self.damaged_content
    }

    /// Adds `self` to `sums`, which has one entry for each database and volume.
    pub(crate) fn add_to(self, sums: &mut Vec<Self>) {
        let mut known = sums.iter_mut();
        match known.find(|sum| sum.database == self.database && sum.volume == self.volume) {
            Some(sum) => {
                sum.at_ns = sum.at_ns.max(self.at_ns);
                sum.failed_requests += self.failed_requests;
                sum.damaged_content += self.damaged_content;
            }
            None => sums.push(self),
        }
    }
}
