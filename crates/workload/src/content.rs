//! What a message holds: payload that neither compresses nor repeats, and can be made again.

use plan::Workload;
use units::{Prng, Seed};

use crate::message::Message;
use crate::record::Record;

/// Messages that share one value of the secondary index, as mail arrives in bursts.
const MESSAGES_PER_INSTANT: i64 = 16;

/// Bytes of a long value in one node, for 32, 8, 16 and 4 KiB pages (ESE `jetapi.cxx`). The first
/// byte of each would be taken for a compression mark by some readers if its top bit were clear.
const CHUNK_BYTES: [usize; 4] = [8150, 8110, 4050, 4014];

/// Streams of one message's version.
const SHORT_STREAM: u64 = 1;
const LONG_STREAM: u64 = 2;

/// What the messages of one database hold.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    seed: Seed,
    object: u32,
    short_pad_bytes: usize,
    long_pad_bytes: usize,
}

/// The payload of a message. One pair of buffers serves any number of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pads {
    /// Kept in the record.
    pub short: Vec<u8>,
    /// Kept in the long-value tree.
    pub long: Vec<u8>,
}

impl Content {
    /// The content of database number `database` (from 0) of a plan with `seed` and `workload`.
    pub const fn new(seed: Seed, database: u32, workload: &Workload) -> Self {
        Self {
            seed: seed.derive(database as u64),
            object: database + 1,
            short_pad_bytes: workload.short_pad_bytes as usize,
            long_pad_bytes: workload.long_pad_bytes as usize,
        }
    }

    /// Which database this is: its index in the plan, plus 1.
    pub const fn object(&self) -> u32 {
        self.object
    }

    /// Bytes of the payload of one message, short and long.
    pub const fn payload_bytes(&self) -> usize {
        self.short_pad_bytes + self.long_pad_bytes
    }

    /// Makes `version` of the message `message_id`; its payload replaces what `pads` held. Does
    /// not allocate once `pads` has served a message of this database.
    pub fn message(&self, message_id: i64, version: u32, pads: &mut Pads) -> Message {
        let stream = self.seed.derive(message_id.cast_unsigned()).derive(u64::from(version));
        pads.short.resize(self.short_pad_bytes, 0);
        pads.long.resize(self.long_pad_bytes, 0);
        Prng::new(stream.derive(SHORT_STREAM)).fill(&mut pads.short);
        Prng::new(stream.derive(LONG_STREAM)).fill(&mut pads.long);
        for chunk in CHUNK_BYTES {
            for first in pads.long.iter_mut().step_by(chunk) {
                *first |= 0x80;
            }
        }
        let mut message = Message {
            message_id,
            object: self.object,
            version,
            received: message_id / MESSAGES_PER_INSTANT,
            record_hash: [0; 16],
            long_hash: [0; 16],
        };
        message.long_hash = Record::new(&message, &pads.short).hash_of_long(&pads.long);
        message.record_hash = Record::new(&message, &pads.short).hash();
        message
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use plan::Plan;
    use units::Seed;

    use super::{CHUNK_BYTES, Content, Pads};

    fn workload(long_pad: &str) -> plan::Workload {
        let text = format!(
            "[databases]\nfolders = [\"/a\"]\nsize = \"1GiB\"\n\
             [workload]\nlong_pad = \"{long_pad}\"\n"
        );
        Plan::parse("test", &text).unwrap().workload
    }

    #[test]
    fn databases_messages_and_versions_differ_in_every_block() {
        let workload = workload("2000B");
        let mut blocks = HashSet::new();
        let mut pads = Pads::default();
        let mut count = 0;
        for database in 0..2 {
            for message in 1..20 {
                for version in 1..4 {
                    Content::new(Seed(5), database, &workload).message(message, version, &mut pads);
                    for block in
                        [&pads.short, &pads.long].into_iter().flat_map(|pad| pad.chunks_exact(8))
                    {
                        blocks.insert(block.to_vec());
                        count += 1;
                    }
                }
            }
        }
        assert_eq!(blocks.len(), count);
    }

    #[test]
    fn every_chunk_of_a_long_pad_begins_with_its_top_bit_set() {
        let content = Content::new(Seed(5), 0, &workload("64KiB"));
        let mut pads = Pads::default();
        content.message(7, 1, &mut pads);
        for chunk in CHUNK_BYTES {
            assert!(pads.long.chunks(chunk).all(|chunk| chunk[0] >= 0x80));
        }
    }

    #[test]
    fn no_byte_is_more_likely_than_another() {
        let content = Content::new(Seed(5), 0, &workload("1MiB"));
        let mut pads = Pads::default();
        content.message(1, 1, &mut pads);
        let mut counts = [0_u32; 256];
        for &byte in &pads.long {
            counts[usize::from(byte)] += 1;
        }
        // 4096 expected of each; ten standard deviations (64) on either side.
        assert!(counts.iter().all(|count| (3456..4736).contains(count)), "{counts:?}");
    }
}
