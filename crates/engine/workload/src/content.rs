//! Message content: a payload that can be regenerated, and neither compresses nor repeats unless
//! the plan asks for it.

use plan::LoadSettings;
use units::{Prng, Seed};

use crate::message::Message;
use crate::record::Record;

/// Number of messages that share one value of the secondary index, as mail arrives in bursts.
const MESSAGES_PER_INSTANT: i64 = 16;

/// Bytes of a long value in one node, for 32, 8, 16 and 4 KiB pages (ESE `jetapi.cxx`). Some
/// readers would take the first byte of each for a compression mark if its top bit were clear.
const CHUNK_BYTES: [usize; 4] = [8150, 8110, 4050, 4014];

/// Numbers of the random streams of one version of a message.
const SHORT_STREAM: u64 = 1;
const LONG_STREAM: u64 = 2;
const REPEAT_STREAM: u64 = 3;

/// Number of payloads shared by repeated messages.
const SHARED_PAYLOADS: u64 = 1000;

/// Block size of a compressible payload. Each block ends with its share of zeros, so that even a
/// compressor with a small window reaches the planned ratio.
const COMPRESSED_BYTES: usize = 256;

/// Message contents of one database.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    seed: Seed,
    object: u32,
    short_pad_bytes: usize,
    long_pad_bytes: usize,
    compressible_percent: usize,
    repeated_percent: u32,
    /// Seed of the payloads that all databases share.
    shared: Seed,
}

/// Buffers for the payload of a message. One pair serves any number of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pads {
    /// Kept in the record.
    pub short: Vec<u8>,
    /// Kept in the long-value tree.
    pub long: Vec<u8>,
}

impl Content {
    /// The content of database number `database` (from 0) of a plan with `seed` and `workload`.
    pub const fn new(seed: Seed, database: u32, workload: &LoadSettings) -> Self {
        Self {
            seed: seed.derive(database as u64),
            object: database + 1,
            short_pad_bytes: workload.short_pad_bytes as usize,
            long_pad_bytes: workload.long_pad_bytes as usize,
            compressible_percent: workload.compressible_percent as usize,
            repeated_percent: workload.repeated_percent,
            // Separate from the streams of databases and sessions.
            shared: seed.derive(u64::MAX - 2),
        }
    }

    /// Object number of the database: its index in the plan, plus 1.
    pub const fn object(&self) -> u32 {
        self.object
    }

    /// Generates `version` of the message `message_id` into `pads`, replacing their contents. Does
    /// not allocate once `pads` has served a message of this database.
    pub fn message(&self, message_id: i64, version: u32, pads: &mut Pads) -> Message {
        let stream = self.seed.derive(message_id.cast_unsigned()).derive(u64::from(version));
        pads.short.resize(self.short_pad_bytes, 0);
        pads.long.resize(self.long_pad_bytes, 0);
        let payload = self.payload(stream);
        for (part, pad) in [(SHORT_STREAM, &mut pads.short), (LONG_STREAM, &mut pads.long)] {
            Prng::new(payload.derive(part)).fill(pad);
            self.make_compressible(pad);
        }
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

    /// Seed of the payload of the message version with this `stream`.
    fn payload(&self, stream: Seed) -> Seed {
        let mut draw = Prng::new(stream.derive(REPEAT_STREAM));
        if draw.percent(self.repeated_percent) {
            self.shared.derive(draw.below(SHARED_PAYLOADS))
        } else {
            stream
        }
    }

    fn make_compressible(&self, pad: &mut [u8]) {
        for part in pad.chunks_mut(COMPRESSED_BYTES) {
            let zeros = part.len() * self.compressible_percent / 100;
            let kept = part.len() - zeros;
            part[kept..].fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use plan::Plan;
    use units::Seed;

    use super::{CHUNK_BYTES, Content, Pads};

    fn workload(long_pad: &str) -> plan::LoadSettings {
        let text = format!(
            "[databases]\nfolders = [\"/a\"]\nsize = \"1GiB\"\n\
             [workload]\nlong_pad = \"{long_pad}\"\n"
        );
        Plan::parse("test", &text).unwrap().workload
    }

    /// Longer than the engine accepts, so that random variation evens out.
    fn mebibyte() -> plan::LoadSettings {
        plan::LoadSettings { long_pad_bytes: 1 << 20, ..workload("64KiB") }
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
    fn zeros_have_the_share_that_the_plan_asks_for() {
        let workload = plan::LoadSettings { compressible_percent: 40, ..mebibyte() };
        let mut pads = Pads::default();
        Content::new(Seed(5), 0, &workload).message(1, 1, &mut pads);
        pads.long.sort_unstable();
        let zeros = pads.long.partition_point(|&byte| byte == 0);
        let percent = zeros as f64 * 100.0 / pads.long.len() as f64;
        // One random byte in 256 is zero as well.
        assert!((39.5..41.0).contains(&percent), "{percent}");
    }

    #[test]
    fn repeated_payloads_are_shared_by_all_databases() {
        let workload = plan::LoadSettings { repeated_percent: 30, ..workload("64B") };
        let mut met: HashSet<Vec<u8>> = HashSet::new();
        let mut pads = Pads::default();
        let messages = 40_000;
        for database in 0..2 {
            let content = Content::new(Seed(5), database, &workload);
            for message in 0..messages / 2 {
                content.message(message, 1, &mut pads);
                met.insert(pads.long.clone());
            }
        }
        // 70 % of 40,000 are unique, 1,000 payloads serve the rest.
        assert!((28_600..29_400).contains(&met.len()), "{}", met.len());
    }

    #[test]
    fn no_byte_is_more_likely_than_another() {
        let content = Content::new(Seed(5), 0, &mebibyte());
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
