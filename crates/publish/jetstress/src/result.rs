//! A published result of Jetstress 2010 or 2013, HTML or XML, as the data of a record. Both forms
//! become one outline of sections and rows, so that figures are read in one place.

mod figures;
mod html;
mod number;
mod outline;
mod tables;
mod xml;

use std::fmt;

use record::{ImportedResult, TestType};

use outline::Outline;

/// No result is longer; the test log of a day and hundreds of databases take a tenth of it.
const LONGEST_BYTES: usize = 4 << 20;

/// No server has more databases, nor a result more counters.
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

/// A result, and the kind of test that it is of.
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
    /// The version of the instrument alone, as written.
    pub instrument_version: Option<String>,
    /// The version of the engine alone, as written.
    pub engine_version: Option<String>,
    /// The figures.
    pub result: ImportedResult,
}

/// Why a file is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultError {
    /// It is longer than any result.
    TooLong,
    /// It is no XML.
    NotXml(String),
    /// The page ends before its end.
    CutOff,
    /// It is neither a result nor a configuration.
    Other,
    /// It has more rows than any result.
    TooMany,
    /// It is a result without any figure.
    NoFigures,
    /// A figure cannot be read, or can be read in two ways.
    Value {
        /// Its name.
        name: String,
        /// The value.
        value: String,
    },
}

/// The kind of the file that begins with `text`; `None` if it is no file of Jetstress.
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

/// Pages and XML with the same first element are many.
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
