//! The house rules as a program, so that reviewers need not repeat them.

mod circles;
mod documents;
mod figures;
mod functions;
mod habits;
mod imports;
mod lints;
mod mask;
mod repeats;
mod sources;
mod surface;
mod text;
mod turns;

use sources::Tree;
use xtask::failure::Failure;
use xtask::shell;

/// What to do with the limits in `xtask/figures.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Complain if a figure is above its limit.
    Check,
    /// Like [`Mode::Check`], then lower each limit to the figure found.
    Tighten,
    /// Like [`Mode::Check`], and list every place behind the figures.
    Explain,
}

/// A rule inspects the whole tree and returns complaints, each with file, line and remedy.
type Rule = fn(&Tree) -> Vec<String>;

const RULES: &[Rule] = &[
    text::module_lines,
    text::columns,
    text::ascii,
    text::unfinished_words,
    text::addresses,
    lints::attributes,
    lints::clippy_files,
    sources::dead_files,
    documents::dependencies,
    documents::links,
    documents::strays,
];

/// Applies every rule and the ratchet.
pub(crate) fn run(mode: Mode) -> Result<(), Failure> {
    let tree = Tree::load(&shell::root())?;
    let mut complaints: Vec<String> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    let measured = figures::measure(&tree);
    print!("{measured}");
    if mode == Mode::Explain {
        println!("{}", measured.details().join("\n"));
    }
    complaints.extend(figures::ratchet(&measured, mode)?);
    if complaints.is_empty() {
        return Ok(());
    }
    Err(Failure::list("tidy:", &complaints))
}
