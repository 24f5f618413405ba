//! Links between pages: each must lead to a file of the repository, and to a heading in it.

use std::fs;
use std::path::Path;

use xtask::failure::Failure;

/// Broken links in the README and on every page of the site.
pub(super) fn faults(root: &Path) -> Result<Vec<String>, Failure> {
    let mut pages: Vec<String> = super::pages(&root.join("docs"))?;
    for page in &mut pages {
        page.insert_str(0, "docs/");
    }
    pages.extend(["docs/SUMMARY.md", "README.md"].map(str::to_owned));
    let mut faults = Vec::new();
    for page in &pages {
        let path = root.join(page);
        let Ok(text) = fs::read_to_string(&path) else {
            faults.push(format!("{page}: there is no such page"));
            continue;
        };
        let folder = path.parent().unwrap_or(root);
        let wrong = targets(&text).into_iter().filter(|target| !leads(target, &path, folder));
        faults.extend(wrong.map(|target| format!("{page}: {target}")));
    }
    Ok(faults)
}

/// Targets of the links and pictures of a page.
pub(super) fn targets(text: &str) -> Vec<String> {
    let text = outside_code(text);
    let ends = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    ends.map(|(target, _)| target.to_owned()).collect()
}

/// A text without its blocks of code.
pub(super) fn outside_code(text: &str) -> String {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn leads(target: &str, page: &Path, folder: &Path) -> bool {
    if target.starts_with("https://") || target.starts_with("http://") {
        return true;
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { page.to_owned() } else { folder.join(file) };
    if heading.is_empty() {
        return path.exists();
    }
    fs::read_to_string(path).is_ok_and(|text| has_heading(&text, heading))
}

fn has_heading(text: &str, slug: &str) -> bool {
    let text = outside_code(text);
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let mut slugs = headings.map(|line| slug_of(line.trim_start_matches('#').trim()));
    slugs.any(|of| of == slug)
}

/// The name of a heading in addresses, as GitHub and mdBook make it.
fn slug_of(heading: &str) -> String {
    let kept = |of: char| match of {
        ' ' => Some('-'),
        of if of.is_alphanumeric() || of == '-' || of == '_' => Some(of.to_ascii_lowercase()),
        _ => None,
    };
    heading.chars().filter_map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::{has_heading, targets};

    #[test]
    fn links_in_code_do_not_count() {
        let text = "[a](b.md) ![c](d.png)\n```sh\n[x](y)\n```\n[e](f.md#g)";
        assert_eq!(targets(text), ["b.md", "d.png", "f.md#g"]);
    }

    #[test]
    fn headings_have_names_in_addresses() {
        assert!(has_heading("# One\n## What `export` writes\n", "what-export-writes"));
        assert!(!has_heading("```\n# One\n```\n", "one"));
    }
}
