//! Rules that keep lints in force.

use super::sources::Tree;

/// Crates that reach outside the process, and so are exempt from the ban on ambient time, threads
/// and files.
const EXEMPT: &[&str] = &[
    "device-os",
    "host",
    "console",
    "databases",
    "designs",
    "fleets",
    "volumes",
    "plimsoll",
    "plimsoll-ese",
    "serve",
    "testkit",
    "xtask",
    "bench",
];

/// Complains of lints switched off other than by `expect` with a reason, since `expect` warns once
/// it is no longer needed.
pub(super) fn attributes(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for source in &tree.sources {
        for (offset, _) in source.masked.match_indices('#') {
            let attribute = source.masked[offset + 1..].trim_start_matches('!');
            let line = source.masked[..offset].matches('\n').count() + 1;
            let path = &source.path;
            if attribute.starts_with("[allow(") {
                found.push(format!("{path}:{line}: use #[expect(lint, reason = \"...\")]"));
            }
            let end = attribute.find(']').unwrap_or(attribute.len());
            let expects = attribute.starts_with("[expect(");
            if expects && !attribute[..end].contains("reason") {
                found.push(format!("{path}:{line}: say the reason = \"...\" of this expect"));
            }
        }
    }
    found
}

/// Complains of a crate's `clippy.toml` that does not repeat the root's bans, which it replaces.
pub(super) fn clippy_files(tree: &Tree) -> Vec<String> {
    let root = banned(tree.text("clippy.toml").unwrap_or_default());
    let mut found = Vec::new();
    for (path, text) in &tree.texts {
        let Some(folder) = path.strip_suffix("/clippy.toml") else {
            continue;
        };
        let package = folder.rsplit('/').next().unwrap_or(folder);
        if EXEMPT.contains(&package) || !folder.starts_with("crates/") {
            continue;
        }
        let here = banned(text);
        let missing = root.iter().filter(|method| !here.contains(method));
        found.extend(missing.map(|method| format!("{path}: must repeat the ban on {method}")));
    }
    if root.is_empty() {
        found.push("clippy.toml: bans nothing any more".to_string());
    }
    found
}

/// The paths in `disallowed-methods`.
fn banned(text: &str) -> Vec<String> {
    let Ok(table) = text.parse::<toml::Table>() else {
        return Vec::new();
    };
    let Some(methods) = table.get("disallowed-methods").and_then(toml::Value::as_array) else {
        return Vec::new();
    };
    let path = |method: &toml::Value| {
        let path = method.get("path").unwrap_or(method);
        path.as_str().map(str::to_string)
    };
    methods.iter().filter_map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::banned;

    #[test]
    fn banned_methods_are_read_in_both_spellings() {
        let text = "disallowed-methods = [\"a::b\", { path = \"c::d\", reason = \"no\" }]";
        assert_eq!(banned(text), ["a::b", "c::d"]);
    }
}
