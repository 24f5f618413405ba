//! The chain of hashes through a journal: without it, a limit raised afterwards would turn a failed
//! run into a passed one unnoticed.
//!
//! The last member of every line is `chain`: the SHA-256 of the previous line's hash and of this
//! line's bytes before that member. Changing a line and recomputing all hashes goes undetected: the
//! chain proves that a record is unchanged, not who wrote it. Against forgery, keep the last hash,
//! which every report shows, in a safe place.

use std::fmt;

use sha2::{Digest as _, Sha256};

use super::v1;
use crate::Event;

/// Delimit the digits at the end of a sealed line.
const OPENING: &[u8] = b",\"chain\":\"";
const CLOSING: &[u8] = b"\"}";

/// The hash of everything up to the end of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChainHash([u8; 32]);

impl ChainHash {
    /// The next hash of the chain, given the bytes of the next line without its own hash.
    fn next(self, body: &[u8]) -> Self {
        let hash = Sha256::new().chain_update(self.0).chain_update(body);
        Self(hash.finalize().into())
    }
}

impl fmt::Display for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Whether a journal is unaltered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seal {
    /// Its lines carry no hashes: an older program wrote it, or they were removed.
    #[default]
    Unsealed,
    /// Every line matches its hash.
    Whole {
        /// The hash of its last line, which covers all.
        end: ChainHash,
    },
    /// A line was changed, added, removed or moved after it was written.
    Altered {
        /// The first mismatching line, counted from 1.
        line: usize,
    },
}

/// Writes the lines of a sealed journal.
#[derive(Clone, Debug, Default)]
pub struct Sealer {
    chain: ChainHash,
}

impl Sealer {
    /// Continues after a line whose hash is `end`.
    pub(crate) const fn behind(end: ChainHash) -> Self {
        Self { chain: end }
    }

    /// The next line of the journal, with its line feed.
    pub fn line(&mut self, event: &Event) -> String {
        let mut line = v1::encode(event);
        let body = line.trim_end().len() - 1;
        line.truncate(body);
        self.chain = self.chain.next(line.as_bytes());
        format!("{line},\"chain\":\"{}\"}}\n", self.chain)
    }
}

/// Verifies the chain while a journal is read.
#[derive(Debug, Default)]
pub(crate) struct SealCheck {
    chain: ChainHash,
    lines: usize,
    sealed: bool,
    altered: Option<usize>,
}

impl SealCheck {
    /// Checks the next line; `number` is its position in the file, counted from 1.
    pub(crate) fn pass(&mut self, line: &[u8], number: usize) {
        let carried = split(line);
        let is_first = self.lines == 0;
        self.lines += 1;
        let fits = match carried {
            Some((body, hash)) => {
                let is_new = !self.sealed && !is_first;
                self.sealed = true;
                self.chain = self.chain.next(body);
                !is_new && hash == self.chain.to_string().as_bytes()
            }
            None => !self.sealed,
        };
        if !fits {
            self.altered.get_or_insert(number);
        }
    }

    /// The result over all lines.
    pub(crate) const fn seal(&self) -> Seal {
        match self.altered {
            Some(line) => Seal::Altered { line },
            None if self.sealed => Seal::Whole { end: self.chain },
            None => Seal::Unsealed,
        }
    }
}

/// A sealed line without its hash, and the digits of the hash.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let open = line.strip_suffix(CLOSING)?;
    let (rest, hash) = open.split_at_checked(open.len().checked_sub(64)?)?;
    Some((rest.strip_suffix(OPENING)?, hash))
}

#[cfg(test)]
mod tests {
    use super::{Seal, SealCheck, Sealer};
    use crate::{Event, LogLine};

    fn sealed(texts: &[&str]) -> Vec<String> {
        let mut sealer = Sealer::default();
        let line = |(text, at_ns): (&&str, u64)| {
            let text = (*text).to_owned();
            sealer.line(&Event::Log(LogLine { at_ns, text }))
        };
        texts.iter().zip(1..).map(line).collect()
    }

    fn seal_of(lines: &[String]) -> Seal {
        let mut check = SealCheck::default();
        for (line, number) in lines.iter().zip(1..) {
            check.pass(line.trim_end().as_bytes(), number);
        }
        check.seal()
    }

    #[test]
    fn a_journal_as_it_was_written_is_whole_and_so_is_its_beginning() {
        let lines = sealed(&["one", "two", "three"]);
        assert!(matches!(seal_of(&lines), Seal::Whole { .. }));
        assert!(matches!(seal_of(&lines[..2]), Seal::Whole { .. }));
        assert_ne!(seal_of(&lines), seal_of(&lines[..2]));
    }

    #[test]
    fn every_kind_of_change_is_located() {
        let lines = sealed(&["one", "two", "three"]);
        let changed = |change: &dyn Fn(&mut Vec<String>)| {
            let mut lines = lines.clone();
            change(&mut lines);
            seal_of(&lines)
        };
        let altered = |line| Seal::Altered { line };
        assert_eq!(changed(&|all| all[1] = all[1].replace("two", "2")), altered(2));
        assert_eq!(changed(&|all| drop(all.remove(1))), altered(2));
        assert_eq!(changed(&|all| drop(all.remove(0))), altered(1));
        assert_eq!(changed(&|all| all.swap(1, 2)), altered(2));
        assert_eq!(changed(&|all| all.push(all[2].clone())), altered(4));
        let bare = "{\"event\":\"log\",\"at_ns\":9,\"text\":\"bare\"}\n".to_owned();
        assert_eq!(changed(&|all| all.push(bare.clone())), altered(4));
        assert_eq!(changed(&|all| all[0].clone_from(&bare)), altered(2));
    }

    #[test]
    fn a_journal_without_hashes_is_unsealed() {
        let bare = "{\"event\":\"log\",\"at_ns\":9,\"text\":\"bare\"}\n".to_owned();
        assert_eq!(seal_of(&[bare.clone(), bare]), Seal::Unsealed);
    }
}
