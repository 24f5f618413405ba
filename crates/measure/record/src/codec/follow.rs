//! Reads a journal while it is being written.

use super::v1;
use crate::Event;

/// Assembles events from the pieces in which a journal is read; a piece may end anywhere in a line.
#[derive(Debug, Default)]
pub struct JournalPieces {
    /// The start of an incomplete line.
    partial: Vec<u8>,
}

impl JournalPieces {
    /// The events on the lines that this piece completes. Invalid lines are skipped: a verdict is
    /// based on the whole journal, not on these events.
    pub fn take(&mut self, piece: &[u8]) -> Vec<Event> {
        self.partial.extend_from_slice(piece);
        let whole = self.partial.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let rest = self.partial.split_off(whole);
        let lines = std::mem::replace(&mut self.partial, rest);
        let mut events = Vec::new();
        for line in lines.split(|&byte| byte == b'\n') {
            events.extend(str::from_utf8(line).ok().and_then(|line| v1::decode(line).ok()));
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::JournalPieces;
    use crate::codec::encode;
    use crate::{Event, LogLine};

    #[test]
    fn a_line_counts_once_its_end_has_come() {
        let event = |at_ns| Event::Log(LogLine { at_ns, text: "m\u{fc}de".to_owned() });
        let text = [event(1), event(2), event(3)].iter().map(encode).collect::<String>();
        let mut pieces = JournalPieces::default();
        let mut found = Vec::new();
        for piece in text.as_bytes().chunks(7) {
            found.extend(pieces.take(piece));
        }
        assert_eq!(found, [event(1), event(2), event(3)]);
        assert!(pieces.take(b"{\"event\":\"log\",\"at_ns\":4").is_empty());
        assert_eq!(pieces.take(b",\"text\":\"\"}\nnone\n").len(), 1);
    }
}
