//! The lines of an output in the form that all readers use: indentation, key and value, with case
//! and blanks normalised, wrapped lines joined, and shell noise removed. Each line is marked when a
//! reader understands it; the others are kept.

/// A line of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OutputLine {
    /// Counted from 1.
    pub number: usize,
    /// Blanks in front.
    pub indent: usize,
    /// The text without blanks around it.
    pub text: String,
    /// The words before the colon in lower case with single blanks; the whole text without a colon.
    pub key: String,
    /// The words after it.
    pub value: String,
    /// Whether there is a colon.
    pub is_pair: bool,
}

/// A line that no reader understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadLine {
    /// Counted from 1.
    pub number: usize,
    /// Its text.
    pub text: String,
}

impl OutputLine {
    fn new(number: usize, raw: &str) -> Self {
        let text = raw.trim();
        let indent = raw.chars().take_while(|c| c.is_whitespace()).count();
        let (key, value, is_pair) = match pair(text) {
            Some((key, value)) => (key, value, true),
            None => (text, "", false),
        };
        let (key, value) = (evened(key), value.trim().to_owned());
        Self { number, indent, text: text.to_owned(), key, value, is_pair }
    }

    pub(super) fn unread(&self) -> UnreadLine {
        UnreadLine { number: self.number, text: self.text.clone() }
    }
}

/// Splits a text at the colon that ends a name: the first before a blank or the end, else one with
/// only words in front, as in `Name :Mail`.
fn pair(text: &str) -> Option<(&str, &str)> {
    let at = text
        .match_indices(':')
        .map(|(at, _)| at)
        .find(|at| text[at + 1..].chars().next().is_none_or(char::is_whitespace))
        .or_else(|| text.find(':').filter(|&at| is_name(&text[..at])))?;
    Some((&text[..at], &text[at + 1..]))
}

fn is_name(words: &str) -> bool {
    words.len() > 3 && words.chars().all(|c| c.is_ascii_alphabetic() || c == ' ')
}

/// Words in small letters with single blanks between them.
pub(super) fn evened(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase()
}

/// A line made of dashes, equals signs or the like.
pub(super) fn is_rule(text: &str) -> bool {
    text.len() > 2 && text.chars().all(|c| matches!(c, '-' | '=' | '_' | '*' | ' '))
}

/// Names of the tools as commands.
const COMMANDS: [&str; 14] = [
    "storcli",
    "perccli",
    "megacli",
    "ssacli",
    "hpssacli",
    "hpacucli",
    "arcconf",
    "mdadm",
    "nvme",
    "mdstat",
    "ctrl all",
    "ctrl slot",
    "logout",
    "exit",
];

/// Whether a line is a shell prompt with or without a command, or a command alone.
pub(super) fn is_prompt(text: &str) -> bool {
    let small = text.to_ascii_lowercase();
    let named = COMMANDS.iter().any(|name| small.contains(name));
    let prompted = small.split_once(['#', '$', '>']);
    match prompted {
        Some((_, "")) => small.contains('@') || small.contains(":\\") || small.len() < 4,
        Some((before, _)) => named && !before.contains(": "),
        None => named && small.contains(" -") && !small.contains(": "),
    }
}

/// The lines with content. `begins` decides whether a line without a colon starts a part of the
/// output; any other such line continues the pair right before it, since terminals wrap long lines.
pub(super) fn lines(output: &str, begins: impl Fn(&OutputLine) -> bool) -> Vec<OutputLine> {
    let mut all: Vec<OutputLine> = Vec::new();
    let mut is_open = false;
    for (at, raw) in output.lines().enumerate() {
        let line = OutputLine::new(at + 1, raw);
        if line.text.is_empty() || is_rule(&line.text) || is_prompt(&line.text) {
            is_open = false;
            continue;
        }
        match all.last_mut() {
            Some(last) if is_open && !line.is_pair && !begins(&line) => {
                *last = OutputLine { number: last.number, ..rejoined(last, &line) };
            }
            _ => {
                is_open = line.is_pair;
                all.push(line);
            }
        }
    }
    all
}

fn rejoined(first: &OutputLine, rest: &OutputLine) -> OutputLine {
    let joined = format!("{} {}", first.text, rest.text);
    OutputLine { indent: first.indent, ..OutputLine::new(first.number, &joined) }
}

/// Words that signal an error: a line with one of them is never skipped.
const TROUBLE: [&str; 16] = [
    "fail",
    "degraded",
    "offline",
    "critical",
    "corrupt",
    "permanently",
    "temporarily",
    "faulty",
    "dead",
    "lost",
    "rebuild",
    "recover",
    "attention",
    "missing",
    "through",
    "always",
];

/// Whether a line that no rule uses must be shown: its form is unknown, or its value signals an
/// error and is not only a setting for that case.
pub(super) fn must_be_shown(line: &OutputLine) -> bool {
    let value = line.value.to_ascii_lowercase();
    let is_setting = SETTINGS.iter().any(|end| line.key.ends_with(end));
    !line.is_pair
        || TROUBLE.iter().any(|word| value.contains(word))
            && (!is_setting || line.key.contains("cach") || line.key.contains("write"))
}

/// Ends of names of settings: `Spare Activation Mode: Activate on drive failure`.
const SETTINGS: [&str; 7] =
    [" mode", " priority", " supported", " rate", " policy", " rebuild", " support"];

/// Whether a text without a name must be shown: it has more than one word, or signals an error.
pub(super) fn must_be_shown_text(text: &str) -> bool {
    text.contains(' ') || TROUBLE.iter().any(|word| text.to_ascii_lowercase().contains(word))
}

#[cfg(test)]
mod tests;
