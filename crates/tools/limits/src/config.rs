//! One configuration file: its text, and how to find the sections that apply to the whole
//! application.

use roxmltree::{Document, Node};

use crate::error::ConfigError;

/// The validated text of a web.config or applicationHost.config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    name: String,
    text: String,
}

/// Attributes that place a section's content outside this file.
const ELSEWHERE: [&str; 2] = ["configSource", "configProtectionProvider"];

impl ConfigFile {
    /// Takes the bytes of the file called `name`.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, ConfigError> {
        let file = Self {
            name: name.to_owned(),
            text: String::from_utf8(bytes.to_vec())
                .map_err(|_| ConfigError::NotText { file: name.to_owned() })?,
        };
        let document = file.document()?;
        let root = document.root_element().tag_name().name();
        if root != "configuration" {
            return Err(ConfigError::NotConfiguration {
                file: name.to_owned(),
                root: root.to_owned(),
            });
        }
        Ok(file)
    }

    /// The file's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The whole text, including the byte order mark.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn document(&self) -> Result<Document<'_>, ConfigError> {
        Document::parse(&self.text).map_err(|error| ConfigError::NotXml {
            file: self.name.clone(),
            problem: error.to_string(),
        })
    }

    /// The line of `node`, counted from 1.
    pub(crate) fn line(node: Node<'_, '_>) -> u32 {
        node.document().text_pos_at(node.range().start).row
    }

    /// The elements at the end of `path` below any of `scopes`; an error if the content of one on
    /// the way is outside this file.
    pub(crate) fn below<'a, 'input>(
        &self,
        scopes: &[Node<'a, 'input>],
        path: &[&str],
    ) -> Result<Vec<Node<'a, 'input>>, ConfigError> {
        let mut found = scopes.to_vec();
        for step in path {
            found = found
                .iter()
                .flat_map(Node::children)
                .filter(|child| child.tag_name().name() == *step)
                .collect();
            if let Some(section) = found.iter().find(|node| is_elsewhere(**node)) {
                return Err(ConfigError::Elsewhere {
                    file: self.name.clone(),
                    line: Self::line(*section),
                    section: section.tag_name().name().to_owned(),
                });
            }
        }
        Ok(found)
    }

    /// The only element at the end of `path`, or `None`.
    pub(crate) fn one_below<'a, 'input>(
        &self,
        scopes: &[Node<'a, 'input>],
        path: &[&str],
    ) -> Result<Option<Node<'a, 'input>>, ConfigError> {
        let found = self.below(scopes, path)?;
        match found.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(*one)),
            [first, second, ..] => Err(ConfigError::Twice {
                file: self.name.clone(),
                lines: (Self::line(*first), Self::line(*second)),
                section: first.tag_name().name().to_owned(),
            }),
        }
    }
}

fn is_elsewhere(node: Node<'_, '_>) -> bool {
    ELSEWHERE.iter().any(|name| node.has_attribute(*name))
}

/// The elements with sections that apply to everything under the file's own path: the root, and
/// `<location>` without a path. Sections for parts of the path, such as `<location path="smime">`,
/// are left out.
pub(crate) fn scopes<'a, 'input>(document: &'a Document<'input>) -> Vec<Node<'a, 'input>> {
    let root = document.root_element();
    let locations = root.children().filter(|child| {
        child.tag_name().name() == "location"
            && matches!(child.attribute("path"), None | Some("" | "."))
    });
    std::iter::once(root).chain(locations).collect()
}

/// Whether `node` applies to the applications below as well.
pub(crate) fn is_inherited(node: Node<'_, '_>) -> bool {
    !node.ancestors().any(|above| above.attribute("inheritInChildApplications") == Some("false"))
}
