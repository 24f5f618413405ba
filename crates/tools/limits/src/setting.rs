//! The settings that limit a request or a response, as found in a file.

use std::ops::Range;

use roxmltree::{Attribute, Node};

use crate::application::Protocol;
use crate::config::{ConfigFile, is_inherited, scopes};
use crate::error::ConfigError;
use crate::setting_kind::SettingKind;

/// A limit set in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub kind: SettingKind,
    /// The number as written, in the unit of the kind.
    pub number: u64,
    /// Line, counted from 1.
    pub line: u32,
    /// The binding that the setting belongs to.
    pub binding: Option<String>,
    /// Byte range of the number in the text.
    pub span: Range<usize>,
    /// Whether applications below inherit the setting.
    pub inherited: bool,
}

impl Setting {
    /// The limit in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.number.saturating_mul(self.kind.unit())
    }
}

/// Bindings that carry no client messages: Unified Messaging of old servers, and the management
/// shell of the hosted service.
const NO_MESSAGES: [&str; 2] = ["UMLegacy", "MsOnlineShellService"];

/// The limits of `file` that apply to requests of `protocol`, in the order of the file. Bindings
/// are only considered for OWA and EWS: for other protocols it is unknown which bindings carry
/// messages.
pub(crate) fn settings(file: &ConfigFile, protocol: Protocol) -> Result<Vec<Setting>, ConfigError> {
    let document = file.document()?;
    let scopes = scopes(&document);
    let mut found = Vec::new();
    let limits = ["system.webServer", "security", "requestFiltering", "requestLimits"];
    for (path, kind) in [
        (limits.as_slice(), SettingKind::ContentLength),
        (&["system.web", "httpRuntime"], SettingKind::RequestLength),
    ] {
        if let Some(node) = file.one_below(&scopes, path)? {
            found.extend(attribute(file, node, kind, None)?);
        }
    }
    if matches!(protocol, Protocol::Owa | Protocol::Ews) {
        found.extend(bindings(file, &scopes, protocol)?);
    }
    if protocol == Protocol::ActiveSync {
        for node in file.below(&scopes, &["appSettings", "add"])? {
            if node.attribute("key") == Some(SettingKind::DocumentData.name()) {
                found.extend(value(file, node)?);
            }
        }
    }
    found.sort_by_key(|setting| setting.span.start);
    Ok(found)
}

fn bindings(
    file: &ConfigFile,
    scopes: &[Node<'_, '_>],
    protocol: Protocol,
) -> Result<Vec<Setting>, ConfigError> {
    let mut found = Vec::new();
    for kind in ["customBinding", "webHttpBinding"] {
        let path = ["system.serviceModel", "bindings", kind, "binding"];
        for binding in file.below(scopes, &path)? {
            let name = binding.attribute("name").unwrap_or("");
            if NO_MESSAGES.iter().any(|start| name.starts_with(start)) {
                continue;
            }
            found.extend(attribute(file, binding, SettingKind::ReceivedMessage, Some(name))?);
            for part in binding.children() {
                let kind = match (part.tag_name().name(), protocol) {
                    ("httpTransport" | "httpsTransport", _) => SettingKind::ReceivedMessage,
                    ("readerQuotas", Protocol::Owa) => SettingKind::StringContent,
                    _ => continue,
                };
                found.extend(attribute(file, part, kind, Some(name))?);
            }
        }
    }
    Ok(found)
}

fn attribute(
    file: &ConfigFile,
    node: Node<'_, '_>,
    kind: SettingKind,
    binding: Option<&str>,
) -> Result<Option<Setting>, ConfigError> {
    match node.attribute_node(kind.name()) {
        Some(attribute) => setting(file, node, attribute, kind, binding).map(Some),
        None => Ok(None),
    }
}

fn value(file: &ConfigFile, node: Node<'_, '_>) -> Result<Option<Setting>, ConfigError> {
    match node.attribute_node("value") {
        Some(value) => setting(file, node, value, SettingKind::DocumentData, None).map(Some),
        None => Ok(None),
    }
}

fn setting(
    file: &ConfigFile,
    node: Node<'_, '_>,
    attribute: Attribute<'_, '_>,
    kind: SettingKind,
    binding: Option<&str>,
) -> Result<Setting, ConfigError> {
    let span = attribute.range_value();
    let line = node.document().text_pos_at(span.start).row;
    // Parses the raw text, because edits replace it: numbers with XML entities are refused.
    let written = file.text().get(span.clone()).unwrap_or("");
    let number = written.trim().parse().ok();
    let number = number.filter(|_| written.bytes().all(|byte| byte.is_ascii_digit()));
    Ok(Setting {
        kind,
        number: number.ok_or_else(|| ConfigError::NoNumber {
            file: file.name().to_owned(),
            line,
            setting: kind.name(),
            found: written.to_owned(),
        })?,
        line,
        binding: binding.map(str::to_owned),
        span,
        inherited: is_inherited(node),
    })
}

/// Whether `file` removes IIS's own request filter, as front ends do. It is undocumented whether
/// Exchange's replacement module reads `maxAllowedContentLength`.
pub(crate) fn removes_request_filter(file: &ConfigFile) -> Result<bool, ConfigError> {
    let document = file.document()?;
    let removed = file.below(&scopes(&document), &["system.webServer", "modules", "remove"])?;
    Ok(removed
        .iter()
        .any(|node: &Node<'_, '_>| node.attribute("name") == Some("RequestFilteringModule")))
}
