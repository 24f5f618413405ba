//! Turns the repository's pages into those of a site: decisions become pages too, and links to
//! files that are not pages lead to the repository.

use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};

use xtask::failure::Failure;

use super::links::targets;

/// Adds the decisions to the summary of `docs`, and rewrites links that lead out of `docs`.
pub(super) fn adapt(docs: &Path, address: &str) -> Result<(), Failure> {
    let summary = docs.join("SUMMARY.md");
    let decisions = decisions(&docs.join("decisions"))?;
    let index = format!("# Decisions\n\n{}", list(&decisions, ""));
    write(&docs.join("decisions/index.md"), &index)?;
    let parent = "- [Decisions](decisions/index.md)\n";
    let listed = list(&decisions, "decisions/").replace("- [", "    - [");
    write(&summary, &format!("{}\n{parent}{listed}", read(&summary)?.trim_end()))?;
    for page in found(docs, "md")? {
        let text = read(&page)?;
        let folder = page.parent().unwrap_or(docs);
        let folder = folder.strip_prefix(docs).map_err(Failure::of)?;
        write(&page, &outward(&text, folder, address))?;
    }
    Ok(())
}

/// Name and title of each decision, in order.
fn decisions(folder: &Path) -> Result<Vec<(String, String)>, Failure> {
    let mut decisions = Vec::new();
    for page in found(folder, "md")? {
        let text = read(&page)?;
        let title = text.lines().next().unwrap_or_default().trim_start_matches('#').trim();
        let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        decisions.push((name, title.to_owned()));
    }
    decisions.sort();
    Ok(decisions)
}

fn list(decisions: &[(String, String)], folder: &str) -> String {
    let mut list = String::new();
    for (name, title) in decisions {
        let _ = writeln!(list, "- [{title}]({folder}{name})");
    }
    list
}

/// The text of a page in `folder` of the documents, with links to other folders of the repository
/// redirected to `address`.
fn outward(text: &str, folder: &Path, address: &str) -> String {
    let mut text = text.to_owned();
    for target in targets(&text) {
        let leaves = target
            .starts_with("../")
            .then(|| normal(&Path::new("docs").join(folder).join(&target)))
            .filter(|path| !path.starts_with("docs"));
        if let Some(path) = leaves {
            let there = format!("]({address}/blob/HEAD/{})", path.display());
            text = text.replace(&format!("]({target})"), &there);
        }
    }
    text
}

/// A path without `..` and `.`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(normal.pop()),
            Component::Normal(name) => normal.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    normal
}

/// Links and pictures in rendered pages whose files do not exist.
pub(super) fn faults(html: &Path) -> Result<Vec<String>, Failure> {
    let mut faults = Vec::new();
    for page in found(html, "html")? {
        let folder = page.parent().unwrap_or(html);
        for target in rendered(&read(&page)?) {
            let file = target.split(['#', '?']).next().unwrap_or_default();
            let is_elsewhere = file.contains(':') || file.starts_with('/') || file.is_empty();
            if !is_elsewhere && !folder.join(file).exists() {
                faults.push(format!("{}: {target}", page.display()));
            }
        }
    }
    Ok(faults)
}

/// Targets of the links and pictures of a rendered page.
fn rendered(text: &str) -> Vec<&str> {
    let parts = text.split(" href=\"").skip(1).chain(text.split(" src=\"").skip(1));
    parts.filter_map(|part| part.split_once('"')).map(|(target, _)| target).collect()
}

/// Files below a folder with this extension.
fn found(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(Failure::of)? {
        let path = entry.map_err(Failure::of)?.path();
        if path.is_dir() {
            files.extend(found(&path, extension)?);
        } else if path.extension().is_some_and(|of| of == extension) {
            files.push(path);
        }
    }
    Ok(files)
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(Failure::of)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(Failure::of)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{outward, rendered};

    #[test]
    fn links_that_leave_the_documents_lead_to_the_repository() {
        let text = "[a](../../crates/a.rs) [b](../glossary.md) [c](x.md)";
        let adapted = outward(text, Path::new("how-to"), "https://x");
        assert_eq!(adapted, "[a](https://x/blob/HEAD/crates/a.rs) [b](../glossary.md) [c](x.md)");
    }

    #[test]
    fn links_and_pictures_of_a_page_are_found() {
        assert_eq!(rendered("<a class=x href=\"y.html\"><img src=\"z.png\">"), ["y.html", "z.png"]);
    }
}
