//! A rule, and its text form.

use std::error::Error;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

/// Bytes of a database's header and its copy, at the page size that the tests use.
const HEADER_BYTES: u64 = 64 << 10;

/// A kind of file, or of region in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Pages of a database.
    Database,
    /// The first two pages of a database.
    Header,
    /// Log files, including formatted ones.
    Log,
    /// Checkpoint files.
    Checkpoint,
    /// Flush maps.
    FlushMap,
    /// Every file.
    Any,
}

/// A request to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A request to make writes durable.
    Flush,
    /// A query for the free space of the volume.
    Space,
    /// Any of these.
    Any,
}

/// The fault, which replaces or delays the requested action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Acknowledged and dropped; a read returns zeros.
    Drop,
    /// One bit is flipped.
    Flip,
    /// The request goes to the neighbouring block.
    Misdirect,
    /// Only the first half is transferred; a read returns zeros for the rest.
    Tear,
    /// Every request is delayed by this.
    Delay(Duration),
    /// Reads and writes are queued and served one after the other, this many per second.
    Rate(u32),
    /// A write-back cache: the first number of writes are answered immediately, and the second
    /// number per second leave the cache; a write that finds it full waits for space.
    Cache(u32, u32),
    /// Requests wait until this long after the first one.
    Freeze(Duration),
    /// Requests wait until the rules change.
    Hang,
    /// No space is left.
    Full,
    /// The device reports an error.
    Error,
}

/// Which requests meet which fault, and when; [`crate::fault_volume`] describes its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Files to which it applies.
    pub kind: FileKind,
    /// Requests to which it applies.
    pub access: Access,
    /// What happens to them.
    pub fault: Fault,
    /// Number of matching requests that pass before the first fault.
    pub from: u64,
    /// Maximum number of faults.
    pub requests: u64,
    /// Minimum time between setting the rule and its first fault.
    pub after: Duration,
}

/// A rule that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    word: String,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { word } = self;
        write!(f, "`{word}` does not belong in a rule; write for example")?;
        f.write_str(" `log write drop from=20 requests=1 after=500ms`")
    }
}

impl Error for RuleError {}

impl FileKind {
    /// The kind of data at byte `offset` of the file `path`; `None` if it is none of these.
    pub(super) fn of(path: &Path, offset: u64) -> Option<Self> {
        Some(match path.extension()?.to_str()? {
            "edb" if offset < HEADER_BYTES => Self::Header,
            "edb" => Self::Database,
            "plg" => Self::Log,
            "pck" => Self::Checkpoint,
            "jfm" => Self::FlushMap,
            _ => return None,
        })
    }
}

impl Rule {
    /// A rule for every matching request, from now on.
    pub const fn always(kind: FileKind, access: Access, fault: Fault) -> Self {
        Self { kind, access, fault, from: 0, requests: u64::MAX, after: Duration::ZERO }
    }

    /// Whether the rule applies to such requests, at any time.
    pub(super) fn matches(&self, kind: Option<FileKind>, access: Access) -> bool {
        (self.kind == FileKind::Any || Some(self.kind) == kind)
            && (self.access == Access::Any || self.access == access)
            // A rate applies to transfers; other requests do not wait in the queue.
            && (!matches!(self.fault, Fault::Rate(_))
                || matches!(access, Access::Read | Access::Write))
            && (!matches!(self.fault, Fault::Cache(..)) || access == Access::Write)
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let mut words = text.split_whitespace();
        let [file, asked, answer] = std::array::from_fn(|_| words.next().unwrap_or("the end"));
        let mut rule = Self::always(kind(file)?, access(asked)?, fault(answer)?);
        for word in words {
            match word.split_once('=') {
                Some(("from", value)) => rule.from = number(word, value)?,
                Some(("requests", value)) => rule.requests = number(word, value)?,
                Some(("after", value)) => rule.after = time(word, value)?,
                _ => return Err(wrong(word)),
            }
        }
        Ok(rule)
    }
}

fn wrong(word: &str) -> RuleError {
    let word = word.to_owned();
    RuleError { word }
}

fn kind(word: &str) -> Result<FileKind, RuleError> {
    Ok(match word {
        "database" => FileKind::Database,
        "header" => FileKind::Header,
        "log" => FileKind::Log,
        "checkpoint" => FileKind::Checkpoint,
        "flush-map" => FileKind::FlushMap,
        "any" => FileKind::Any,
        _ => return Err(wrong(word)),
    })
}

fn access(word: &str) -> Result<Access, RuleError> {
    Ok(match word {
        "read" => Access::Read,
        "write" => Access::Write,
        "flush" => Access::Flush,
        "space" => Access::Space,
        "any" => Access::Any,
        _ => return Err(wrong(word)),
    })
}

fn fault(word: &str) -> Result<Fault, RuleError> {
    Ok(match word.split_once('=') {
        None => match word {
            "drop" => Fault::Drop,
            "flip" => Fault::Flip,
            "misdirect" => Fault::Misdirect,
            "tear" => Fault::Tear,
            "hang" => Fault::Hang,
            "full" => Fault::Full,
            "error" => Fault::Error,
            _ => return Err(wrong(word)),
        },
        Some(("delay", value)) => Fault::Delay(time(word, value)?),
        Some(("rate", value)) => match value.parse() {
            Ok(per_second) if per_second > 0 => Fault::Rate(per_second),
            _ => return Err(wrong(word)),
        },
        Some(("cache", value)) => {
            let (held, per_second) = value.split_once('/').ok_or_else(|| wrong(word))?;
            match (held.parse(), per_second.parse()) {
                (Ok(held), Ok(per_second)) if per_second > 0 => Fault::Cache(held, per_second),
                _ => return Err(wrong(word)),
            }
        }
        Some(("freeze", value)) => Fault::Freeze(time(word, value)?),
        Some(_) => return Err(wrong(word)),
    })
}

fn number(word: &str, value: &str) -> Result<u64, RuleError> {
    value.parse().map_err(|_| wrong(word))
}

fn time(word: &str, value: &str) -> Result<Duration, RuleError> {
    if let Some(value) = value.strip_suffix("ms") {
        return number(word, value).map(Duration::from_millis);
    }
    let value = value.strip_suffix('s').ok_or_else(|| wrong(word))?;
    number(word, value).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::{Access, Fault, FileKind, Rule};

    #[test]
    fn a_rule_is_read_from_its_text() {
        let rule = "log write delay=500ms from=20 requests=1 after=3s".parse();
        let expected = Rule {
            from: 20,
            requests: 1,
            after: Duration::from_secs(3),
            ..Rule::always(FileKind::Log, Access::Write, Fault::Delay(Duration::from_millis(500)))
        };
        assert_eq!(rule, Ok(expected));
        for wrong in
            ["", "log", "log write", "log write sink", "log write drop 3", "any any rate=0"]
        {
            wrong.parse::<Rule>().unwrap_err();
        }
    }

    #[test]
    fn the_first_two_pages_of_a_database_are_its_header() {
        let kind = |name: &str, offset| FileKind::of(Path::new(name), offset);
        assert_eq!(kind("a.edb", 32 << 10), Some(FileKind::Header));
        assert_eq!(kind("a.edb", 64 << 10), Some(FileKind::Database));
        assert_eq!(kind("E00tmp.plg", 0), Some(FileKind::Log));
        assert_eq!(kind("plan.toml", 0), None);
    }
}
