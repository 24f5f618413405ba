//! Checks that the project may use every third-party crate under its licence.

use cargo_metadata::{MetadataCommand, Package};

use xtask::failure::Failure;
use xtask::shell;

/// Licences compatible with distribution under MIT or Apache-2.0; `deny.toml` has the same list.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Weak copyleft, allowed for crates that only tests link.
const ALLOWED_IN_TESTS: &[&str] = &["libesedb", "libesedb-sys"];

/// Checks the licence expression of every package in the lock file.
pub(crate) fn run() -> Result<(), Failure> {
    let metadata = MetadataCommand::new()
        .current_dir(shell::root())
        .exec()
        .map_err(|error| Failure::new(format!("cargo metadata: {error}")))?;
    let complaints: Vec<String> = metadata.packages.iter().filter_map(complaint).collect();
    if complaints.is_empty() {
        return Ok(());
    }
    Err(Failure::list("licences that are not on the list of allowed ones:", &complaints))
}

/// Runs cargo-deny if it is installed, the licence check otherwise.
pub(crate) fn deny() -> Result<(), Failure> {
    if shell::installed("cargo-deny") {
        return shell::run(&["cargo", "deny", "check"]);
    }
    println!("cargo-deny is not installed; checking licences only");
    run()
}

fn complaint(package: &Package) -> Option<String> {
    let name = package.name.as_str();
    if ALLOWED_IN_TESTS.contains(&name) {
        return None;
    }
    let Some(expression) = package.license.as_deref() else {
        return Some(format!("{name} {}: states none", package.version));
    };
    (!allowed(expression)).then(|| format!("{name} {}: {expression}", package.version))
}

/// Whether an SPDX expression can be satisfied by allowed licences. Precedence as in SPDX: OR binds
/// loosest, then AND; parentheses group.
fn allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    let expression = expression.trim();
    if ALLOWED.contains(&expression) {
        return true;
    }
    if let Some(inner) = whole_group(expression) {
        return allowed(inner);
    }
    let alternatives = split(expression, " OR ");
    if alternatives.len() > 1 {
        return alternatives.into_iter().any(allowed);
    }
    let parts = split(expression, " AND ");
    parts.len() > 1 && parts.into_iter().all(allowed)
}

fn whole_group(expression: &str) -> Option<&str> {
    let inner = expression.strip_prefix('(')?.strip_suffix(')')?;
    let mut depth = 0_i32;
    for character in inner.chars() {
        depth += nesting(character);
        if depth < 0 {
            return None;
        }
    }
    Some(inner)
}

fn split<'a>(expression: &'a str, operator: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut depth = 0_i32;
    let mut start = 0;
    for (at, character) in expression.char_indices() {
        depth += nesting(character);
        if depth == 0 && at >= start && expression[at..].starts_with(operator) {
            parts.push(&expression[start..at]);
            start = at + operator.len();
        }
    }
    parts.push(&expression[start..]);
    parts
}

const fn nesting(character: char) -> i32 {
    match character {
        '(' => 1,
        ')' => -1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::allowed;

    #[test]
    fn expressions_are_satisfied_by_any_alternative_and_every_part() {
        assert!(allowed("MIT OR Apache-2.0"));
        assert!(allowed("MIT/Apache-2.0"));
        assert!(allowed("GPL-3.0 OR MIT"));
        assert!(allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(allowed("Apache-2.0 WITH LLVM-exception OR GPL-2.0"));
        assert!(!allowed("GPL-3.0"));
        assert!(!allowed("MIT AND GPL-3.0"));
        assert!(!allowed("(MIT OR Zlib) AND GPL-3.0"));
    }
}
