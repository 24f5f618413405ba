//! The end of the log in memory: records appended but not yet handed to the device.
//!
//! Positions continue across generations here, whether or not the next file exists yet: appending
//! never waits. A plain value without I/O, so that it can be tested alone.

use device::Buffer;
use ese::Lgpos;
use ese::LogTime;
use ese::log_file::{SegmentHeader, SegmentSize, accumulate};
use units::Generation;

use crate::framing::{may_begin, put_chunk};

/// Position and extent of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// Its first byte.
    pub start: Lgpos,
    /// The position after its last byte: once the log is durable up to here, the record is durable.
    pub end: Lgpos,
}

/// A run of complete segments of one generation on its way to the device.
pub(crate) struct Batch {
    /// The file that they go to.
    pub generation: Generation,
    /// The first segment.
    pub first: u16,
    /// Number of segments.
    pub count: u16,
    /// Size of each segment.
    pub size: SegmentSize,
    /// The segments, not sealed yet.
    pub bytes: Buffer,
}

impl Batch {
    /// The position after the batch: everything before it is durable once the batch is written.
    pub(crate) fn end(&self) -> Lgpos {
        Lgpos { generation: self.generation, segment: self.first + self.count, byte: 0 }
    }

    /// Writes the headers of all segments and returns the generation's checksum, continued from
    /// `sum`.
    pub(crate) fn seal(&mut self, started: LogTime, stream: u32, sum: u64) -> u64 {
        let (generation, write_first, write_count) = (self.generation, self.first, self.count);
        let segments = self.bytes.chunks_exact_mut(self.size.bytes());
        (self.first..).zip(segments).fold(sum, |sum, (index, bytes)| {
            let header =
                SegmentHeader { generation, index, started, stream, write_first, write_count };
            accumulate(sum, header.seal(bytes))
        })
    }
}

/// Segments that wait to be written; the last one is being filled.
pub(crate) struct Tail {
    size: SegmentSize,
    /// The segments, contiguous.
    bytes: Vec<u8>,
    /// Place of the last segment.
    generation: Generation,
    segment: u16,
    /// Bytes of the last segment in use, its header included.
    used: usize,
    encoded: Vec<u8>,
}

impl Tail {
    /// An empty log that continues at the first segment of `generation`.
    pub(crate) fn new(generation: Generation, size: SegmentSize) -> Self {
        Self {
            size,
            bytes: vec![0; size.bytes()],
            generation,
            segment: size.first(),
            used: size.header_bytes(),
            encoded: Vec::new(),
        }
    }

    /// Position of the next record.
    pub(crate) fn tip(&self) -> Lgpos {
        let byte = u16::try_from(self.used).expect("invariant: a segment has 4 KiB at most");
        Lgpos { generation: self.generation, segment: self.segment, byte }
    }

    /// `place`, or the tip if that is earlier. A position in an empty segment becomes the end of
    /// the segment before it: none of an empty segment can be written.
    pub(crate) fn within(&self, place: Lgpos) -> Lgpos {
        let place = place.min(self.tip());
        if usize::from(place.byte) > self.size.header_bytes() {
            place
        } else if place.segment <= self.size.first() {
            // The end of the previous generation: this one may not exist yet.
            Lgpos {
                generation: Generation(place.generation.0.saturating_sub(1)),
                segment: self.size.per_file(),
                byte: 0,
            }
        } else {
            Lgpos { byte: 0, ..place }
        }
    }

    /// The end of the last complete segment.
    pub(crate) fn complete_end(&self) -> Lgpos {
        self.within(Lgpos { byte: 0, ..self.tip() })
    }

    /// Bytes waiting to be written.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.complete_bytes() + self.used - self.size.header_bytes()
    }

    /// Appends the record that `encode` writes.
    pub(crate) fn append(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> Span {
        let mut record = std::mem::take(&mut self.encoded);
        record.clear();
        encode(&mut record);
        assert!(!record.is_empty(), "a record has a kind at least");
        if !may_begin(self.size.bytes() - self.used, record.len()) {
            self.begin_segment();
        }
        let start = self.tip();
        let mut written = 0;
        while written < record.len() {
            if self.used == self.size.bytes() {
                self.begin_segment();
            }
            let last = self.complete_bytes();
            let segment = &mut self.bytes[last..];
            written += put_chunk(segment, &mut self.used, &record, written);
        }
        self.encoded = record;
        Span { start, end: self.tip() }
    }

    /// Ends the segment being filled, unless it is empty: the rest of it is fill.
    pub(crate) fn cut(&mut self) {
        if self.used > self.size.header_bytes() {
            self.begin_segment();
        }
    }

    /// Takes the first complete segments, at most `most`, all of one generation.
    pub(crate) fn take(&mut self, most: usize) -> Option<Batch> {
        let complete = self.complete_bytes() / self.size.bytes();
        let (generation, first) = self.first_waiting();
        let of_generation = usize::from(self.size.per_file() - first);
        let count = complete.min(most).min(of_generation);
        if count == 0 {
            return None;
        }
        let taken = count * self.size.bytes();
        let bytes = Buffer::copy_of(&self.bytes[..taken]);
        self.bytes.drain(..taken);
        Some(Batch {
            generation,
            first,
            count: u16::try_from(count).expect("invariant: a file has 2048 segments at most"),
            size: self.size,
            bytes,
        })
    }

    /// Bytes of the segments that are complete.
    fn complete_bytes(&self) -> usize {
        self.bytes.len() - self.size.bytes()
    }

    /// Place of the first waiting segment.
    fn first_waiting(&self) -> (Generation, u16) {
        let back = u32::try_from(self.complete_bytes() / self.size.bytes());
        let mut back = back.expect("invariant: what waits fits memory");
        let (first, end) = (self.size.first(), self.size.per_file());
        let (mut generation, mut before) = (self.generation.0, u32::from(self.segment - first));
        while back > before {
            back -= before + 1;
            before = u32::from(end - first - 1);
            generation -= 1;
        }
        let segment = u16::try_from(before - back).expect("invariant: a segment of a file");
        (Generation(generation), first + segment)
    }

    /// Continues in the next segment; after the last one, in the first of the next file.
    fn begin_segment(&mut self) {
        self.bytes.resize(self.bytes.len() + self.size.bytes(), 0);
        self.segment += 1;
        if self.segment == self.size.per_file() {
            self.generation = self.generation.next();
            self.segment = self.size.first();
        }
        self.used = self.size.header_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::{Lgpos, SegmentSize, Tail};
    use units::Generation;

    const SIZES: [SegmentSize; 2] = [SegmentSize::Bytes512, SegmentSize::Bytes4096];

    const fn place(generation: u32, segment: u16, byte: u16) -> Lgpos {
        Lgpos { generation: Generation(generation), segment, byte }
    }

    fn append(tail: &mut Tail, bytes: usize) -> super::Span {
        tail.append(|out| out.resize(bytes, 7))
    }

    #[test]
    fn records_follow_each_other_and_segments_end_where_they_are_cut() {
        for (size, first, header) in [(SIZES[0], 8, 12), (SIZES[1], 1, 40)] {
            let mut tail = Tail::new(Generation(5), size);
            assert_eq!(append(&mut tail, 10).start, place(5, first, header));
            assert_eq!(append(&mut tail, 10).end, place(5, first, header + 26));
            assert!(tail.take(9).is_none(), "nothing is complete");
            tail.cut();
            tail.cut();
            assert_eq!(append(&mut tail, 10).start, place(5, first + 1, header));
            let batch = tail.take(9).expect("one segment is complete");
            assert_eq!((batch.first, batch.count), (first, 1));
            assert_eq!(batch.end(), place(5, first + 1, 0));
            assert_eq!(tail.waiting_bytes(), 13);
        }
    }

    #[test]
    fn a_record_fills_its_segment_to_the_last_byte() {
        for (size, first, room) in [(SIZES[0], 8, 497), (SIZES[1], 1, 4053)] {
            let mut tail = Tail::new(Generation(5), size);
            let bytes = u16::try_from(size.bytes()).unwrap();
            assert_eq!(append(&mut tail, room).end, place(5, first, bytes));
            assert_eq!(append(&mut tail, 1).start.segment, first + 1);
        }
    }

    #[test]
    fn a_record_that_does_not_fit_runs_on_into_the_next_generation() {
        for size in SIZES {
            let mut tail = Tail::new(Generation(5), size);
            let (first, per_file) = (size.first(), size.per_file());
            for _ in first..per_file - 1 {
                append(&mut tail, size.bytes() - 96);
                tail.cut();
            }
            let span = append(&mut tail, 2 * size.bytes());
            let begin = u16::try_from(size.header_bytes()).unwrap();
            assert_eq!(span.start, place(5, per_file - 1, begin));
            let behind = (span.end.generation, span.end.segment);
            assert_eq!(behind, (Generation(6), first + 1));
            let batch = tail.take(10_000).expect("a whole generation waits");
            let whole = (5, first, per_file - first);
            assert_eq!((batch.generation.0, batch.first, batch.count), whole);
            assert_eq!(batch.end(), place(5, per_file, 0));
            assert_eq!(tail.within(place(6, first, 0)), batch.end());
            let batch = tail.take(10_000).expect("one segment of the next waits");
            let one = (6, first, 1);
            assert_eq!((batch.generation.0, batch.first, batch.count), one);
            assert_eq!(batch.bytes.len(), size.bytes());
        }
    }
}
