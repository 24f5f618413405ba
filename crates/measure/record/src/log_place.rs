//! A place in the log of a database.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place in the log of a database; a later one is greater.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
pub struct LogPlace {
    /// Generation of the log file.
    pub generation: u32,
    /// Segment within the file.
    pub segment: u16,
    /// Byte offset within the segment.
    pub byte: u16,
}

impl fmt::Display for LogPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}:{}:{}", self.generation, self.segment, self.byte)
    }
}
