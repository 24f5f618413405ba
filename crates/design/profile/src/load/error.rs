//! Reasons why files yield no load profile.

use std::fmt;

/// Why there is no load profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadProfileError {
    /// A counter log has no column about storage.
    NoCounters {
        /// The file.
        file: String,
        /// Its first columns.
        found: Vec<String>,
    },
    /// A counter log has storage columns, but no samples in them.
    NoSamples {
        /// The file.
        file: String,
        /// Cells and rows that could not be used, by reason.
        skipped: String,
    },
    /// A block trace from which no rates can be derived.
    NoTrace {
        /// The file.
        file: String,
        /// Why not.
        why: String,
    },
    /// No place has the requested name.
    NoPlace {
        /// The known places.
        known: Vec<String>,
    },
    /// No hour has enough samples.
    NoHour,
}

impl fmt::Display for LoadProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCounters { file, found } => write!(
                f,
                "{file}: no column is a counter of MSExchange Database, LogicalDisk or \
                 PhysicalDisk; it has {}; export them with English counter names (relog LOG.blg -f \
                 csv -o LOG.csv)",
                found.join(", ")
            ),
            Self::NoSamples { file, skipped } => write!(
                f,
                "{file}: no row has a sample of the storage's counters ({skipped}); export the \
                 log again, over a longer time"
            ),
            Self::NoTrace { file, why } => write!(f, "{file}: {why}"),
            Self::NoPlace { known } => write!(
                f,
                "--only: no database, volume or device has that name; there are {}",
                known.join(", ")
            ),
            Self::NoHour => f.write_str(
                "no hour has samples of half of its time or more, so no load by the hour is known; \
                 give a longer log",
            ),
        }
    }
}

impl std::error::Error for LoadProfileError {}
