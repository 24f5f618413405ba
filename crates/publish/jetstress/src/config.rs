//! Converts the configuration of Jetstress 2010 and 2013 to a plan: each element is converted, or
//! listed with the reason why it was not.

mod draft;
mod elements;
mod problem;

use std::fmt;

use plan::{Overrides, Plan, PlanError, VolumeSize};
use roxmltree::{Document, Node};
use units::Bytes;

use draft::Draft;
pub use problem::ConversionProblem;

/// Maximum size of a configuration; one with hundreds of databases takes a tenth of it.
const LONGEST_BYTES: usize = 4 << 20;

/// A plan made of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanDraft {
    /// Text of the plan, starting with the elements that were not converted.
    pub text: String,
    /// The elements that were not converted exactly, each with the reason.
    pub remarks: Vec<(String, String)>,
}

/// Why a configuration cannot become a plan.
#[derive(Clone, Debug)]
pub enum ConversionError {
    /// Longer than any real configuration.
    TooLong,
    /// It is not valid XML.
    NotXml(String),
    /// It is another document.
    Other {
        /// Its root element.
        root: String,
    },
    /// All elements that affect the load but could not be read.
    Problems(Vec<ConversionProblem>),
    /// It names no databases.
    NoInstances,
    /// The resulting plan is refused.
    Plan(PlanError),
}

/// The plan equivalent to the configuration `text`; folders of Windows become folders below `root`.
///
/// # Errors
///
/// Returns the unreadable elements, or why the plan would be refused.
pub fn plan_of_config(text: &str, root: &str) -> Result<PlanDraft, ConversionError> {
    if text.len() > LONGEST_BYTES {
        return Err(ConversionError::TooLong);
    }
    let document =
        Document::parse(text).map_err(|error| ConversionError::NotXml(error.to_string()))?;
    let configuration = document.root_element();
    let name = configuration.tag_name().name();
    if name != "configuration" {
        return Err(ConversionError::Other { root: name.to_owned() });
    }
    let mut draft = Draft::default();
    for (path, value) in leaves(configuration) {
        elements::take(&mut draft, &path, &value);
    }
    let (text, remarks) = draft.finish(root)?;
    let overrides = Overrides { volume_of: Some(any_volume), ..Overrides::default() };
    Plan::parse_with("the plan of this configuration", &text, &overrides)
        .map_err(ConversionError::Plan)?;
    Ok(PlanDraft { text, remarks })
}

/// Placeholder size: configurations omit volumes, and the plan uses those of the machine it runs
/// on.
#[expect(clippy::unnecessary_wraps, reason = "a look at volumes that are there can fail")]
fn any_volume(folder: &str) -> Result<VolumeSize, String> {
    Ok(VolumeSize { volume: folder.to_owned(), total: Bytes::from_gib(1 << 12) })
}

/// All values in order: elements without children, and attributes, by section and name.
fn leaves(configuration: Node<'_, '_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for node in configuration.descendants().filter(Node::is_element).skip(1) {
        let name = node.tag_name().name();
        let parent = node.parent().map_or("", |parent| parent.tag_name().name());
        if name == "EseInstance" || name == "Thresholds" {
            found.push((format!("begin {name}"), String::new()));
        }
        for attribute in node.attributes() {
            found.push((format!("{name}@{}", attribute.name()), attribute.value().to_owned()));
        }
        let is_section =
            node.attributes().len() > 0 || node.children().any(|child| child.is_element());
        if !is_section {
            let value = node.text().unwrap_or_default().trim().to_owned();
            found.push((element_name(parent, name), value));
        }
    }
    found
}

/// Paths and limits are identified by their parent, everything else by its name.
fn element_name(parent: &str, name: &str) -> String {
    match parent {
        "DatabasePaths" | "Thresholds" => format!("{parent}/{name}"),
        _ => name.to_owned(),
    }
}

impl fmt::Display for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "is longer than any configuration; name the right file"),
            Self::NotXml(why) => {
                write!(f, "is no XML: {why}; name a JetstressConfig.xml or a result")
            }
            Self::Other { root } => write!(
                f,
                "begins with <{root}>, where a configuration of Jetstress has <configuration>; \
                 name a JetstressConfig.xml, or a result of Jetstress as HTML or XML"
            ),
            Self::Problems(problems) => {
                for (at, problem) in problems.iter().enumerate() {
                    let line = if at > 0 { "\n  " } else { "" };
                    write!(f, "{line}{problem}")?;
                }
                Ok(())
            }
            Self::NoInstances => ConversionProblem::NoInstances.fmt(f),
            Self::Plan(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ConversionError {}
