//! Counts errors beyond those recorded one by one: a database that fails every request must not
//! flood its journal, and its report must still count all of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Errors of one database on one volume that were counted without an [`crate::Issue`] each, since
/// the previous such event for that pair.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FurtherErrors {
    /// When they were reported, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Index of the database.
    pub database: u32,
    /// Mount point of the volume, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// Requests that failed or had no answer.
    #[serde(default)]
    pub failed_requests: u64,
    /// Places whose content differed from the data written.
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
