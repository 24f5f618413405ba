//! The end of the log in memory: records appended and not yet handed to the device.
//!
//! Positions run on over generations here, whether the next file exists yet or not: appending
//! never waits. A plain value without I/O, so that it can be tested alone.

use std::collections::VecDeque;

use device::Buffer;
use ese::Lgpos;
use ese::LogTime;
use ese::log_file::{
    SEGMENT_BYTES, SEGMENT_HEADER_BYTES, SEGMENTS_PER_FILE, SegmentHeader, accumulate,
};
use units::Generation;

use crate::log::framing::{may_begin, put_chunk};

/// Where a record lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// Its first byte.
    pub start: Lgpos,
    /// The byte behind its last one: durable up to here means that the record is durable.
    pub end: Lgpos,
}

/// A run of complete segments of one generation on its way to the device.
pub(super) struct Batch {
    /// The file that they go to.
    pub generation: Generation,
    /// The first segment.
    pub first: u16,
    /// How many.
    pub count: u16,
    /// The segments, not sealed yet.
    pub bytes: Buffer,
}

impl Batch {
    /// The place behind the batch: everything before it is durable once the batch is written.
    pub(super) fn end(&self) -> Lgpos {
        Lgpos {
            generation: self.generation,
            segment: self.first + self.count,
            byte: 0,
        }
    }

    /// Puts the headers in front of all segments and returns the generation's checksum, moved on
    /// from `sum`.
    pub(super) fn seal(&mut self, started: LogTime, stream: u32, sum: u64) -> u64 {
        let (generation, write_first, write_count) = (self.generation, self.first, self.count);
        let (segments, _) = self.bytes.as_chunks_mut::<SEGMENT_BYTES>();
        (self.first..)
            .zip(segments)
            .fold(sum, |sum, (index, bytes)| {
                let header = SegmentHeader {
                    generation,
                    index,
                    started,
                    stream,
                    write_first,
                    write_count,
                };
                accumulate(sum, header.seal(bytes))
            })
    }
}

/// The segment after one: the first of the next file after the last.
pub(super) fn following(generation: Generation, segment: u16) -> (Generation, u16) {
    if segment + 1 < SEGMENTS_PER_FILE {
        (generation, segment + 1)
    } else {
        (generation.next(), 1)
    }
}

/// Segments that wait to be written; the last one is being filled.
pub(super) struct Tail {
    segments: VecDeque<Box<[u8; SEGMENT_BYTES]>>,
    /// Place of the last segment.
    generation: Generation,
    segment: u16,
    /// Bytes of the last segment in use, its header included.
    used: usize,
    encoded: Vec<u8>,
}

impl Tail {
    /// An empty log that goes on at the first segment of `generation`.
    pub(super) fn new(generation: Generation) -> Self {
        Self {
            segments: VecDeque::from([empty_segment()]),
            generation,
            segment: 1,
            used: SEGMENT_HEADER_BYTES,
            encoded: Vec::new(),
        }
    }

    /// Where the next record goes.
    pub(super) fn tip(&self) -> Lgpos {
        let byte = u16::try_from(self.used).expect("invariant: a segment has 4 KiB");
        Lgpos {
            generation: self.generation,
            segment: self.segment,
            byte,
        }
    }

    /// `place`, or the tip if that comes first. An empty segment ends before it begins: nothing of
    /// it can be written.
    pub(super) fn within(&self, place: Lgpos) -> Lgpos {
        let place = place.min(self.tip());
        if usize::from(place.byte) > SEGMENT_HEADER_BYTES {
            place
        } else if place.segment <= 1 {
            // The end of the last generation: this one need not exist yet.
            Lgpos {
                generation: Generation(place.generation.0.saturating_sub(1)),
                segment: SEGMENTS_PER_FILE,
                byte: 0,
            }
        } else {
            Lgpos { byte: 0, ..place }
        }
    }

    /// The end of the last complete segment.
    pub(super) fn complete_end(&self) -> Lgpos {
        self.within(Lgpos {
            byte: 0,
            ..self.tip()
        })
    }

    /// Bytes that wait to be written.
    pub(super) fn waiting_bytes(&self) -> usize {
        (self.segments.len() - 1) * SEGMENT_BYTES + self.used - SEGMENT_HEADER_BYTES
    }

    /// Appends the record that `encode` writes.
    pub(super) fn append(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> Span {
        let mut record = std::mem::take(&mut self.encoded);
        record.clear();
        encode(&mut record);
        assert!(!record.is_empty(), "a record has a kind at least");
        if !may_begin(SEGMENT_BYTES - self.used, record.len()) {
            self.begin_segment();
        }
        let start = self.tip();
        let mut written = 0;
        while written < record.len() {
            if self.used == SEGMENT_BYTES {
                self.begin_segment();
            }
            let segment = self.segments.back_mut();
            let segment = segment.expect("invariant: one segment is always being filled");
            written += put_chunk(segment, &mut self.used, &record, written);
        }
        self.encoded = record;
        Span {
            start,
            end: self.tip(),
        }
    }

    /// Ends the segment being filled, if it holds anything: the rest of it is fill.
    pub(super) fn cut(&mut self) {
        if self.used > SEGMENT_HEADER_BYTES {
            self.begin_segment();
        }
    }

    /// Takes the first complete segments, at most `most`, all of one generation.
    pub(super) fn take(&mut self, most: usize) -> Option<Batch> {
        let complete = self.segments.len() - 1;
        let (generation, first) = self.first_waiting();
        let of_generation = usize::from(SEGMENTS_PER_FILE - first);
        let count = complete.min(most).min(of_generation);
        if count == 0 {
            return None;
        }
        let mut bytes = Buffer::zeroed(count * SEGMENT_BYTES);
        for (target, source) in bytes
            .chunks_mut(SEGMENT_BYTES)
            .zip(self.segments.drain(..count))
        {
            target.copy_from_slice(&*source);
        }
        let count = u16::try_from(count).expect("invariant: a file has 256 segments");
        Some(Batch {
            generation,
            first,
            count,
            bytes,
        })
    }

    /// Place of the first segment that waits.
    fn first_waiting(&self) -> (Generation, u16) {
        let per_file = usize::from(SEGMENTS_PER_FILE - 1);
        let mut back = self.segments.len() - 1;
        let (mut generation, mut segment) = (self.generation.0, usize::from(self.segment));
        while back >= segment {
            back -= segment;
            segment = per_file;
            generation -= 1;
        }
        let segment = u16::try_from(segment - back).expect("invariant: a file has 256 segments");
        (Generation(generation), segment)
    }

    fn begin_segment(&mut self) {
        self.segments.push_back(empty_segment());
        (self.generation, self.segment) = following(self.generation, self.segment);
        self.used = SEGMENT_HEADER_BYTES;
    }
}

fn empty_segment() -> Box<[u8; SEGMENT_BYTES]> {
    Box::new([0; SEGMENT_BYTES])
}

#[cfg(test)]
mod tests {
    use super::{Lgpos, SEGMENT_BYTES, Tail};
    use units::Generation;

    const fn place(generation: u32, segment: u16, byte: u16) -> Lgpos {
        Lgpos {
            generation: Generation(generation),
            segment,
            byte,
        }
    }

    fn append(tail: &mut Tail, bytes: usize) -> super::Span {
        tail.append(|out| out.resize(bytes, 7))
    }

    #[test]
    fn records_follow_each_other_and_segments_end_where_they_are_cut() {
        let mut tail = Tail::new(Generation(5));
        assert_eq!(append(&mut tail, 10).start, place(5, 1, 40));
        assert_eq!(append(&mut tail, 10).end, place(5, 1, 66));
        assert!(tail.take(9).is_none(), "nothing is complete");
        tail.cut();
        tail.cut();
        assert_eq!(append(&mut tail, 10).start, place(5, 2, 40));
        let batch = tail.take(9).expect("one segment is complete");
        assert_eq!((batch.first, batch.count), (1, 1));
        assert_eq!(batch.end(), place(5, 2, 0));
        assert_eq!(tail.waiting_bytes(), 13);
    }

    #[test]
    fn a_record_fills_its_segment_to_the_last_byte() {
        let mut tail = Tail::new(Generation(5));
        assert_eq!(append(&mut tail, 4053).end, place(5, 1, 4096));
        assert_eq!(append(&mut tail, 1).start, place(5, 2, 40));
    }

    #[test]
    fn a_record_that_does_not_fit_runs_on_into_the_next_generation() {
        let mut tail = Tail::new(Generation(5));
        for _ in 0..254 {
            append(&mut tail, 4000);
            tail.cut();
        }
        let span = append(&mut tail, 9000);
        assert_eq!(span.start, place(5, 255, 40));
        assert_eq!((span.end.generation, span.end.segment), (Generation(6), 2));
        let batch = tail.take(1000).expect("a whole generation waits");
        assert_eq!((batch.generation.0, batch.first, batch.count), (5, 1, 255));
        assert_eq!(batch.end(), place(5, 256, 0));
        assert_eq!(tail.within(place(6, 1, 0)), batch.end());
        let batch = tail.take(1000).expect("one segment of the next waits");
        assert_eq!((batch.generation.0, batch.first, batch.count), (6, 1, 1));
        assert_eq!(batch.bytes.len(), SEGMENT_BYTES);
    }
}
