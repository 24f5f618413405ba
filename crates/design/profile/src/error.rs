//! Reasons why files yield no profile.

use std::fmt;

use crate::kind::LogKind;
use crate::sheet::BadRow;

/// Why there is no profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileError {
    /// The headers are those of no known kind of file.
    Unknown {
        /// The file.
        file: String,
        /// Its headers.
        found: Vec<String>,
    },
    /// The file is not text.
    Binary {
        /// The file.
        file: String,
    },
    /// The file is empty.
    Empty {
        /// The file.
        file: String,
    },
    /// No row could be used.
    NothingRead {
        /// The file.
        file: String,
        /// The kind of file according to its headers.
        kind: LogKind,
        /// The first row's error.
        first: BadRow,
    },
    /// The number of mailboxes is unknown.
    NoMailboxes,
    /// The number of messages is unknown.
    NoMessages,
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { file, found } => {
                writeln!(f, "{file}: not a kind of file that is known here; its headers are")?;
                writeln!(f, "  {}", shown(found))?;
                write!(f, "known are, by the headers they must have:")?;
                for kind in LogKind::ALL {
                    let needed = kind.needed().join(", ");
                    write!(f, "\n  {kind}: {needed}")?;
                }
                write!(
                    f,
                    "\nand for the load over the day: counter logs (first header: (PDH-CSV 4.0)), \
                     text of blkparse, fio iologs"
                )
            }
            Self::Binary { file } => {
                write!(f, "{file}: is no text; export it again as comma-separated values")
            }
            Self::Empty { file } => write!(f, "{file}: is empty; export it again"),
            Self::NothingRead { file, kind, first } => write!(
                f,
                "{file}: looks like {kind}, but no row could be used; {first}; export it again"
            ),
            Self::NoMailboxes => write!(
                f,
                "none of the files says how many mailboxes there are; add --mailboxes N, or a \
                 mailbox report"
            ),
            Self::NoMessages => write!(
                f,
                "none of the files says how many messages there are; add message tracking logs, a \
                 message profile or an e-mail activity report"
            ),
        }
    }
}

impl std::error::Error for ProfileError {}

/// Headers as a list that stays readable whatever the file was.
fn shown(headers: &[String]) -> String {
    let mut list: Vec<String> = headers
        .iter()
        .take(12)
        .map(|header| header.chars().filter(|symbol| !symbol.is_control()).take(40).collect())
        .collect();
    if headers.len() > list.len() {
        list.push(format!("and {} more", headers.len() - list.len()));
    }
    list.join(", ")
}
