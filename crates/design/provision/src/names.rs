//! Names that are valid in every place of use: paths, labels, tables and three script languages.

use std::fmt;

/// A name that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameError {
    /// The key of the deployment.
    pub key: &'static str,
    /// Its value.
    pub found: String,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "[names] {}: {:?} cannot stand in paths and scripts; use 1 to 24 letters of ASCII, \
             digits, blanks, hyphens and such, but none of \\ / : * ? \" < > |",
            self.key, self.found
        )
    }
}

/// Volume labels have 32 characters; the numbers after a prefix take some.
const LONGEST_PREFIX: usize = 24;

/// Characters that quoting cannot make safe. Some change a path; non-ASCII ones may turn into other
/// characters, even quotes, because diskpart and Windows PowerShell read scripts in the machine's
/// code page.
fn is_forbidden(symbol: char) -> bool {
    !symbol.is_ascii() || symbol.is_control() || "\\/:*?\"<>|".contains(symbol)
}

pub(super) fn check(key: &'static str, prefix: &str) -> Result<(), NameError> {
    let length = prefix.chars().count();
    let fits = (1..=LONGEST_PREFIX).contains(&length);
    if fits && !prefix.contains(is_forbidden) && !prefix.starts_with([' ', '.', '-']) {
        return Ok(());
    }
    Err(NameError { key, found: prefix.to_owned() })
}

/// Joins `prefix` and `number`, with as many digits as `most` has and at least two, so that sorting
/// by name sorts by number.
pub(super) fn numbered(prefix: &str, number: usize, most: usize) -> String {
    let width = most.to_string().len().max(2);
    format!("{prefix}{number:0width$}")
}
