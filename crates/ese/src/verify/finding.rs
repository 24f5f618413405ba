//! What an examination found, in words an operator can use.

use std::fmt;

use units::{ObjectId, PageNumber};

use crate::long_value::LongValueId;
use crate::page_check::PageFault;
use crate::reader::ReadError;
use crate::space::Extent;
use crate::verify::Damage;

/// More findings than this are counted and not listed.
const MOST_FINDINGS: usize = 1_000;

/// The tree that a finding is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Subject {
    /// The table; empty for the database itself.
    pub table: String,
    /// The index, or "long values"; empty for the table itself.
    pub index: String,
}

impl Subject {
    pub(super) fn table(name: &str) -> Self {
        Self {
            table: name.to_owned(),
            index: String::new(),
        }
    }

    pub(super) fn index(table: &str, index: &str) -> Self {
        Self {
            table: table.to_owned(),
            index: index.to_owned(),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.table.as_str(), self.index.as_str()) {
            ("", _) => f.write_str("database"),
            (table, "") => f.write_str(table),
            (table, index) => write!(f, "{table}/{index}"),
        }
    }
}

/// What does not agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Something could not be read at all.
    Unreadable(Damage),
    /// A page contradicts itself.
    Page(PageFault),
    /// A page is reached a second time.
    ReachedTwice,
    /// A page of the tree lies outside the space that the tree owns.
    OutsideSpace,
    /// A page carries the object identifier of another tree.
    WrongObject {
        /// The one that it carries.
        stated: ObjectId,
    },
    /// A page carries flags that its place in the tree does not allow.
    WrongFlags {
        /// The flags.
        stated: u32,
    },
    /// A leaf's link to the one before it is wrong.
    PreviousLink {
        /// Where it points to.
        stated: PageNumber,
        /// The leaf before it.
        expected: PageNumber,
    },
    /// A leaf's link to the one behind it is wrong.
    NextLink {
        /// Where it points to.
        stated: PageNumber,
        /// The leaf behind it.
        expected: PageNumber,
    },
    /// A leaf is not as deep as the others.
    Depth,
    /// A node does not come behind the last one of the leaf before.
    KeyOrder,
    /// A node lies outside the separators above its page.
    Separator,
    /// Two extents that must not share pages do, or one lies outside its owner's space.
    Extent {
        /// The extent.
        extent: Extent,
    },
    /// A page is in use and available at once, or available twice.
    AvailableAndUsed,
    /// A page is owned and neither in use nor available.
    Lost,
    /// The row's key is not the one its columns make.
    PrimaryKey,
    /// An index has an entry whose row is missing or has another key.
    StrayEntry,
    /// An index lacks the entry of a row.
    MissingEntry,
    /// A record names a long value that is not there.
    LongValueMissing {
        /// The value.
        id: LongValueId,
    },
    /// A long value is referenced more or less often than it claims.
    LongValueReferences {
        /// The value.
        id: LongValueId,
        /// What it claims.
        stated: u32,
        /// How many records hold it.
        counted: u32,
    },
    /// A long value's chunks do not make up its size.
    LongValueChunks {
        /// The value.
        id: LongValueId,
    },
    /// The two copies of the catalog differ.
    CatalogCopies,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(damage) => damage.fmt(f),
            Self::Page(fault) => fault.fmt(f),
            Self::ReachedTwice => f.write_str("the page is reached a second time"),
            Self::OutsideSpace => f.write_str("the page is not among those that the tree owns"),
            Self::WrongObject { stated } => write!(f, "the page belongs to object {stated}"),
            Self::WrongFlags { stated } => write!(f, "flags {stated:#x} do not fit its place"),
            Self::PreviousLink { stated, expected } => {
                write!(f, "its link back is {stated}, should be {expected}")
            }
            Self::NextLink { stated, expected } => {
                write!(f, "its link forward is {stated}, should be {expected}")
            }
            Self::Depth => f.write_str("the leaf is not as deep as the others"),
            Self::KeyOrder => f.write_str("its first node does not come behind the leaf before"),
            Self::Separator => f.write_str("a node lies outside the separators above it"),
            Self::Extent { extent } => write!(
                f,
                "the extent {}..={} overlaps another one or leaves its owner's space",
                extent.first(),
                extent.last
            ),
            Self::AvailableAndUsed => f.write_str("the page is available though something uses it"),
            Self::Lost => f.write_str("the page is owned, and neither in use nor available"),
            Self::PrimaryKey => f.write_str("the row's key is not the one its columns make"),
            Self::StrayEntry => f.write_str("the index entry's row is missing or has another key"),
            Self::MissingEntry => f.write_str("the index lacks the entry of this row"),
            Self::LongValueMissing { id } => write!(f, "long value {id} is missing"),
            Self::LongValueReferences {
                id,
                stated,
                counted,
            } => {
                write!(
                    f,
                    "long value {id} claims {stated} references and has {counted}"
                )
            }
            Self::LongValueChunks { id } => {
                write!(f, "the chunks of long value {id} do not make up its size")
            }
            Self::CatalogCopies => f.write_str("the two copies of the catalog differ"),
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where.
    pub subject: Subject,
    /// On which page; none where no single page is to blame.
    pub page: PageNumber,
    /// At which key; empty where no single key is to blame.
    pub key: Vec<u8>,
    /// What.
    pub problem: Problem,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.subject.fmt(f)?;
        if self.page.is_some() {
            write!(f, ", page {}", self.page)?;
        }
        if !self.key.is_empty() {
            f.write_str(", key ")?;
            self.key
                .iter()
                .try_for_each(|byte| write!(f, "{byte:02x}"))?;
        }
        write!(f, ": {}", self.problem)
    }
}

/// Something that is not wrong and that a reader of the report should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// An index whose keys cannot be made here (Unicode text, several values, substrings) was
    /// walked and not compared with its table.
    IndexNotCompared {
        /// The index.
        subject: Subject,
    },
    /// Columns that a table inherits from a template were not looked at.
    TemplateColumns {
        /// The table.
        subject: Subject,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IndexNotCompared { subject } => {
                write!(
                    f,
                    "{subject}: walked, but its keys cannot be made here to compare them"
                )
            }
            Self::TemplateColumns { subject } => {
                write!(
                    f,
                    "{subject}: columns inherited from a template were not looked at"
                )
            }
        }
    }
}

/// The result of an examination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Pages of trees that were reached.
    pub pages_reached: u64,
    /// Owned pages that are available.
    pub pages_available: u64,
    /// Rows of all tables.
    pub rows: u64,
    /// Entries of all indexes that were compared.
    pub index_entries: u64,
    /// Long values.
    pub long_values: u64,
    /// Rows, entries and long values that are deleted and not yet removed.
    pub awaiting_cleanup: u64,
    /// Everything that is wrong, also beyond those listed.
    pub problems: u64,
    /// What is wrong, up to the first 1,000.
    pub findings: Vec<Finding>,
    /// What else there is to say.
    pub notices: Vec<Notice>,
}

impl Report {
    /// Whether nothing is wrong.
    pub const fn is_clean(&self) -> bool {
        self.problems == 0
    }
}

/// A report in the making.
#[derive(Default)]
pub(super) struct Log {
    pub report: Report,
}

impl Log {
    pub fn add(&mut self, subject: &Subject, page: PageNumber, key: &[u8], problem: Problem) {
        self.report.problems += 1;
        if self.report.findings.len() < MOST_FINDINGS {
            let (subject, key) = (subject.clone(), key.to_vec());
            self.report.findings.push(Finding {
                subject,
                page,
                key,
                problem,
            });
        }
    }

    /// Whether another finding would be listed.
    pub fn has_room(&self) -> bool {
        self.report.findings.len() < MOST_FINDINGS
    }

    /// Damage becomes a finding; an error of the source comes back.
    pub fn damage<E>(&mut self, subject: &Subject, error: ReadError<E>) -> Result<(), E> {
        let damage = error.without_source()?;
        self.add(subject, damage.page(), &[], Problem::Unreadable(damage));
        Ok(())
    }

    /// What was read; none, and a finding, where that was damaged.
    pub fn keep<T, E>(
        &mut self,
        subject: &Subject,
        read: Result<T, ReadError<E>>,
    ) -> Result<Option<T>, E> {
        match read {
            Ok(value) => Ok(Some(value)),
            Err(error) => self.damage(subject, error).map(|()| None),
        }
    }
}
