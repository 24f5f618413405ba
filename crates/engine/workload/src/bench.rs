//! The mix that compares engines: single operations on mailboxes, with values of 8 to 10 KiB.
//!
//! Other engines have no messages and batches, so this load uses only operations of any ordered
//! key-value store. Keys are `mailbox << 32 | sequence`; mail arrives at a mailbox's end and leaves
//! at its beginning; replaces and reads are uniform.

use units::{Prng, Seed};

/// Mailboxes of the load.
const MAILBOXES: u32 = 1000;
/// Minimum and maximum length of a value, in bytes, both inclusive.
const VALUE_BYTES: (u64, u64) = (8192, 10240);
/// Percentages of inserts, deletes and replaces; the rest are reads.
const MIX: (u64, u64, u64) = (40, 20, 5);
/// Percentage of updates that wait for the disk.
const DURABLE_PERCENT: u32 = 30;

/// The range of messages in each mailbox.
#[derive(Clone, Debug)]
pub struct Mailboxes {
    /// Oldest sequence number, and the one after the newest.
    extents: Vec<(u32, u32)>,
    seed: Seed,
}

/// One operation, in a separate transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailboxOperation {
    /// Adds a key that does not exist.
    Insert(i64),
    /// Removes the oldest key of a mailbox.
    Delete(i64),
    /// Replaces the value of an existing key.
    Replace(i64),
    /// Reads an existing key.
    Read(i64),
}

/// The source of one session's operations.
#[derive(Clone, Debug)]
pub struct MailboxLoad {
    prng: Prng,
}

impl Mailboxes {
    /// Mailboxes with `records` records in total, spread evenly.
    pub fn new(seed: Seed, records: u32) -> Self {
        let (each, rest) = (records / MAILBOXES, records % MAILBOXES);
        let extents = (0..MAILBOXES).map(|mailbox| (0, each + u32::from(mailbox < rest)));
        Self { extents: extents.collect(), seed }
    }

    /// All existing keys, ascending.
    pub fn keys(&self) -> impl Iterator<Item = i64> + '_ {
        let extents = self.extents.iter().enumerate();
        extents.flat_map(|(mailbox, &(oldest, next))| {
            (oldest..next).map(move |sequence| key(mailbox, sequence))
        })
    }

    /// Writes version `version` of the value of `key` into `value`, reusing its memory.
    pub fn value(&self, key: i64, version: u64, value: &mut Vec<u8>) {
        let stream = self.seed.derive(key.cast_unsigned()).derive(version);
        let mut prng = Prng::new(stream);
        let length = VALUE_BYTES.0 + prng.below(VALUE_BYTES.1 - VALUE_BYTES.0 + 1);
        value.resize(usize::try_from(length).expect("invariant: a few KiB"), 0);
        prng.fill(value);
        value[0] |= 0x80; // Never taken for a compression mark of a long value.
    }
}

impl MailboxLoad {
    /// The load of session number `session`.
    pub const fn new(seed: Seed, session: u32) -> Self {
        Self { prng: Prng::new(seed.derive(u64::MAX).derive(session as u64)) }
    }

    /// The next operation, and whether it must be durable. `mailboxes` is shared by all sessions
    /// and already counts the operation as done.
    pub fn next(&mut self, mailboxes: &mut Mailboxes) -> (MailboxOperation, bool) {
        let draw = self.prng.below(100);
        let durable = self.prng.percent(DURABLE_PERCENT);
        let mailbox = usize::try_from(self.prng.below(u64::from(MAILBOXES)))
            .expect("invariant: a thousand mailboxes");
        let place = self.prng.next_u64();
        let (oldest, next) = &mut mailboxes.extents[mailbox];
        if draw < MIX.0 || *oldest == *next {
            *next += 1;
            return (MailboxOperation::Insert(key(mailbox, *next - 1)), durable);
        }
        if draw < MIX.0 + MIX.1 {
            *oldest += 1;
            return (MailboxOperation::Delete(key(mailbox, *oldest - 1)), durable);
        }
        let offset = (u128::from(place) * u128::from(*next - *oldest)) >> 64;
        let sequence = *oldest + u32::try_from(offset).expect("invariant: below the span");
        if draw < MIX.0 + MIX.1 + MIX.2 {
            return (MailboxOperation::Replace(key(mailbox, sequence)), durable);
        }
        (MailboxOperation::Read(key(mailbox, sequence)), false)
    }
}

fn key(mailbox: usize, sequence: u32) -> i64 {
    i64::try_from(mailbox).expect("invariant: a thousand mailboxes") << 32 | i64::from(sequence)
}
