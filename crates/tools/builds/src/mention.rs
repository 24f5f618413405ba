//! Finds Exchange version numbers in text: logs, reports, exports from the management shell.

use crate::identify::Identity;
use crate::number::BuildNumber;
use crate::table::BuildTable;

/// The highest number in an IPv4 address, which also consists of four numbers and three dots.
const HIGHEST_OF_ADDRESS: u32 = 255;
/// Characters of the longest form, `Version 15.1 (Build 32375.72)`, with some margin.
const LONGEST: usize = 40;

/// A version number in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Line of its first occurrence, counted from 1.
    pub line: usize,
    /// The text as written.
    pub text: String,
    /// The version that the mention denotes.
    pub version: BuildNumber,
    /// Number of occurrences of the version.
    pub count: usize,
}

/// Every version of the table's series in `text`, each once, in the order of appearance. Numbers
/// that could be network addresses or versions of .NET count only if the table knows their branch
/// or their notation is specific to Exchange.
pub fn mentions(table: &BuildTable, text: &str) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    for (line, content) in text.lines().enumerate() {
        for (text, version) in candidates(content) {
            if !is_plausible(table, text, version) {
                continue;
            }
            match found.iter_mut().find(|mention| mention.version == version) {
                Some(known) => known.count += 1,
                None => {
                    found.push(Mention {
                        line: line + 1,
                        text: text.to_owned(),
                        version,
                        count: 1,
                    });
                }
            }
        }
    }
    found
}

/// Every position at which a number begins, with the version read there.
fn candidates(line: &str) -> impl Iterator<Item = (&str, BuildNumber)> {
    let bytes = line.as_bytes();
    let starts = (0..bytes.len()).filter(|&at| {
        let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
        bytes[at].is_ascii_digit() && !is_word(before) && before != b'.'
    });
    starts.filter_map(|at| in_words(&line[at..]).or_else(|| dotted(&line[at..])))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn in_words(text: &str) -> Option<(&str, BuildNumber)> {
    let end = text.bytes().take(LONGEST).position(|byte| byte == b')')? + 1;
    let text = text.get(..end)?;
    BuildNumber::parse(text).map(|version| (text, version))
}

fn dotted(text: &str) -> Option<(&str, BuildNumber)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit() && byte != b'.');
    let (number, rest) = text.split_at(end.unwrap_or(text.len()));
    if rest.bytes().next().is_some_and(is_word) {
        return None;
    }
    let number = number.trim_end_matches('.');
    BuildNumber::dotted(number).map(|version| (number, version))
}

fn is_plausible(table: &BuildTable, text: &str, version: BuildNumber) -> bool {
    match table.identify(version) {
        Identity::Unknown => false,
        Identity::Exact(_) | Identity::About(_) => true,
        _ if version.revision.is_none() => false,
        _ => text.contains("(Build ") || is_long(text) || version.build > HIGHEST_OF_ADDRESS,
    }
}

/// The form of file versions: `15.01.2375.007`.
fn is_long(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('.').map(str::len).collect();
    lengths == [2, 2, 4, 3]
}
