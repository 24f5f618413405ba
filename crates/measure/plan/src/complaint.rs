//! Complaints about a document: the problem, its line, and the remedy.

use std::fmt;

use units::shortened;

/// Limit on the complaints shown; further ones are only counted.
const MOST_SHOWN: usize = 20;
/// Maximum length in characters of a key and of a problem; either may quote the document.
const LONGEST_KEY: usize = 100;
const LONGEST_PROBLEM: usize = 1_000;

/// Everything wrong with one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// The document's name as the user gave it.
    pub file: String,
    /// At least one complaint, in the order of the lines.
    pub complaints: Vec<Complaint>,
}

/// One problem and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// Line in the text, counted from 1; 0 if the command line is to blame.
    pub line: usize,
    /// The key, with its section: `[workload] insert`.
    pub key: String,
    /// The problem.
    pub(crate) problem: Problem,
}

/// The kinds of problems; each displays its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum Problem {
    /// The text is not TOML.
    Syntax {
        /// The parser's message.
        message: String,
        /// The command that prints a document of this kind to start from.
        example: &'static str,
    },
    /// An unknown key.
    UnknownKey {
        /// The known key with the closest spelling.
        nearest: Option<String>,
        /// All keys known here.
        known: Vec<String>,
    },
    /// A value of the wrong type for its key.
    WrongKind {
        /// Valid values of the key, with an example.
        wanted: &'static str,
        /// The value given.
        found: String,
    },
    /// A value outside its bounds.
    OutOfRange {
        /// The value.
        found: String,
        /// The smallest value accepted.
        least: String,
        /// The largest value accepted.
        most: String,
    },
    /// An unreasonably long text.
    TooLong {
        /// Maximum number of bytes.
        most: usize,
    },
    /// A text that cannot name a run.
    BadName {
        /// The fault and the remedy.
        fault: &'static str,
    },
    /// A word that is not one of the choices.
    NotAChoice {
        /// The word.
        found: String,
        /// The accepted words.
        choices: &'static [&'static str],
    },
    /// A disk has neither a known type nor its own figure.
    UnknownDisk {
        /// The type given.
        found: String,
        /// The known types.
        kinds: &'static [&'static str],
    },
    /// A required value is absent.
    Missing {
        /// An example of a valid value.
        example: String,
    },
    /// A folder is named twice.
    Repeated {
        /// The folder.
        folder: String,
        /// The line of its first mention.
        first_line: usize,
    },
    /// Figures of a product that were never published.
    NoFigures {
        /// The product.
        product: String,
        /// Number of missing figures.
        count: usize,
        /// The word of a product that has them.
        from: &'static str,
        /// The lines that would give them.
        block: String,
    },
    /// Two values that contradict each other.
    Conflict {
        /// The contradiction and the remedy.
        message: String,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, complaint) in self.complaints.iter().take(MOST_SHOWN).enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            write!(f, "{}", self.file)?;
            if complaint.line > 0 {
                write!(f, ":{}", complaint.line)?;
            }
            write!(f, ": ")?;
            if !complaint.key.is_empty() {
                write!(f, "{}: ", shortened(&complaint.key, LONGEST_KEY))?;
            }
            let problem = complaint.problem.to_string();
            // Lines to copy are useless if truncated, and do not quote the document.
            let longest = match complaint.problem {
                Problem::NoFigures { .. } => problem.len(),
                _ => LONGEST_PROBLEM,
            };
            write!(f, "{}", shortened(&problem, longest))?;
        }
        let more = self.complaints.len().saturating_sub(MOST_SHOWN);
        if more > 0 {
            write!(f, "\n{}: and {more} more", self.file)?;
        }
        Ok(())
    }
}

impl std::error::Error for PlanError {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { message, example } => {
                write!(f, "not TOML: {message}; `{example}` prints an example")
            }
            Self::UnknownKey { nearest: Some(nearest), .. } => {
                write!(f, "unknown key; did you mean `{nearest}`?")
            }
            Self::UnknownKey { known, .. } => {
                write!(f, "unknown key; remove it, or use one of ")?;
                list(f, known.iter().map(String::as_str))
            }
            Self::WrongKind { wanted, found } => write!(f, "is {found}, but takes {wanted}"),
            Self::OutOfRange { found, least, most } => {
                write!(f, "{found} is out of range; give {least} to {most}")
            }
            Self::TooLong { most } => write!(f, "is longer than {most} bytes; shorten it"),
            Self::BadName { fault } => write!(f, "{fault}"),
            Self::NotAChoice { found, choices } => {
                write!(f, "`{found}` is not known; give one of ")?;
                list(f, choices.iter().copied())
            }
            Self::UnknownDisk { found, kinds } => {
                write!(f, "`{found}` is not known; add its `random_iops`, or give one of ")?;
                list(f, kinds.iter().copied())
            }
            Self::Missing { example } => write!(f, "missing; add {example}"),
            Self::Repeated { folder, first_line } => write!(
                f,
                "folder `{folder}` is already given in line {first_line}; name each folder once \
                 and set `count` to put several databases into it"
            ),
            Self::NoFigures { product, count, from, block } => write!(
                f,
                "{count} figures of {product} have never been published. Add `from = \"{from}\"` \
                 to [figures] to take those of Exchange {from}, which every page then marks as an \
                 assumption; or copy these lines into the deployment, change what you know \
                 better, and answer for them:\n\n{}",
                block.trim_end()
            ),
            Self::Conflict { message } => write!(f, "{message}"),
        }
    }
}

fn list<'a>(f: &mut fmt::Formatter<'_>, words: impl Iterator<Item = &'a str>) -> fmt::Result {
    for (number, word) in words.enumerate() {
        let separator = if number == 0 { "" } else { ", " };
        write!(f, "{separator}`{word}`")?;
    }
    Ok(())
}
