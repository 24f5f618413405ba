//! Commit reports of sessions, so that an external program can verify the databases against them.
//!
//! A transaction announces a commit, and reports again when it was acknowledged. These lines
//! determine the required contents of a database after any crash.

mod promises;

use std::fmt;
use std::str::{FromStr, Split};

use ese::Lgpos;
use units::Generation;

pub use promises::{Breach, Messages, Promises};

/// Change of one message by one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The message is new, in version 1.
    Insert(i64),
    /// The message was replaced by this version.
    Replace(i64, u32),
    /// The message was deleted.
    Delete(i64),
}

/// Stage of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitStage {
    /// The commit is about to be requested; lists everything the transaction changed.
    Asked(Vec<Change>),
    /// It was acknowledged without a durability promise. Its place in the log: a commit at a lower
    /// place survives wherever this one does.
    Lazy(Lgpos),
    /// It was acknowledged as durable, and with it every commit at a lower place.
    Durable(Lgpos),
}

/// One step of one commit. [`fmt::Display`] formats it as a line, [`FromStr`] parses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitStep {
    /// Index of the database in the plan.
    pub database: u32,
    /// Number of the transaction, counted per database and run.
    pub transaction: u64,
    /// Its stage.
    pub stage: CommitStage,
}

impl Change {
    /// The message that was changed.
    pub const fn message(self) -> i64 {
        match self {
            Self::Insert(message) | Self::Replace(message, _) | Self::Delete(message) => message,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Insert(message) => write!(f, "+{message}"),
            Self::Replace(message, version) => write!(f, "={message}:{version}"),
            Self::Delete(message) => write!(f, "-{message}"),
        }
    }
}

impl FromStr for Change {
    type Err = UnreadableStep;

    fn from_str(word: &str) -> Result<Self, UnreadableStep> {
        if let Some(message) = word.strip_prefix('+') {
            return Ok(Self::Insert(number(message)?));
        }
        if let Some(message) = word.strip_prefix('-') {
            return Ok(Self::Delete(number(message)?));
        }
        let parts = word.strip_prefix('=').and_then(|word| word.split_once(':'));
        let (message, version) = parts.ok_or_else(|| UnreadableStep(word.to_owned()))?;
        Ok(Self::Replace(number(message)?, number(version)?))
    }
}

impl fmt::Display for CommitStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { database, transaction, stage } = self;
        let (word, place) = match stage {
            CommitStage::Asked(changes) => {
                write!(f, "asked {database} {transaction}")?;
                return changes.iter().try_for_each(|change| write!(f, " {change}"));
            }
            CommitStage::Lazy(place) => ("lazy", place),
            CommitStage::Durable(place) => ("durable", place),
        };
        let Lgpos { generation, segment, byte } = place;
        write!(f, "{word} {database} {transaction} {} {segment} {byte}", generation.0)
    }
}

impl FromStr for CommitStep {
    type Err = UnreadableStep;

    fn from_str(line: &str) -> Result<Self, UnreadableStep> {
        let mut words = Words { line, rest: line.split(' ') };
        let kind = words.next()?;
        let (database, transaction) = (number(words.next()?)?, number(words.next()?)?);
        let stage = match kind {
            "asked" => CommitStage::Asked(words.rest.map(str::parse).collect::<Result<_, _>>()?),
            "lazy" => CommitStage::Lazy(words.place()?),
            "durable" => CommitStage::Durable(words.place()?),
            _ => return Err(UnreadableStep(line.to_owned())),
        };
        Ok(Self { database, transaction, stage })
    }
}

/// The unread words of a line.
struct Words<'a> {
    line: &'a str,
    rest: Split<'a, char>,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Result<&'a str, UnreadableStep> {
        self.rest.next().ok_or_else(|| UnreadableStep(self.line.to_owned()))
    }

    fn place(&mut self) -> Result<Lgpos, UnreadableStep> {
        Ok(Lgpos {
            generation: Generation(number(self.next()?)?),
            segment: number(self.next()?)?,
            byte: number(self.next()?)?,
        })
    }
}

fn number<N: FromStr>(word: &str) -> Result<N, UnreadableStep> {
    word.parse().map_err(|_| UnreadableStep(word.to_owned()))
}

/// A line not written by any [`CommitStep`], or truncated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableStep(pub String);

impl fmt::Display for UnreadableStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no step of a commit", self.0)
    }
}

impl std::error::Error for UnreadableStep {}

#[cfg(test)]
mod tests {
    use ese::Lgpos;
    use units::Generation;

    use super::{Change, CommitStage, CommitStep};

    #[test]
    fn lines_come_back_as_the_steps_they_were_made_of() {
        let place = Lgpos { generation: Generation(17), segment: 3, byte: 4095 };
        let changes = vec![Change::Insert(5), Change::Replace(6, 7), Change::Delete(-8)];
        let stages = [
            (CommitStage::Asked(changes), "asked 1 9 +5 =6:7 --8"),
            (CommitStage::Asked(Vec::new()), "asked 1 9"),
            (CommitStage::Lazy(place), "lazy 1 9 17 3 4095"),
            (CommitStage::Durable(place), "durable 1 9 17 3 4095"),
        ];
        for (stage, line) in stages {
            let step = CommitStep { database: 1, transaction: 9, stage };
            assert_eq!(step.to_string(), line);
            assert_eq!(line.parse(), Ok(step));
        }
    }

    #[test]
    fn half_a_line_is_refused() {
        for line in ["", "durable 1 9 17", "lazy 1", "asked 1 9 =6", "done 1 2", "asked 1 9 6"] {
            assert!(line.parse::<CommitStep>().is_err(), "{line}");
        }
    }
}
