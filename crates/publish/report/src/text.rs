//! The report as plain text, for terminals, mail and `diff`.

mod table;

use std::fmt::Write as _;

use crate::document::{Block, Document, Fact, Section};
use table::push_table;

/// Maximum line width of a text that is not shown on a terminal.
pub const TEXT_WIDTH: usize = 100;

/// The text of a report, for a file.
pub(crate) fn render(document: &Document) -> String {
    render_within(document, TEXT_WIDTH)
}

/// The text of a report in lines of at most `width` characters; a single long word may exceed it.
pub(crate) fn render_within(document: &Document, width: usize) -> String {
    let banner = &document.banner;
    let mut text = String::new();
    push_line(&mut text, &banner.subject, width);
    push_wrapped(&mut text, &banner.started, "", width);
    text.push('\n');
    let verdict = banner.verdict.to_uppercase();
    let headline = format!("{verdict}  {} {}", banner.number, banner.number_unit);
    push_line(&mut text, &headline, width);
    for sentence in &banner.meaning {
        push_wrapped(&mut text, sentence, "", width);
    }
    text.push('\n');
    for figure in &banner.figures {
        push_line(&mut text, &figure.line(), width);
    }
    for section in &document.sections {
        push_section(&mut text, section, width);
    }
    units::plain(&text).into_owned()
}

fn push_section(text: &mut String, section: &Section, width: usize) {
    if section.blocks.iter().all(is_drawn_only) {
        return;
    }
    let rule = "-".repeat(section.title.chars().count());
    let _ = write!(text, "\n\n{}\n{rule}\n", section.title);
    let blocks = section.blocks.iter().filter(|block| !is_drawn_only(block));
    for (index, block) in blocks.enumerate() {
        if index > 0 {
            text.push('\n');
        }
        push_block(text, block, width);
    }
}

const fn is_drawn_only(block: &Block) -> bool {
    matches!(block, Block::Pictures(_))
}

fn push_block(text: &mut String, block: &Block, width: usize) {
    match block {
        Block::Facts(facts) => push_facts(text, facts, width),
        Block::Table(table) => push_table(text, table, width),
        Block::Pictures(_) => {}
        Block::Note(note) => push_wrapped(text, note, "", width),
        Block::Log(lines) => {
            for (time, line) in lines {
                push_logged(text, time, line, width);
            }
        }
        Block::Verbatim(verbatim) => {
            text.push_str(verbatim.trim_end());
            text.push('\n');
        }
    }
}

fn push_logged(text: &mut String, time: &str, line: &str, width: usize) {
    let margin = " ".repeat(time.chars().count() + 2);
    if margin.len() + line.chars().count() <= width {
        let _ = writeln!(text, "{time}  {line}");
    } else {
        let _ = write!(text, "{time}  ");
        push_wrapped(text, line, &margin, width);
    }
}

fn push_facts(text: &mut String, facts: &[Fact], width: usize) {
    let labels = facts.iter().map(|fact| fact.label.chars().count()).max();
    // Labels never leave less than half of the line to the values.
    let labels = labels.unwrap_or(0).min(width / 2);
    for fact in facts {
        let line = format!("{:<labels$}  {}", fact.label, fact.value.text);
        if line.chars().count() <= width {
            let _ = writeln!(text, "{}", line.trim_end());
            continue;
        }
        let margin = " ".repeat(labels + 2);
        let mut label = format!("{:<labels$}  ", fact.label);
        if label.chars().count() > margin.len() {
            let _ = writeln!(text, "{}", fact.label);
            label.clone_from(&margin);
        }
        let _ = write!(text, "{label}");
        push_wrapped(text, &fact.value.text, &margin, width);
    }
}

/// Appends a line with its columns intact if it fits, otherwise broken between words.
fn push_line(text: &mut String, line: &str, width: usize) {
    if line.chars().count() <= width {
        let _ = writeln!(text, "{line}");
    } else {
        push_wrapped(text, line, "  ", width);
    }
}

/// Appends the words of `content` in lines of at most `width`, all but the first prefixed with
/// `indent`.
fn push_wrapped(text: &mut String, content: &str, indent: &str, width: usize) {
    for (index, line) in wrap(content, width.saturating_sub(indent.len()).max(1)).iter().enumerate()
    {
        let indent = if index == 0 { "" } else { indent };
        let _ = writeln!(text, "{indent}{line}");
    }
}

/// `content` broken between words; a word longer than `width` stays whole.
fn wrap(content: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in content.split_whitespace() {
        let line = lines.last_mut().expect("invariant: there is always a line");
        let length = line.chars().count();
        if length > 0 && length + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if length > 0 {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn words_are_kept_whole() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("aaaaaaaa b", 5), ["aaaaaaaa", "b"]);
        assert_eq!(wrap("", 5), [""]);
    }
}
