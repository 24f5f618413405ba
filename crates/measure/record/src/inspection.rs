//! Findings from inspecting the storage before the first request, as plain data, so that reports,
//! comparisons and later readers see the same as the user at the machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One inspected item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StorageFinding {
    /// Machine-readable name of the check, such as `write-cache`.
    pub check: String,
    /// Human-readable title, in a few words.
    pub title: String,
    /// Its subject: a mount point, a device, a controller or one of a controller's drives.
    pub subject: String,
    /// The outcome of the check.
    pub outcome: StorageRuling,
    /// The observation.
    pub seen: String,
    /// Why that is good, bad or unknown.
    pub reason: String,
    /// The fix, if there is one: a command to type, or a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// How the storage handles durable writes, which reveals its caches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteSamples {
    /// Bytes of each write.
    pub write_bytes: u32,
    /// Latencies of writes that a power loss may destroy, one at a time.
    pub volatile_ns: Vec<u64>,
    /// Latencies of durable writes, one at a time.
    pub durable_ns: Vec<u64>,
    /// Completion times of random durable writes, issued as many at once as the storage accepted,
    /// counted from the first submission; in order.
    pub completions_ns: Vec<u64>,
}

/// Outcome of a check of the storage.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum StorageRuling {
    /// As it should be.
    Pass,
    /// Cannot be determined from here.
    #[default]
    CannotJudge,
    /// It works, but not as well as it could.
    #[serde(rename = "warning")]
    Warn,
    /// It loses mail, costs performance or contradicts the plan: fix it before a run.
    Fail,
}

impl StorageRuling {
    /// The outcome as reports print it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "Pass",
            Self::CannotJudge => "Cannot judge",
            Self::Warn => "Warning",
            Self::Fail => "Fail",
        }
    }
}
