//! JSON as people save it: after a prompt with the command, before another prompt, several answers
//! in a row.

use serde_json::{Deserializer, Value};

use super::super::lines::is_prompt;
use super::super::{ControllerError, UnreadLine};

/// The documents in a text, and the lines between them that are not shell noise.
pub(super) fn documents(text: &str) -> Result<(Vec<Value>, Vec<UnreadLine>), ControllerError> {
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(begin) = begin_of_document(&text[at..]) {
        note(text, at..at + begin, &mut unread);
        at += begin;
        let mut values = Deserializer::from_str(&text[at..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => found.push(value),
            Some(Err(error)) => return Err(ControllerError::Syntax(error.to_string())),
            None => break,
        }
        at += values.byte_offset();
    }
    note(text, at..text.len(), &mut unread);
    Ok((found, unread))
}

/// Start of the next JSON line: one that starts with a brace, or with a bracket that is not part of
/// a prompt.
pub(super) fn begin_of_document(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        let is_list = bare.starts_with('[') && bare[1..].trim_start().starts_with(['{', '[']);
        if bare.starts_with('{') || is_list || bare.trim_end() == "[" {
            return Some(at + line.len() - bare.len());
        }
        at += line.len();
    }
    None
}

fn note(text: &str, part: std::ops::Range<usize>, unread: &mut Vec<UnreadLine>) {
    let before = text[..part.start].lines().count();
    for (at, line) in text[part].lines().enumerate() {
        let line = line.trim();
        if !line.is_empty() && !is_prompt(line) {
            unread.push(UnreadLine { number: before + at + 1, text: line.to_owned() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::documents;

    #[test]
    fn documents_are_found_between_prompts() {
        let text =
            "[root@a ~]# storcli /call show J\n{\n \"a\": [1]\n}\n[root@a ~]#\n{\"b\": 2}\nhello\n";
        let (found, unread) = documents(text).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((unread.len(), unread[0].text.as_str()), (1, "hello"));
        assert!(documents("{\"a\": [").is_err());
    }
}
