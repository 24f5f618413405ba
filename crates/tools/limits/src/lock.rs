//! Settings that a configuration file locks for the files below it: if one of them sets a locked
//! setting, IIS answers requests with error 500.19.

use roxmltree::Node;

use crate::config::ConfigFile;
use crate::error::{ConfigError, Lock};
use crate::host::covers;
use crate::setting_kind::SettingKind;

/// Sections that enclose the request limits, outermost first.
const SECTION: [&str; 3] = ["system.webServer", "security", "requestFiltering"];
const LIMITS: &str = "requestLimits";

/// The lock that `file` puts on the path `location`, such as `Default Web Site/owa`. The nearest
/// declaration counts; of two that are equally near, the locking one.
pub(crate) fn lock(file: &ConfigFile, location: &str) -> Result<Option<Lock>, ConfigError> {
    let document = file.document()?;
    let root = document.root_element();
    let mut found = default_lock(file, root)?;
    let mut denied_at = 0;
    for scope in covering(root, location) {
        let Some(section) = file.one_below(&[scope], &SECTION)? else {
            continue;
        };
        if let Some(lock) = attribute_lock(file, section) {
            return Ok(Some(lock));
        }
        let depth = path(scope).len();
        match mode(scope) {
            Some(Override::Deny(by)) => (found, denied_at) = (Some(made(file, scope, by)), depth),
            // At equal distance the lock counts.
            Some(Override::Allow)
                if denied_at != depth || found.as_ref().is_some_and(is_default) =>
            {
                found = None;
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The root and the locations above `location`, the farthest first.
fn covering<'a, 'input>(root: Node<'a, 'input>, location: &str) -> Vec<Node<'a, 'input>> {
    let mut scopes = vec![root];
    scopes.extend(
        root.children()
            .filter(|node| node.tag_name().name() == "location" && covers(path(*node), location)),
    );
    scopes.sort_by_key(|scope| path(*scope).len());
    scopes
}

fn path<'a>(scope: Node<'a, '_>) -> &'a str {
    scope.attribute("path").filter(|path| *path != ".").unwrap_or("")
}

enum Override {
    Allow,
    Deny(&'static str),
}

/// The override mode that a location sets for its sections.
fn mode(scope: Node<'_, '_>) -> Option<Override> {
    let [mode, allow] = ["overrideMode", "allowOverride"]
        .map(|name| scope.attribute(name).unwrap_or_default().to_ascii_lowercase());
    match (mode.as_str(), allow.as_str()) {
        ("deny", _) => Some(Override::Deny("overrideMode")),
        (_, "false") => Some(Override::Deny("allowOverride")),
        ("allow", _) | (_, "true") => Some(Override::Allow),
        _ => None,
    }
}

/// The lock that the declaration of the section carries.
fn default_lock(file: &ConfigFile, root: Node<'_, '_>) -> Result<Option<Lock>, ConfigError> {
    let mut groups = file.below(&[root], &["configSections"])?;
    for name in &SECTION[..2] {
        groups = file.below(&groups, &["sectionGroup"])?;
        groups.retain(|group| group.attribute("name") == Some(name));
    }
    let sections = file.below(&groups, &["section"])?;
    let mut sections = sections.into_iter();
    let Some(section) = sections.find(|node| node.attribute("name") == Some(SECTION[2])) else {
        return Ok(None);
    };
    let is_only_here =
        matches!(section.attribute("allowDefinition"), Some("AppHostOnly" | "MachineOnly"));
    Ok(if is_only_here {
        Some(made(file, section, "allowDefinition"))
    } else if section.attribute("overrideModeDefault") == Some("Deny") {
        Some(made(file, section, DEFAULT))
    } else {
        None
    })
}

const DEFAULT: &str = "overrideModeDefault";

fn is_default(lock: &Lock) -> bool {
    lock.by == DEFAULT
}

/// The lock on an individual attribute or element; no location lifts it.
fn attribute_lock(file: &ConfigFile, section: Node<'_, '_>) -> Option<Lock> {
    if let Some(by) = element_lock(section) {
        return Some(made(file, section, by));
    }
    let mut children = section.children();
    let limits = children.find(|node| node.tag_name().name() == LIMITS)?;
    item_lock(limits).map(|by| made(file, limits, by))
}

fn element_lock(section: Node<'_, '_>) -> Option<&'static str> {
    if is_locked_item(section) {
        Some("lockItem")
    } else if names(section, "lockElements", LIMITS) == Some(true) {
        Some("lockElements")
    } else if names(section, "lockAllElementsExcept", LIMITS) == Some(false) {
        Some("lockAllElementsExcept")
    } else {
        None
    }
}

fn item_lock(limits: Node<'_, '_>) -> Option<&'static str> {
    let setting = SettingKind::ContentLength.name();
    if is_locked_item(limits) {
        Some("lockItem")
    } else if names(limits, "lockAttributes", setting) == Some(true) {
        Some("lockAttributes")
    } else if names(limits, "lockAllAttributesExcept", setting) == Some(false) {
        Some("lockAllAttributesExcept")
    } else {
        None
    }
}

fn is_locked_item(node: Node<'_, '_>) -> bool {
    node.attribute("lockItem") == Some("true")
}

/// Whether the list in the attribute `list` names `word`, or everything; `None` without such a
/// list.
fn names(node: Node<'_, '_>, list: &str, word: &str) -> Option<bool> {
    let mut words = node.attribute(list)?.split(',').map(str::trim);
    Some(words.any(|found| found == word || found == "*"))
}

fn made(file: &ConfigFile, node: Node<'_, '_>, by: &'static str) -> Lock {
    Lock { file: file.name().to_owned(), line: ConfigFile::line(node), by }
}
