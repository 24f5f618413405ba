//! Messages that a seed determines, as the source of a bulk load.

use engine::Row;
use engine::bulk::RowSource;
use units::{Prng, Seed};

use crate::messages::{MessageRow, digest_of};
use crate::peers::TableDigest;

/// Messages with ascending keys, as input for a fill.
#[derive(Clone, Debug)]
pub(super) struct Messages {
    seed: Seed,
    next: i64,
    left: u64,
    longest: u64,
}

impl Messages {
    /// `rows` messages with long pads of up to `longest` bytes; the seed determines each length.
    pub(super) const fn new(seed: Seed, rows: u64, longest: u64) -> Self {
        Self { seed, next: 1, left: rows, longest }
    }

    /// The digest that every reader must compute for a table of these messages.
    pub(super) fn digest(self) -> TableDigest {
        digest_of("the source", self)
    }
}

impl Iterator for Messages {
    type Item = MessageRow;

    fn next(&mut self) -> Option<MessageRow> {
        self.left = self.left.checked_sub(1)?;
        let stream = self.seed.derive(self.next.cast_unsigned()).derive(7);
        let long_bytes = Prng::new(stream).below(self.longest) + 1;
        let long_bytes = usize::try_from(long_bytes).expect("invariant: long pads are short");
        let row = MessageRow::make(self.seed, self.next, 1, long_bytes);
        // Leaves gaps in the keys, like those that deletes leave.
        self.next += 1 + i64::from(self.next % 7 == 0);
        Some(row)
    }
}

impl RowSource for Messages {
    fn fill(&mut self, row: &mut Row) -> bool {
        let Some(message) = self.next() else {
            return false;
        };
        message.set(row);
        true
    }
}
