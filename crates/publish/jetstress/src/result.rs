//! A published result of Jetstress 2010 or 2013, HTML or XML, as the data of a record. Both forms
//! are parsed to one outline of sections and rows, so that a single reader extracts the figures.

mod figures;
mod html;
mod number;
mod outline;
mod tables;
mod xml;

use std::fmt;

use record::{ImportedResult, TestType};

use outline::Outline;

/// Larger than any real result: the test log of a day and hundreds of databases take a tenth of it.
const LONGEST_BYTES: usize = 4 << 20;

/// More than the databases of any server and the counters of any result.
const MOST_ROWS: usize = 1_000;

/// Kind of a Jetstress file, by its first element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JetstressFile {
    /// A configuration.
    Configuration,
    /// A result, as a page.
    HtmlResult,
    /// A result, as XML.
    XmlResult,
}

/// A result and its kind of test.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedResult {
    /// The kind of test.
    pub test: TestType,
    /// Name of the machine; empty if it is not stated.
    pub machine: String,
    /// Its operating system; empty if it is not stated.
    pub operating_system: String,
    /// The tester's comment.
    pub description: String,
    /// The instrument's version only, as written.
    pub instrument_version: Option<String>,
    /// Version of the engine without its name, as written.
    pub engine_version: Option<String>,
    /// The figures.
    pub result: ImportedResult,
}

/// Why a file is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultError {
    /// Longer than any real result.
    TooLong,
    /// It is not valid XML.
    NotXml(String),
    /// The page is truncated.
    CutOff,
    /// Neither a result nor a configuration.
    Other,
    /// More rows than any real result.
    TooMany,
    /// A result without any figures.
    NoFigures,
    /// A figure is unreadable or ambiguous.
    Value {
        /// Its name.
        name: String,
        /// The value.
        value: String,
    },
}

/// The kind of a file that starts with `text`; `None` if it is not a Jetstress file.
pub fn kind_of(text: &str) -> Option<JetstressFile> {
    match html::first_element(text).as_deref() {
        Some("configuration") => Some(JetstressFile::Configuration),
        Some("html") => Some(JetstressFile::HtmlResult),
        Some("output") => Some(JetstressFile::XmlResult),
        _ => None,
    }
}

/// The result in `text`; its file's name supplies the time and the kind of test if the text does
/// not.
///
/// # Errors
///
/// Names the kind of text found instead, or the figure that cannot be read.
pub fn parse_result(text: &str, file: &str) -> Result<PublishedResult, ResultError> {
    if text.len() > LONGEST_BYTES {
        return Err(ResultError::TooLong);
    }
    let outline = match kind_of(text) {
        Some(JetstressFile::HtmlResult) => html::outline(text)?,
        Some(JetstressFile::XmlResult) => xml::outline(text)?,
        Some(JetstressFile::Configuration) | None => return Err(ResultError::Other),
    };
    if !is_of_jetstress(&outline) {
        return Err(ResultError::Other);
    }
    figures::read(&outline, file)
}

/// Many other pages and XML files begin with the same element, so known figures decide.
fn is_of_jetstress(outline: &Outline) -> bool {
    let names =
        ["Jetstress Version", "Overall Test Result", "Achieved Transactional I/O per Second"];
    names.iter().any(|name| outline.value(name).is_some()) || !tables::io(outline).is_empty()
}

impl fmt::Display for ResultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "is longer than any result; name the right file"),
            Self::NotXml(why) => {
                write!(f, "is no whole XML: {why}; name the file as Jetstress wrote it")
            }
            Self::CutOff => write!(
                f,
                "ends before </html>, so it was cut off; name the file as Jetstress wrote it"
            ),
            Self::Other => write!(
                f,
                "is neither a result of Jetstress 2010 or 2013 nor a configuration; name a \
                 Performance_, Stress_, DatabaseBackup_ or SoftRecovery_ file, HTML or XML, or a \
                 JetstressConfig.xml"
            ),
            Self::TooMany => write!(
                f,
                "has more than {MOST_ROWS} databases or counters, as no result has; name the right \
                 file"
            ),
            Self::NoFigures => {
                write!(f, "is a result without any figure; name that of a test that ended")
            }
            Self::Value { name, value } => write!(
                f,
                "{name} holds `{value}`, which is no number or could be two; write it with a point \
                 before its decimals"
            ),
        }
    }
}

impl std::error::Error for ResultError {}
