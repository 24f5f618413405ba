//! The report independent of its form: the content of both the page and the text file, so that they
//! can never differ.

mod running;

use std::borrow::Cow;

pub use running::running_title;

/// A whole report.
#[derive(Clone, Debug)]
pub struct Document {
    /// Top of the document.
    pub banner: Banner,
    /// The rest, in order.
    pub sections: Vec<Section>,
    /// Names and descriptions that users gave: no backtick in them marks a command.
    pub names: Vec<String>,
}

/// The answer, for readers who read nothing else.
#[derive(Clone, Debug)]
pub struct Banner {
    /// Machine and description.
    pub subject: String,
    /// Wall clock at the start of the run.
    pub started: String,
    /// The verdict in one or two words.
    pub verdict: String,
    /// How the verdict is coloured.
    pub tone: Tone,
    /// The main number.
    pub number: String,
    /// Its unit.
    pub number_unit: Cow<'static, str>,
    /// Its glossary entry.
    pub number_metric: &'static str,
    /// Meaning of the run, in sentences.
    pub meaning: Vec<String>,
    /// The next most important numbers.
    pub figures: Vec<Figure>,
}

/// A number next to the main one.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its label.
    pub label: &'static str,
    /// Its glossary entry.
    pub metric: &'static str,
    /// The number with its unit.
    pub value: String,
    /// Reference value next to the number; empty if there is none.
    pub remark: String,
    /// How the value is coloured.
    pub tone: Tone,
}

/// A heading and its contents.
#[derive(Clone, Debug)]
pub struct Section {
    /// Name for links within the page.
    pub id: &'static str,
    /// The heading.
    pub title: &'static str,
    /// The content.
    pub blocks: Vec<Block>,
}

/// A piece of content.
#[derive(Clone, Debug)]
pub enum Block {
    /// Names and values.
    Facts(Vec<Fact>),
    /// Rows and columns.
    Table(Table),
    /// Pictures side by side; omitted in plain text.
    Pictures(Vec<Picture>),
    /// A paragraph of text.
    Note(String),
    /// Lines with their time.
    Log(Vec<(String, String)>),
    /// Foreign text, unchanged.
    Verbatim(String),
}

/// A chart, or another picture with a legend.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Its title.
    pub title: String,
    /// Its glossary entry, if it shows one metric.
    pub metric: Option<&'static str>,
    /// Whether it takes the whole width of the page.
    pub is_wide: bool,
    /// The picture itself.
    pub svg: String,
    /// Class and meaning of each colour.
    pub legend: Vec<(&'static str, String)>,
}

/// A name and a value.
#[derive(Clone, Debug)]
pub struct Fact {
    /// The name.
    pub label: &'static str,
    /// Its glossary entry, if it is a metric.
    pub metric: Option<&'static str>,
    /// The value.
    pub value: Cell,
}

/// Rows and columns.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Its caption.
    pub caption: &'static str,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each with one cell per column.
    pub rows: Vec<TableRow>,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Common heading of neighbouring columns; empty if there is none.
    pub group: &'static str,
    /// Its heading.
    pub label: Cow<'static, str>,
    /// Its glossary entry, if it is a metric.
    pub metric: Option<&'static str>,
    /// Whether it holds numbers, which are right-aligned.
    pub numeric: bool,
    /// Treatment of its cells on a page.
    pub role: ColumnRole,
}

/// Treatment of a column's cells on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnRole {
    /// Shows them.
    Shown,
    /// Keys of a sizing, shown on request, each linked to its formula.
    Key,
    /// Keys on the side of the formulas: the targets of those links.
    Formula,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub struct TableRow {
    /// One cell per column.
    pub cells: Vec<Cell>,
    /// Whether it totals the rows above.
    pub sum: bool,
}

/// One value.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The value.
    pub text: String,
    /// How the value is coloured.
    pub tone: Tone,
    /// Glossary entry, if the cell names a metric itself.
    pub metric: Option<&'static str>,
    /// Used share of a limit, drawn as a bar.
    pub share: Option<f64>,
}

/// How a value looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Like all others.
    Plain,
    /// Missing or unimportant.
    Muted,
    /// Good.
    Pass,
    /// Worth a look.
    Warn,
    /// Bad.
    Fail,
}

impl Figure {
    /// The figure in plain text: label, value and remark, aligned under those of other figures.
    pub(crate) fn line(&self) -> String {
        let line = format!("{:<16}{:<12}{}", self.label, self.value, self.remark);
        line.trim_end().to_owned()
    }
}

impl Column {
    /// A column of text without a metric.
    pub fn text(label: impl Into<Cow<'static, str>>) -> Self {
        let label = label.into();
        Self { group: "", label, metric: None, numeric: false, role: ColumnRole::Shown }
    }

    /// A column of numbers with their glossary entry.
    pub fn metric(label: impl Into<Cow<'static, str>>, metric: &'static str) -> Self {
        Self { metric: Some(metric), numeric: true, ..Self::text(label) }
    }

    /// A column of numbers that belong to different metrics.
    pub fn numbers(label: impl Into<Cow<'static, str>>) -> Self {
        Self { numeric: true, ..Self::text(label) }
    }

    /// The column under a heading shared with its neighbours.
    #[must_use]
    pub(crate) fn under(self, group: &'static str) -> Self {
        Self { group, ..self }
    }
}

impl Cell {
    /// A value in the plain tone.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), tone: Tone::Plain, metric: None, share: None }
    }

    /// The placeholder for a missing value.
    pub fn none() -> Self {
        Self::plain("-").toned(Tone::Muted)
    }

    /// The value, or the placeholder for a missing one.
    pub fn or_none(text: Option<String>) -> Self {
        text.map_or_else(Self::none, Self::plain)
    }

    /// The value in another tone.
    #[must_use]
    pub fn toned(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }

    /// The value, naming the metric of its row.
    #[must_use]
    pub(crate) fn of_metric(self, metric: &'static str) -> Self {
        Self { metric: Some(metric), ..self }
    }
}

impl Picture {
    /// A picture in a separate row, without a metric.
    pub const fn wide(title: String, svg: String, legend: Vec<(&'static str, String)>) -> Self {
        Self { title, metric: None, is_wide: true, svg, legend }
    }
}

impl From<Picture> for Block {
    fn from(picture: Picture) -> Self {
        Self::Pictures(vec![picture])
    }
}

impl TableRow {
    /// A row of plain values.
    pub const fn body(cells: Vec<Cell>) -> Self {
        Self { cells, sum: false }
    }

    /// A row that totals those above.
    pub const fn sum(cells: Vec<Cell>) -> Self {
        Self { cells, sum: true }
    }
}

impl Fact {
    /// A fact that is no metric.
    pub fn new(label: &'static str, value: impl Into<String>) -> Self {
        Self { label, metric: None, value: Cell::plain(value) }
    }

    /// A fact with a glossary entry.
    pub fn metric(label: &'static str, metric: &'static str, value: impl Into<String>) -> Self {
        Self { label, metric: Some(metric), value: Cell::plain(value) }
    }
}

impl Document {
    /// Every glossary entry that the report refers to, in order of appearance, with repetitions.
    pub(crate) fn metrics(&self) -> Vec<&'static str> {
        let mut found = vec![self.banner.number_metric];
        found.extend(self.banner.figures.iter().map(|figure| figure.metric));
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        found.extend(blocks.flat_map(Block::metrics));
        found
    }
}

impl Block {
    /// Every glossary entry that it refers to, in order of appearance, with repetitions.
    pub fn metrics(&self) -> Vec<&'static str> {
        match self {
            Self::Facts(facts) => facts.iter().filter_map(|fact| fact.metric).collect(),
            Self::Table(table) => {
                let columns = table.columns.iter().filter_map(|column| column.metric);
                let cells = table.rows.iter().flat_map(|row| &row.cells);
                columns.chain(cells.filter_map(|cell| cell.metric)).collect()
            }
            Self::Pictures(pictures) => pictures.iter().filter_map(|of| of.metric).collect(),
            Self::Note(_) | Self::Log(_) | Self::Verbatim(_) => Vec::new(),
        }
    }
}
