//! Edits that set a new limit in a file and preserve every other byte.

use std::ops::Range;

use roxmltree::Node;

use crate::application::{Application, Protocol};
use crate::config::{ConfigFile, scopes};
use crate::error::ConfigError;
use crate::setting::{Setting, settings};
use crate::setting_kind::SettingKind;

/// Maximum value: `maxRequestLength` and `maxStringContentLength` are signed 32-bit numbers, and
/// the runtime counts the first in bytes.
pub const LARGEST_BYTES: u64 = i32::MAX as u64;

/// Elements that enclose `maxAllowedContentLength`, outermost first.
const LIMITS: [&str; 4] = ["system.webServer", "security", "requestFiltering", "requestLimits"];

/// A change of one setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The setting.
    pub kind: SettingKind,
    /// Line in the old file, counted from 1.
    pub line: u32,
    /// The binding that the setting belongs to.
    pub binding: Option<String>,
    /// The present number, in the setting's unit; `None` if the setting is added.
    pub old: Option<u64>,
    /// The new number, in the same unit.
    pub new: u64,
    span: Range<usize>,
    text: String,
}

/// The edits that set the limits of `application` in its file to `bytes`, rounded up to the
/// setting's unit; empty if all have that value.
pub fn plan(
    file: &ConfigFile,
    application: &Application,
    bytes: u64,
) -> Result<Vec<Edit>, ConfigError> {
    let found = settings(file, application.protocol)?;
    let mut edits: Vec<Edit> = found
        .iter()
        .filter(|setting| is_wanted(application.protocol, setting, bytes))
        .filter_map(|setting| replacement(setting, bytes))
        .collect();
    for kind in needed(application) {
        if found.iter().all(|setting| setting.kind != kind) {
            edits.push(addition(file, kind, bytes)?);
        }
    }
    edits.sort_by_key(|edit| edit.span.start);
    confirm(file, application, &edits, bytes)?;
    Ok(edits)
}

/// The text of the file after the edits.
pub fn apply(file: &ConfigFile, edits: &[Edit]) -> String {
    let mut text = String::with_capacity(file.text().len() + 256);
    let mut done = 0;
    for edit in edits {
        assert!(done <= edit.span.start, "edits are in order");
        text.push_str(&file.text()[done..edit.span.start]);
        text.push_str(&edit.text);
        done = edit.span.end;
    }
    text.push_str(&file.text()[done..]);
    text
}

/// EWS does not use `maxRequestLength`, which is at its maximum; it is raised only if it would take
/// effect.
fn is_wanted(protocol: Protocol, setting: &Setting, bytes: u64) -> bool {
    let kind = setting.kind;
    protocol != Protocol::Ews || kind != SettingKind::RequestLength || setting.bytes() < bytes
}

/// Settings that the file must contain, so that no lower default applies.
fn needed(application: &Application) -> Vec<SettingKind> {
    let mut kinds = vec![SettingKind::ContentLength];
    if application.protocol != Protocol::Ews {
        kinds.push(SettingKind::RequestLength);
    }
    kinds
}

fn replacement(setting: &Setting, bytes: u64) -> Option<Edit> {
    let new = setting.kind.number_for(bytes);
    (setting.number != new).then(|| Edit {
        kind: setting.kind,
        line: setting.line,
        binding: setting.binding.clone(),
        old: Some(setting.number),
        new,
        span: setting.span.clone(),
        text: new.to_string(),
    })
}

/// Adds the setting to the innermost existing section.
fn addition(file: &ConfigFile, kind: SettingKind, bytes: u64) -> Result<Edit, ConfigError> {
    let path: &[&'static str] = match kind {
        SettingKind::ContentLength => &LIMITS,
        _ => &["system.web", "httpRuntime"],
    };
    let document = file.document()?;
    let scopes = scopes(&document);
    let mut place: Option<(usize, Node<'_, '_>)> = None;
    for depth in 1..=path.len() {
        match file.one_below(&scopes, &path[..depth])? {
            Some(node) => place = Some((depth, node)),
            None => break,
        }
    }
    let (depth, node) = place.ok_or_else(|| no_place(file, path[0]))?;
    let new = kind.number_for(bytes);
    let attribute = format!(" {}=\"{new}\"", kind.name());
    let (at, text) = if depth == path.len() {
        (name_end(file, node), attribute)
    } else {
        let at = end_tag(file, node).ok_or_else(|| no_place(file, path[depth - 1]))?;
        (line_start(file, at), element(file, node, &path[depth..], &attribute))
    };
    Ok(Edit {
        kind,
        line: document.text_pos_at(at).row,
        binding: None,
        old: None,
        new,
        span: at..at,
        text,
    })
}

fn no_place(file: &ConfigFile, section: &'static str) -> ConfigError {
    ConfigError::NoPlace { file: file.name().to_owned(), section }
}

/// Byte offset after the element's name in its start tag.
fn name_end(file: &ConfigFile, node: Node<'_, '_>) -> usize {
    let start = node.range().start + 1;
    let rest = &file.text()[start..];
    let length = rest.find(|letter: char| letter.is_whitespace() || matches!(letter, '/' | '>'));
    start + length.unwrap_or(rest.len())
}

/// Byte offset of the end tag; `None` if the element has none.
fn end_tag(file: &ConfigFile, node: Node<'_, '_>) -> Option<usize> {
    let range = node.range();
    let text = &file.text()[range.clone()];
    let at = text.rfind("</").filter(|_| !text.ends_with("/>"))?;
    Some(range.start + at)
}

/// The start of the line that contains `at` if only blanks lie between them, else `at` itself.
fn line_start(file: &ConfigFile, at: usize) -> usize {
    let start = file.text()[..at].rfind('\n').map_or(0, |end| end + 1);
    let is_blank = file.text()[start..at].bytes().all(|byte| matches!(byte, b' ' | b'\t'));
    if is_blank { start } else { at }
}

/// The nested elements `path`, indented below `parent`; the innermost has `attribute`.
fn element(file: &ConfigFile, parent: Node<'_, '_>, path: &[&str], attribute: &str) -> String {
    let text = file.text();
    let start = text[..parent.range().start].rfind('\n').map_or(0, |end| end + 1);
    let indent: String =
        text[start..].chars().take_while(|letter| matches!(letter, ' ' | '\t')).collect();
    let style = Style {
        step: if indent.contains('\t') { "\t" } else { "  " },
        line_end: if text.contains("\r\n") { "\r\n" } else { "\n" },
    };
    style.nested(&format!("{indent}{}", style.step), path, attribute)
}

/// Indentation and line ends of the file.
struct Style {
    step: &'static str,
    line_end: &'static str,
}

impl Style {
    fn nested(&self, indent: &str, path: &[&str], attribute: &str) -> String {
        let end = self.line_end;
        match path {
            [] => String::new(),
            [last] => format!("{indent}<{last}{attribute} />{end}"),
            [outer, inner @ ..] => {
                let inner = self.nested(&format!("{indent}{}", self.step), inner, attribute);
                format!("{indent}<{outer}>{end}{inner}{indent}</{outer}>{end}")
            }
        }
    }
}

/// Rereads the edited text to check that every limit has the wanted value.
fn confirm(
    file: &ConfigFile,
    application: &Application,
    edits: &[Edit],
    bytes: u64,
) -> Result<(), ConfigError> {
    let edited = ConfigFile::parse(file.name(), apply(file, edits).as_bytes())?;
    let found = settings(&edited, application.protocol)?;
    let wrong = found.iter().find(|setting| {
        let wanted = setting.kind.number_for(bytes);
        setting.number != wanted && is_wanted(application.protocol, setting, bytes)
    });
    let absent = needed(application)
        .into_iter()
        .find(|kind| found.iter().all(|setting| setting.kind != *kind));
    match wrong.map(|setting| setting.kind).or(absent) {
        None => Ok(()),
        Some(kind) => {
            Err(ConfigError::NotUnderstood { file: file.name().to_owned(), setting: kind.name() })
        }
    }
}

/// Whether the back end of `application` keeps old values after a change, because its configuration
/// makes ASP.NET ignore changes of its files.
pub fn needs_recycling(file: &ConfigFile) -> Result<bool, ConfigError> {
    let document = file.document()?;
    let runtime = file.one_below(&scopes(&document), &["system.web", "httpRuntime"])?;
    Ok(runtime.is_some_and(|node| node.attribute("fcnMode") == Some("Disabled")))
}
