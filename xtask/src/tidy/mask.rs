//! Separates code from comments, strings and characters, so that other rules can read either as
//! plain text without a parser.

/// The text with everything except code blanked. Line breaks remain, so line numbers are still
/// valid.
pub(super) fn mask(text: &str) -> String {
    Masker::new(text, Kept::Code).run()
}

/// The text with everything except comments blanked. Line breaks remain, so line numbers are still
/// valid.
pub(super) fn comments(text: &str) -> String {
    Masker::new(text, Kept::Comments).run()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Code,
    Comments,
}

struct Masker<'a> {
    rest: &'a str,
    out: String,
    kept: Kept,
    /// The last character of code, which decides whether a word can begin next.
    last: char,
}

impl<'a> Masker<'a> {
    fn new(text: &'a str, kept: Kept) -> Self {
        Self { rest: text, out: String::with_capacity(text.len()), kept, last: ' ' }
    }

    fn run(mut self) -> String {
        while !self.rest.is_empty() {
            self.step();
        }
        self.out
    }

    fn step(&mut self) {
        if self.rest.starts_with("//") {
            let length = self.rest.find('\n').unwrap_or(self.rest.len());
            return self.take(length, Kept::Comments);
        }
        if self.rest.starts_with("/*") {
            return self.take(block_comment(self.rest), Kept::Comments);
        }
        let length = if self.at_word_start() { raw_string(self.rest) } else { 0 };
        if length > 0 {
            return self.blank(length);
        }
        match self.rest.as_bytes()[0] {
            b'"' => self.blank(string(self.rest)),
            b'\'' => self.quote(),
            _ => self.keep(),
        }
    }

    /// Whether a word could begin here, so that `r` may open a raw string.
    fn at_word_start(&self) -> bool {
        !(self.last.is_alphanumeric() || self.last == '_')
    }

    /// Copies one character of code.
    fn keep(&mut self) {
        let length = self.rest.chars().next().map_or(0, char::len_utf8);
        self.last = self.rest.chars().next().unwrap_or(' ');
        self.take(length, Kept::Code);
    }

    /// Copies `length` bytes if text of this kind is kept, otherwise blanks them.
    fn take(&mut self, length: usize, kind: Kept) {
        if kind != self.kept {
            return self.blank_text(length);
        }
        let (text, rest) = self.rest.split_at(length);
        self.out.push_str(text);
        self.rest = rest;
    }

    /// Blanks a string or character literal of `length` bytes.
    fn blank(&mut self, length: usize) {
        self.last = ' ';
        self.blank_text(length);
    }

    fn blank_text(&mut self, length: usize) {
        let (gone, rest) = self.rest.split_at(length);
        let blanks = gone.chars().map(|character| if character == '\n' { '\n' } else { ' ' });
        self.out.extend(blanks);
        self.rest = rest;
    }

    /// Processes a character literal, or the tick of a lifetime.
    fn quote(&mut self) {
        let mut characters = self.rest.char_indices().skip(1);
        let length = match (characters.next(), characters.next()) {
            (Some((_, '\\')), _) => {
                let end = self.rest[3.min(self.rest.len())..].find('\'');
                end.map_or(self.rest.len(), |end| end + 4)
            }
            (Some(_), Some((at, '\''))) => at + 1,
            _ => return self.keep(),
        };
        self.blank(length);
    }
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0_u32;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

fn string(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Length of a raw string at the start of the text, 0 if there is none.
fn raw_string(text: &str) -> usize {
    let Some(body) = text.strip_prefix('r').or_else(|| text.strip_prefix("br")) else {
        return 0;
    };
    let hashes = body.bytes().take_while(|&byte| byte == b'#').count();
    if body.as_bytes().get(hashes) != Some(&b'"') {
        return 0;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    let open = text.len() - body.len() + hashes + 1;
    text[open..].find(&close).map_or(text.len(), |end| open + end + close.len())
}

#[cfg(test)]
mod tests {
    use super::{comments, mask};

    #[test]
    fn only_code_is_left() {
        assert_eq!(mask("a // b\nc"), "a     \nc");
        assert_eq!(mask("a /* b /* c */ d */ e"), "a                   e");
        assert_eq!(mask(r#"f("x\"{", 'y', '\'')"#), "f(      ,    ,     )");
        assert_eq!(mask("r#\"a\"b\"# x"), "         x");
        assert_eq!(mask("&'a str"), "&'a str");
        assert_eq!(mask("fn for\"a\""), "fn for   ");
    }
    #[test]
    fn only_comments_are_left() {
        assert_eq!(comments("a // b\nc"), "  // b\n ");
        assert_eq!(comments("\"// a\" r\"/*\" /* b */ c"), "             /* b */  ");
    }
}
