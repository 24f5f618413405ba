//! The white paper of a tested solution, with the sections of papers in Microsoft's storage
//! programme: figures from the records of runs, the vendor's facts from a file, and a mark wherever
//! neither has a value.
//!
//! This crate uses neither disk nor clock: the same runs and the same file give the same page, byte
//! for byte, and the same document except for numbers that word processors assign to paragraphs.

mod appendices;
mod code;
mod docx;
mod figures;
mod html;
mod paper;
mod picture;
mod raster;
mod roles;
mod sections;
mod vendor;

use std::fmt;

use record::{RunRecord, Seal};
use verdict::Verdict;

pub use docx::{DocxError, docx};
pub use html::html;
pub use paper::Paper;
pub use picture::{Picture, PictureError};
pub use vendor::{FigureFile, Vendor, VendorError, template};

use roles::servers;

/// A run covered by the paper.
#[derive(Clone, Debug)]
pub struct TestedRun {
    /// Its name in error messages, such as its folder.
    pub name: String,
    /// The record.
    pub record: RunRecord,
    /// The verdict on it.
    pub verdict: Verdict,
}

/// Why these runs do not make a paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaperError {
    /// There are no runs.
    NoRun,
    /// A run is a prediction; a paper reports measurements.
    Simulated {
        /// Name of the run.
        run: String,
    },
    /// The record of a run was changed after it was written.
    Altered {
        /// Name of the run.
        run: String,
        /// The first changed line.
        line: usize,
    },
    /// A run may belong to any of several servers with the same host name.
    WhichMachine {
        /// Name of the run.
        run: String,
        /// The host name.
        server: String,
        /// Number of machines with that name.
        count: usize,
    },
    /// Two runs of one server are the same test.
    Twice {
        /// The server.
        server: String,
        /// The test.
        test: &'static str,
        /// Names of the runs.
        runs: Vec<String>,
        /// Whether any of them may be of another server with the same host name.
        lacks_identity: bool,
    },
}

const UNTOLD: &str = ". Records of two servers with one host name and no machine identity cannot \
    be told apart";

impl fmt::Display for PaperError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRun => write!(f, "there is no run to tell of; name at least one"),
            Self::Simulated { run } => write!(
                f,
                "{run}: is a simulation, and a paper tells of what was measured; name runs on real \
                 storage"
            ),
            Self::Altered { run, line } => write!(
                f,
                "{run}: was ALTERED after it was written, from line {line} on, and proves nothing; \
                 leave it out"
            ),
            Self::WhichMachine { run, server, count } => write!(
                f,
                "{run}: does not say which of {count} machines called {server} it was measured on; \
                 leave it out, or measure it again with this release"
            ),
            Self::Twice { server, test, runs, lacks_identity } => {
                let (names, count) = (runs.join(", "), runs.len());
                write!(f, "{names}: {count} runs of {server} are its {test}; name one of them")?;
                f.write_str(if *lacks_identity { UNTOLD } else { "" })
            }
        }
    }
}

impl std::error::Error for PaperError {}

/// The paper of `runs`, with the facts of `vendor` and the pictures named in its file, in that
/// order.
pub fn paper(
    runs: &[TestedRun],
    vendor: &Vendor,
    pictures: Vec<Picture>,
) -> Result<Paper, PaperError> {
    if runs.is_empty() {
        return Err(PaperError::NoRun);
    }
    for tested in runs {
        let run = tested.name.clone();
        if tested.record.simulated().is_some() {
            return Err(PaperError::Simulated { run });
        }
        if let Seal::Altered { line } = tested.record.seal {
            return Err(PaperError::Altered { run, line });
        }
    }
    let servers = servers(runs)?;
    Ok(sections::paper(&servers, vendor, pictures))
}

#[cfg(test)]
mod tests;
