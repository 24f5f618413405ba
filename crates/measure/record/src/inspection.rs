//! Findings of inspecting the storage before the first request, as plain data, so that reports,
//! comparisons and later readers see what the user at the machine saw.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One inspected item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StorageFinding {
    /// Name of the check for programs, such as `write-cache`.
    pub check: String,
    /// The same for people, in a few words.
    pub title: String,
    /// Its subject: a mount point, a device, a controller or a drive of one.
    pub subject: String,
    /// The outcome of the check.
    pub outcome: StorageRuling,
    /// The observation.
    pub seen: String,
    /// Why that is good, bad or not known.
    pub reason: String,
    /// The remedy, if there is one: a command, as typed, or a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// A storage's handling of durable writes, which reveals its caches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteSamples {
    /// Bytes of each write.
    pub write_bytes: u32,
    /// Latencies of writes that may be lost with power, one at a time.
    pub volatile_ns: Vec<u64>,
    /// Latencies of durable writes, one at a time.
    pub durable_ns: Vec<u64>,
    /// When durable writes at random places completed, as many as the storage took at once, from
    /// the first submission on; in order.
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
    /// It cannot be known from here.
    #[default]
    CannotJudge,
    /// It works, but not as well as it could.
    #[serde(rename = "warning")]
    Warn,
    /// It loses mail or time: fix it before a run.
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
