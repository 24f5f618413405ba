//! The paper before formatting, so that page and document cannot differ in content.

use report::document::Block;

use crate::Picture;

/// A whole paper.
#[derive(Clone, Debug)]
pub struct Paper {
    pub(crate) cover: Cover,
    pub(crate) chapters: Vec<Chapter>,
}

/// The title page.
#[derive(Clone, Debug)]
pub(crate) struct Cover {
    /// Who publishes it.
    pub vendor: Words,
    /// The solution.
    pub title: Words,
    /// More lines, each with its label.
    pub lines: Vec<(&'static str, Words)>,
    /// Responsibilities, and permitted uses of the paper.
    pub legal: Vec<Words>,
}

/// A heading and its contents.
#[derive(Clone, Debug)]
pub(crate) struct Chapter {
    /// Name for links within the paper.
    pub id: String,
    /// The heading.
    pub title: String,
    /// Whether it begins on a new page.
    pub opens_page: bool,
    pub content: Vec<Content>,
}

/// A piece of content.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A second-level heading.
    Heading(String),
    Paragraph(Words),
    /// Steps or points.
    List(Vec<Words>),
    Table(PaperTable),
    /// A picture supplied by the vendor, with its caption.
    Figure(Picture, String),
    /// A part of a run's own report.
    Report(Block),
}

/// A table of the paper.
#[derive(Clone, Debug)]
pub(crate) struct PaperTable {
    /// Its number and subject.
    pub caption: String,
    /// Headings; empty if the first column names each row.
    pub head: Vec<&'static str>,
    /// The rows, all with the same number of cells.
    pub rows: Vec<Vec<Words>>,
}

/// A text, or a marked gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// Text from a record or from the vendor.
    Said(String),
    /// Text that neither provides.
    Missing {
        /// The missing item.
        what: &'static str,
        /// The key of the vendor's file, or the test, that would provide it.
        wanted: Wanted,
    },
}

/// The source that would fill a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wanted {
    /// A key of the vendor's file.
    Key(&'static str),
    /// A run of a test.
    Test(&'static str),
}

impl Words {
    pub(crate) fn said(text: impl Into<String>) -> Self {
        Self::Said(text.into())
    }

    /// The text; gaps are in brackets, as in every form of the paper.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Said(text) => text.clone(),
            Self::Missing { what, wanted: Wanted::Key(key) } => {
                format!("[Missing: {what} ({key})]")
            }
            Self::Missing { what, wanted: Wanted::Test(test) } => {
                format!("[Missing: {what} (a run of the {test})]")
            }
        }
    }

    pub(crate) const fn is_missing(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }

    /// The record's value, or else a gap that a run of the performance test would fill.
    pub(crate) fn of_run(text: Option<String>, what: &'static str) -> Self {
        Self::or_missing(text, what, Wanted::Test("performance test"))
    }

    /// The text, or the source that would supply it.
    pub(crate) fn or_missing(text: Option<String>, what: &'static str, wanted: Wanted) -> Self {
        text.map_or(Self::Missing { what, wanted }, Self::Said)
    }
}

impl Paper {
    /// The distinct missing items, in words: the key of the vendor's file or the test that would
    /// supply each.
    pub fn gaps(&self) -> Vec<String> {
        let mut wanted: Vec<Wanted> = self.words().into_iter().filter_map(gap).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted
            .into_iter()
            .map(|wanted| match wanted {
                Wanted::Key(key) => key.to_owned(),
                Wanted::Test(test) => format!("a run of the {test}"),
            })
            .collect()
    }

    fn words(&self) -> Vec<&Words> {
        let cover = &self.cover;
        let mut words = vec![&cover.vendor, &cover.title];
        words.extend(cover.lines.iter().map(|(_, words)| words));
        words.extend(&cover.legal);
        for content in self.chapters.iter().flat_map(|chapter| &chapter.content) {
            match content {
                Content::Paragraph(said) => words.push(said),
                Content::List(points) => words.extend(points),
                Content::Table(table) => words.extend(table.rows.iter().flatten()),
                Content::Heading(_) | Content::Figure(..) | Content::Report(_) => {}
            }
        }
        words
    }
}

fn gap(words: &Words) -> Option<Wanted> {
    match words {
        Words::Missing { wanted, .. } => Some(*wanted),
        Words::Said(_) => None,
    }
}
