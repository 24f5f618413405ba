//! The documentation as a site: its pages, a check of their links, and a page with the help of
//! every command.

mod links;
mod pages;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use xtask::failure::Failure;
use xtask::shell;

use super::payload::Program;

/// Writes the site's pages to `target/site` and checks them; mdBook renders them if it is
/// installed. Links to files that are not pages lead to `address`.
pub(super) fn build(program: &Program, address: &str) -> Result<(), Failure> {
    let faults = links::faults(&shell::root())?;
    if !faults.is_empty() {
        return Err(Failure::list("links that lead nowhere:", &faults));
    }
    let site = shell::root().join("target/site");
    let _ = fs::remove_dir_all(&site);
    fs::create_dir_all(&site).map_err(Failure::of)?;
    let (from, to) = (shell::root().join("docs"), site.join("docs"));
    shell::run(&["cp", "-r", &from.display().to_string(), &to.display().to_string()])?;
    let commands = to.join("reference/commands.md");
    fs::write(&commands, reference(program)?).map_err(Failure::of)?;
    pages::adapt(&to, address)?;
    let book = fs::read_to_string(shell::root().join("book.toml")).map_err(Failure::of)?;
    let book = book.replace("target/site/html", "html");
    fs::write(site.join("book.toml"), book).map_err(Failure::of)?;
    if !shell::installed("mdbook") {
        println!("pages: {}; mdbook is not installed, so they are not rendered", to.display());
        return Ok(());
    }
    shell::run(&["mdbook", "build", &site.display().to_string()])?;
    let faults = pages::faults(&site.join("html"))?;
    if faults.is_empty() {
        return Ok(());
    }
    Err(Failure::list("links of the site that lead nowhere:", &faults))
}

/// Builds the page with the help of every command.
fn reference(program: &Program) -> Result<String, Failure> {
    let whole = program.says(&["--help"])?;
    let mut text = format!("# Commands\n\n```text\n{}\n```\n", whole.trim_end());
    for name in commands(&whole) {
        let help = program.says(&[&name, "--help"])?;
        let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", help.trim_end());
    }
    Ok(text)
}

/// Names of the commands in the program's help, each once.
fn commands(help: &str) -> Vec<String> {
    let groups = help.split_once("Measure:").map_or("", |(_, groups)| groups);
    let groups = groups.split_once("Options:").map_or(groups, |(groups, _)| groups);
    let lines = groups.lines().filter_map(|line| line.strip_prefix("  "));
    let names = lines.filter(|line| !line.starts_with(' '));
    names.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// The pages in the summary, as paths relative to the folder of documents.
fn listed(docs: &Path) -> Result<Vec<String>, Failure> {
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).map_err(Failure::of)?;
    Ok(links::targets(&summary))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{commands, links, listed};
    use xtask::shell;

    #[test]
    fn every_link_of_every_page_leads_somewhere() {
        let faults = links::faults(&shell::root()).unwrap();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn every_page_of_the_site_is_in_its_summary() {
        let docs = shell::root().join("docs");
        let listed = listed(&docs).unwrap();
        for folder in ["start", "how-to", "reference"] {
            for entry in fs::read_dir(docs.join(folder)).unwrap() {
                let name = entry.unwrap().file_name().to_string_lossy().into_owned();
                let page = format!("{folder}/{name}");
                assert!(listed.contains(&page), "{page} is not in docs/SUMMARY.md");
            }
        }
    }

    #[test]
    fn commands_are_read_from_the_groups() {
        let help = "Begin with:\n  quick  a\n\nMeasure:\n  quick        a\n               more\n  \
                    run          b\n\nAround it:\n  man          c\n\nOptions:\n  -q\n";
        assert_eq!(commands(help), ["quick", "run", "man"]);
    }

    #[test]
    fn the_readme_fits_a_screen() {
        let text = fs::read_to_string(shell::root().join("README.md")).unwrap();
        assert!(text.lines().count() <= 120, "{} lines", text.lines().count());
        let prose = links::outside_code(&text);
        let is_word = |word: &&str| word.contains(char::is_alphabetic);
        let words = prose.split_whitespace().filter(is_word).count();
        assert!(words <= 600, "{words} words");
    }
}
