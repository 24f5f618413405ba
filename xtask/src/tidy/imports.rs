//! The imports of a file, read from its `use` lines without a parser.

/// One path of a `use`, with its braces expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import<'a> {
    /// The parts of the path as written; a glob adds none.
    pub path: Vec<&'a str>,
    /// The name under which the file uses it.
    pub name: &'a str,
    /// Whether it is a re-export of any visibility.
    pub is_public: bool,
}

/// The imports of a masked and formatted source, in their order.
pub(super) fn imports(code: &str) -> Vec<Import<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in code.split_inclusive('\n') {
        let start = at + line.len() - line.trim_start().len();
        at += line.len();
        let Some(visibility) = before_use(line.trim_start()) else {
            continue;
        };
        let text = &code[start + visibility.len() + "use ".len()..];
        let text = text.split(';').next().unwrap_or(text);
        let is_public = !visibility.is_empty();
        found.extend(paths(text).into_iter().filter_map(|path| import(path, is_public)));
    }
    found
}

/// The visibility before the `use` in a line; `None` if the line has none.
fn before_use(line: &str) -> Option<&str> {
    let (before, _) = line.split_once("use ")?;
    let is_visibility = before == "pub " || before.starts_with("pub(") && before.ends_with(") ");
    (before.is_empty() || is_visibility).then_some(before)
}

fn import(mut path: Vec<&str>, is_public: bool) -> Option<Import<'_>> {
    let name = path.last().copied()?;
    let renamed = path.iter().position(|part| *part == "as");
    path.truncate(renamed.unwrap_or(path.len()));
    Some(Import { path, name, is_public })
}

/// The paths in a `use`.
fn paths(text: &str) -> Vec<Vec<&str>> {
    let mut found = Vec::new();
    let mut path: Vec<&str> = Vec::new();
    let mut prefixes = vec![0];
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        match first {
            '{' => prefixes.push(path.len()),
            ',' | '}' => {
                if prefixes.last().is_some_and(|&prefix| path.len() > prefix) {
                    found.push(path.clone());
                }
                if first == '}' {
                    prefixes.pop();
                }
                path.truncate(prefixes.last().copied().unwrap_or(0));
            }
            _ if word > 0 => path.push(&rest[..word]),
            _ => {}
        }
        rest = &rest[word.max(first.len_utf8())..];
    }
    if !path.is_empty() {
        found.push(path);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Import, imports, paths};

    #[test]
    fn the_braces_of_a_use_are_taken_apart() {
        let paths = paths("crate::{\n    a::{self, B as C},\n    d::*,\n    e,\n}");
        let joined: Vec<String> = paths.iter().map(|path| path.join("/")).collect();
        assert_eq!(joined, ["crate/a/self", "crate/a/B/as/C", "crate/d", "crate/e"]);
    }

    #[test]
    fn uses_are_found_with_their_visibility_and_name() {
        let code = "use a::B;\n    pub(super) use crate::{\n    c,\n    d::E as F,\n};\n\
                    reuse a;\npub fn use () {}\n";
        let import = |path: &[&'static str], name, is_public| Import {
            path: path.to_vec(),
            name,
            is_public,
        };
        let expected = [
            import(&["a", "B"], "B", false),
            import(&["crate", "c"], "c", true),
            import(&["crate", "d", "E"], "F", true),
        ];
        assert_eq!(imports(code), expected);
    }
}
