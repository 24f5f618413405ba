//! Makes outside text safe to display: a name may contain characters that control the terminal or
//! reverse the reading order of a line.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes control characters in `text`, such as `\u{1b}`. Line feeds and tabs are kept.
pub fn plain(text: &str) -> Cow<'_, str> {
    rewritten(text, |out, character| {
        // Writing to a string does not fail.
        let _ = write!(out, "{}", character.escape_unicode());
    })
}

/// Like [`plain`], for JSON: its readers get the original characters back.
pub fn plain_json(text: &str) -> Cow<'_, str> {
    rewritten(text, |out, character| {
        let _ = write!(out, "\\u{:04x}", u32::from(character));
    })
}

/// `text`, or its first `most` characters followed by `...`.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}...", &text[..end])),
    }
}

fn rewritten(text: &str, write: impl Fn(&mut String, char)) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_obeyed(character) {
            write(&mut out, character);
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

/// Control characters, and Unicode's invisible ones: direction marks, joiners, line and paragraph
/// separators. All lie below U+10000.
fn is_obeyed(character: char) -> bool {
    let is_formatting = matches!(
        character,
        '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
    );
    is_formatting || character.is_control() && !matches!(character, '\n' | '\t')
}

#[cfg(test)]
mod tests {
    use super::{plain, plain_json, shortened};

    #[test]
    fn what_steers_is_shown() {
        assert_eq!(plain("a\u{1b}[2Jb\r\n\tc"), "a\\u{1b}[2Jb\\u{d}\n\tc");
        assert_eq!(plain("x\u{202e}y\u{9b}z"), "x\\u{202e}y\\u{9b}z");
        assert_eq!(
            plain("Gr\u{f6}\u{df}e 5\u{a0}\u{b5}s \u{65e5}"),
            "Gr\u{f6}\u{df}e 5\u{a0}\u{b5}s \u{65e5}"
        );
    }

    #[test]
    fn json_reads_back_the_same() {
        assert_eq!(plain_json("\"x\u{202e}y\u{7f}\""), "\"x\\u202ey\\u007f\"");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(shortened("\u{e4}\u{f6}", 2), "\u{e4}\u{f6}");
        assert_eq!(shortened("\u{e4}\u{f6}", 1), "\u{e4}...");
    }
}
