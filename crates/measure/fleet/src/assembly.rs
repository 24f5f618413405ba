//! Reassembles a journal from its pieces: each byte once, in order, and any gap detected.

use std::fmt;

use crate::JournalPiece;

/// How much of a journal has arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assembly {
    have: u64,
    whole: Option<u64>,
}

/// Why a piece does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceFault {
    /// Bytes before it have not arrived.
    Gap {
        /// Bytes that have arrived.
        have: u64,
        /// Start of the piece.
        offset: u64,
    },
    /// Ends after the end announced by an earlier piece, or announces another end.
    BeyondEnd {
        /// The end that was announced first.
        whole: u64,
    },
}

impl fmt::Display for PieceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gap { have, offset } => {
                write!(f, "bytes {have} to {offset} of the journal have not arrived")
            }
            Self::BeyondEnd { whole } => write!(f, "a piece lies behind byte {whole}, the end"),
        }
    }
}

impl std::error::Error for PieceFault {}

impl Assembly {
    /// Continues a journal of which `have` bytes have arrived.
    pub const fn from(have: u64) -> Self {
        Self { have, whole: None }
    }

    /// Bytes that have arrived.
    pub const fn have(&self) -> u64 {
        self.have
    }

    /// Whether the journal is complete.
    pub fn is_complete(&self) -> bool {
        self.whole == Some(self.have)
    }

    /// Accepts a piece; the caller must append the returned new part to the journal.
    pub fn take<'a>(&mut self, chunk: &'a JournalPiece) -> Result<&'a [u8], PieceFault> {
        let end = chunk.offset + chunk.bytes.len() as u64;
        if chunk.offset > self.have {
            return Err(PieceFault::Gap { have: self.have, offset: chunk.offset });
        }
        let whole = self.whole.or(chunk.whole);
        if let Some(whole) = whole.filter(|whole| end > *whole || self.have > *whole) {
            return Err(PieceFault::BeyondEnd { whole });
        }
        if let (Some(known), Some(said)) = (self.whole, chunk.whole)
            && known != said
        {
            return Err(PieceFault::BeyondEnd { whole: known });
        }
        self.whole = whole;
        let known = usize::try_from(self.have - chunk.offset).unwrap_or(usize::MAX);
        let new = chunk.bytes.get(known..).unwrap_or_default();
        self.have = self.have.max(end);
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Assembly, PieceFault};
    use crate::{JournalOutbox, JournalPiece};

    /// Publishes `journal`, which grows by `steps`; `fates` decides for each piece whether it is
    /// lost, kept without acknowledgement, or kept.
    fn publish(
        journal: &[u8],
        steps: &[usize],
        fates: &mut impl Iterator<Item = u8>,
    ) -> Vec<JournalPiece> {
        let (mut outbox, mut stream, mut length) = (JournalOutbox::default(), Vec::new(), 0);
        let mut steps = steps.iter();
        for _ in 0..10_000 {
            length = (length + steps.next().unwrap_or(&journal.len())).min(journal.len());
            let from = usize::try_from(outbox.next_offset()).expect("a short journal");
            let has_ended = length == journal.len();
            if let Some(chunk) = outbox.next(&journal[from..length.max(from)], has_ended) {
                match fates.next().unwrap_or(2) % 3 {
                    0 => {}
                    1 => stream.push(chunk),
                    _ => {
                        outbox.acknowledged(&chunk);
                        stream.push(chunk);
                    }
                }
            }
            if outbox.is_done() {
                return stream;
            }
        }
        panic!("the journal was never published to its end");
    }

    proptest! {
        #[test]
        fn whatever_is_lost_or_repeated_the_journal_arrives_once(
            journal in prop::collection::vec(any::<u8>(), 0..2_000),
            steps in prop::collection::vec(1_usize..400, 0..20),
            fates in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let stream = publish(&journal, &steps, &mut fates.into_iter());
            let (mut assembly, mut arrived) = (Assembly::default(), Vec::new());
            for chunk in &stream {
                arrived.extend_from_slice(assembly.take(chunk).expect("no piece is missing"));
            }
            prop_assert!(assembly.is_complete());
            prop_assert_eq!(arrived, journal);
        }
    }

    #[test]
    fn a_missing_piece_is_noticed_and_sent_again() {
        let piece = |offset: u64, whole| JournalPiece { offset, whole, bytes: vec![1; 10] };
        let mut assembly = Assembly::default();
        assert_eq!(assembly.take(&piece(0, None)).map(<[u8]>::len), Ok(10));
        let gap = PieceFault::Gap { have: 10, offset: 20 };
        assert_eq!(assembly.take(&piece(20, Some(30))), Err(gap));
        assert!(!assembly.is_complete());
        let mut outbox = JournalOutbox::default();
        outbox.acknowledged(&piece(20, Some(30)));
        outbox.resend_from(assembly.have());
        let rest = outbox.next(&[1; 20], true).expect("the rest");
        assert_eq!(assembly.take(&rest).map(<[u8]>::len), Ok(20));
        assert!(assembly.is_complete());
    }

    #[test]
    fn nothing_is_taken_behind_the_end() {
        let end = JournalPiece { offset: 0, whole: Some(4), bytes: vec![1; 4] };
        let mut assembly = Assembly::default();
        assert!(assembly.take(&end).is_ok());
        let further = JournalPiece { offset: 4, whole: None, bytes: vec![2; 1] };
        assert_eq!(assembly.take(&further), Err(PieceFault::BeyondEnd { whole: 4 }));
    }
}
