//! Rules for the documents: required mentions, and links that lead to existing files.

use super::sources::Tree;

/// Complains of direct dependencies without a line that says why they are needed.
pub(super) fn dependencies(tree: &Tree) -> Vec<String> {
    let page = tree.text("docs/dependencies.md").unwrap_or_default();
    let manifest = tree.text("Cargo.toml").unwrap_or_default();
    let Ok(table) = manifest.parse::<toml::Table>() else {
        return vec!["Cargo.toml: is not TOML".to_string()];
    };
    let declared = table
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"))
        .and_then(toml::Value::as_table);
    let Some(declared) = declared else {
        return vec!["Cargo.toml: has no [workspace.dependencies]".to_string()];
    };
    declared
        .iter()
        .filter(|(name, value)| value.get("path").is_none() && !page.contains(&format!("`{name}`")))
        .map(|(name, _)| format!("docs/dependencies.md: say why `{name}` is needed"))
        .collect()
}

/// Complains of links between documents whose files do not exist.
pub(super) fn links(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in &tree.texts {
        if !path.to_ascii_lowercase().ends_with(".md") {
            continue;
        }
        let folder = tree.root.join(path);
        let folder = folder.parent().unwrap_or(&tree.root);
        for (offset, _) in text.match_indices("](") {
            let target = text[offset + 2..].split([')', '#', ' ']).next().unwrap_or_default();
            let local = !target.is_empty() && !target.contains("://");
            if local && !folder.join(target).exists() {
                let line = text[..offset].matches('\n').count() + 1;
                found.push(format!("{path}:{line}: the link to {target} leads nowhere"));
            }
        }
    }
    found
}

/// Complains of files in the root that are not documents, settings or licences, such as the output
/// of a program that was tried there.
pub(super) fn strays(tree: &Tree) -> Vec<String> {
    let belongs = |path: &str| {
        let known = [".md", ".toml", ".lock"].iter().any(|ending| path.ends_with(ending));
        known || path.starts_with("LICENSE-") || path.starts_with('.')
    };
    let at_root = tree.texts.iter().filter(|(path, _)| !path.contains('/'));
    at_root
        .filter(|(path, _)| !belongs(path))
        .map(|(path, _)| format!("{path}: does not belong at the root; remove it or move it"))
        .collect()
}
