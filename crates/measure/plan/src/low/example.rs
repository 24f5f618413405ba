//! The commented plan to start from, generated from the table of keys.

use super::SECTIONS;

/// How the example shows a key or a section.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// As a part of the plan.
    Given,
    /// In a comment: optional, or an alternative to another key.
    Comment,
}

/// The example's text for a section.
pub(super) struct Explained {
    /// `[section]`; empty for the keys before the first one.
    pub title: &'static str,
    pub shown: Shown,
    /// Remark next to the title; may be empty.
    pub beside: &'static str,
    /// Comment lines above the title.
    pub above: &'static [&'static str],
    /// Column of the remarks, in characters from the left.
    pub column: usize,
    pub keys: &'static [ExplainedKey],
}

/// The example's text for a key.
pub(super) struct ExplainedKey {
    pub name: &'static str,
    pub shown: Shown,
    /// Its value as TOML: the default, if it has one.
    pub value: &'static str,
    /// Remarks next to it, one per line.
    pub remarks: &'static [&'static str],
    /// The type of its field.
    pub holds: &'static str,
}

impl Explained {
    /// The section's name.
    pub(super) fn key(&self) -> &'static str {
        self.title.trim_matches(['[', ']'])
    }

    fn write(&self, text: &mut String) {
        for line in self.above {
            text.extend(["# ", line, "\n"]);
        }
        if self.title.is_empty() {
            text.push('\n');
        } else {
            let beside: &[&str] = if self.beside.is_empty() { &[] } else { &[self.beside] };
            self.line(self.shown, self.title, beside, text);
        }
        for key in self.keys {
            let set = format!("{} = {}", key.name, key.value);
            self.line(key.shown, &set, key.remarks, text);
        }
    }

    /// Appends `code` with the remarks next to it and below it.
    fn line(&self, shown: Shown, code: &str, remarks: &[&str], text: &mut String) {
        let mark = if shown == Shown::Comment { "# " } else { "" };
        let mut left = format!("{mark}{code}");
        if remarks.is_empty() {
            text.extend([&left, "\n"]);
        }
        for remark in remarks {
            if left.len() >= self.column {
                left.push(' ');
            }
            let padded = format!("{left:<width$}", width = self.column);
            text.extend([&padded, "# ", remark, "\n"]);
            left.clear();
        }
    }
}

/// A plan with every key explained, ready to be edited.
pub(crate) fn example() -> String {
    let mut text = String::new();
    for section in &SECTIONS {
        if !text.is_empty() {
            text.push('\n');
        }
        section.write(&mut text);
    }
    text
}
