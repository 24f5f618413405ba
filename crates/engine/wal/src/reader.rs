//! Reads records in the order they were written, from any position.

use ese::Lgpos;
use ese::log_file::SegmentSize;
use units::Generation;

use crate::chain::{LogChain, LogEnd, LogFile};
use crate::framing::{Chunk, chunk};
use crate::tail::Span;
use crate::{LogError, LogRecord};

/// Walks over a stream.
pub struct LogReader {
    chain: LogChain,
    file: LogFile,
    segment: u16,
    byte: usize,
    /// A record with fragments still to come.
    pending: Option<PendingRecord>,
    /// Whether the walk began at the first byte of a segment, which may continue an earlier record.
    may_begin_amid: bool,
}

struct PendingRecord {
    start: Lgpos,
    total: usize,
    bytes: Vec<u8>,
}

impl LogReader {
    /// A walk that begins at `start`, which is either the start of a record or byte 0 of a segment,
    /// such as [`Log::durable`] reports; then the walk begins with the first record that starts
    /// after it. All generations from there to the end of the stream must exist.
    ///
    /// [`Log::durable`]: crate::Log::durable
    pub async fn open(chain: LogChain, start: Lgpos) -> Result<Self, LogError> {
        let last = chain.last();
        let first = start.generation.min(last);
        chain.require(first, last)?;
        let file = chain.load(first).await?;
        let end = LogChain::end_of(&file).place();
        if first == last && start > end {
            let folder = chain.folder().name().to_owned();
            let wanted = start;
            return Err(LogError::TooShort { folder, wanted, end });
        }
        let size = file.header.segment_size;
        let (segment, byte) = if start.segment < size.first() {
            (size.first(), 0)
        } else {
            (start.segment, usize::from(start.byte))
        };
        Ok(Self {
            chain,
            file,
            segment,
            byte: byte.max(size.header_bytes()),
            pending: None,
            may_begin_amid: byte <= size.header_bytes(),
        })
    }

    /// The next record and its span; `None` at the end of the log. A record cut short by a crash
    /// does not count.
    pub async fn next(&mut self) -> Result<Option<(Span, LogRecord)>, LogError> {
        loop {
            if self.segment > self.file.last_segment || self.byte >= self.segment_size().bytes() {
                if !self.move_on().await? {
                    return Ok(None);
                }
                continue;
            }
            let place = self.place();
            let Some((found, end)) = chunk(self.file.segment(self.segment), self.byte) else {
                return Err(LogError::Framing { place });
            };
            self.byte = end;
            let span = Span { start: place, end: self.place() };
            let unfinished = self.pending.is_some();
            match found {
                Chunk::End => {}
                Chunk::Whole(bytes) if !unfinished => {
                    let record = decode(place, bytes)?;
                    self.may_begin_amid = false;
                    return Ok(Some((span, record)));
                }
                Chunk::Begin { total, part } if !unfinished => {
                    self.pending =
                        Some(PendingRecord { start: place, total, bytes: part.to_vec() });
                    self.may_begin_amid = false;
                }
                Chunk::Fragment(_) if !unfinished && self.may_begin_amid => {}
                Chunk::Fragment(part) if unfinished => {
                    let part = part.to_vec();
                    if let Some(complete) = self.complete_with(&part, place)? {
                        let span = Span { start: complete.start, end: self.place() };
                        return Ok(Some((span, decode(complete.start, &complete.bytes)?)));
                    }
                }
                Chunk::Whole(_) | Chunk::Begin { .. } | Chunk::Fragment(_) => {
                    return Err(LogError::Framing { place });
                }
            }
        }
    }

    /// The generation being read.
    pub(crate) const fn generation(&self) -> Generation {
        self.file.header.generation
    }

    /// Segment size of that generation.
    pub const fn segment_size(&self) -> SegmentSize {
        self.file.header.segment_size
    }

    /// The end of the stream. Valid after [`LogReader::next`] has returned `None`.
    pub fn end(&self) -> LogEnd {
        assert_eq!(
            self.generation(),
            self.chain.last(),
            "the end is known once all records are read"
        );
        LogChain::end_of(&self.file)
    }

    fn place(&self) -> Lgpos {
        Lgpos {
            generation: self.generation(),
            segment: self.segment,
            byte: u16::try_from(self.byte).expect("invariant: a segment has 4 KiB at most"),
        }
    }

    /// Moves to the next segment or file; false at the end of the stream.
    async fn move_on(&mut self) -> Result<bool, LogError> {
        if self.segment < self.file.last_segment {
            self.segment += 1;
            self.byte = self.segment_size().header_bytes();
            return Ok(true);
        }
        if self.generation() == self.chain.last() {
            return Ok(false);
        }
        self.file = self.chain.load(self.generation().next()).await?;
        if self.file.header.resumed {
            self.pending = None;
        }
        self.segment = self.segment_size().first();
        self.byte = self.segment_size().header_bytes();
        Ok(true)
    }

    /// Adds a fragment to the pending record and returns the record once complete.
    fn complete_with(
        &mut self,
        part: &[u8],
        place: Lgpos,
    ) -> Result<Option<PendingRecord>, LogError> {
        let Some(mut pending) = self.pending.take() else {
            return Ok(None);
        };
        pending.bytes.extend_from_slice(part);
        if pending.bytes.len() > pending.total || part.is_empty() {
            return Err(LogError::Framing { place });
        }
        if pending.bytes.len() == pending.total {
            return Ok(Some(pending));
        }
        self.pending = Some(pending);
        Ok(None)
    }
}

fn decode(place: Lgpos, bytes: &[u8]) -> Result<LogRecord, LogError> {
    LogRecord::decode(bytes).map_err(|problem| LogError::Record { place, problem })
}
