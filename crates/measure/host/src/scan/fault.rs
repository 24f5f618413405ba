//! Faults of a database file as a whole, in words.

use std::fmt;

use ese::flush_map::FlushMapError;
use ese::header::{CopyState, HeaderCopies};
use units::PageNumber;

/// Fault of a file as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileFault {
    /// One copy of the header is damaged; the other one serves.
    HeaderCopy {
        /// Whether it is the first copy.
        first: bool,
        /// Its state: anything but good.
        state: CopyState,
    },
    /// Both copies of the header are damaged; the pages after them are a database's.
    HeaderLost,
    /// The flush map beside the file is damaged.
    FlushMap(FlushMapError),
    /// The file ends inside a page.
    EndsInPage {
        /// The page.
        page: PageNumber,
    },
    /// The file ends before the last page that the database owns.
    Truncated {
        /// The last page of the file.
        last: PageNumber,
        /// The last page that the database owns; `None` if the file ends before the page that
        /// records it.
        owned: Option<PageNumber>,
    },
    /// It is unknown whether the database continues past the end of the file: the pages that would
    /// show it are unreadable.
    EndUnknown {
        /// The last page of the file.
        last: PageNumber,
    },
    /// Pages are closer to the start of the file than they should be: this much of the beginning is
    /// lost.
    BeginningCut {
        /// Pages that are missing.
        pages: u32,
    },
}

impl FileFault {
    /// Whether pages of the database are missing from the file.
    pub const fn is_cut(&self) -> bool {
        matches!(self, Self::EndsInPage { .. } | Self::Truncated { .. } | Self::BeginningCut { .. })
    }

    /// The faults of the copies of a header, at most one for each; `None` if both are lost.
    pub fn of_header(copies: Option<&HeaderCopies>) -> Vec<Self> {
        let Some(copies) = copies else {
            return vec![Self::HeaderLost];
        };
        [(true, copies.primary), (false, copies.shadow)]
            .into_iter()
            .filter(|(_, state)| *state != CopyState::Good)
            .map(|(first, state)| Self::HeaderCopy { first, state })
            .collect()
    }
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeaderCopy { first, state } => {
                let (bad, good) = if *first { ("first", "second") } else { ("second", "first") };
                write!(f, "the {bad} copy of the header ")?;
                match state {
                    CopyState::HoldsPage(page) => {
                        write!(f, "holds page {page}: a write went to the wrong place")?;
                    }
                    CopyState::FlippedBit { bit } => {
                        let (byte, bit) = (bit / 8, bit % 8);
                        write!(f, "is damaged: one bit flipped at byte {byte} bit {bit}")?;
                    }
                    CopyState::Missing => f.write_str("is missing")?,
                    CopyState::Good | CopyState::Bad => f.write_str("is damaged")?,
                }
                write!(f, "; the {good} one is good")
            }
            Self::HeaderLost => f.write_str(
                "both copies of the header are damaged, so whether the database was closed is \
                     unknown; the pages after them are a database's and can be read",
            ),
            Self::FlushMap(error) => write!(
                f,
                "the flush map beside it is damaged, so lost writes cannot be detected: {error}"
            ),
            Self::EndsInPage { page } => write!(f, "truncated: the file ends inside page {page}"),
            Self::Truncated { last, owned: Some(owned) } => write!(
                f,
                "truncated: the file ends with page {last}, the database owns pages up to {owned}"
            ),
            Self::Truncated { last, owned: None } => write!(
                f,
                "truncated: the file ends with page {last}, before the pages that say what the \
                 database owns"
            ),
            Self::EndUnknown { last } => write!(
                f,
                "whether the file was cut off after page {last} cannot be known: the pages that \
                 say what the database owns are damaged"
            ),
            Self::BeginningCut { pages } => write!(
                f,
                "cut off at its beginning: every page lies {pages} before its place; restore the \
                 file from a copy"
            ),
        }
    }
}
