//! Detects sequential streams, several at a time: backups, checksum runs and scans, which are read
//! once and would only evict other pages.

/// Maximum number of streams tracked on a volume.
const MOST_STREAMS: usize = 32;

/// Bytes after which a stream counts as sequential.
const SEQUENTIAL_BYTES: u64 = 1 << 20;

/// A single request of this size counts as a scan.
const LARGE_REQUEST_BYTES: u64 = 256 << 10;

#[derive(Clone, Copy, Debug)]
struct SequentialStream {
    next: u64,
    bytes: u64,
    last_use: u64,
}

/// Follows the sequential streams of one volume and one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct SequentialStreams {
    streams: Vec<SequentialStream>,
    requests: u64,
}

/// How a request relates to earlier streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Continuation {
    /// It begins where an earlier request ended.
    pub follows: bool,
    /// Its stream is long enough to be a scan.
    pub is_scan: bool,
}

impl SequentialStreams {
    /// Records a request of `length` bytes at `offset`.
    pub(super) fn follow(&mut self, offset: u64, length: u64) -> Continuation {
        self.requests += 1;
        let last_use = self.requests;
        let found = self.streams.iter_mut().find(|stream| stream.next == offset);
        let large = length >= LARGE_REQUEST_BYTES;
        if let Some(stream) = found {
            stream.next = offset + length;
            stream.bytes += length;
            stream.last_use = last_use;
            let is_scan = large || stream.bytes >= SEQUENTIAL_BYTES;
            return Continuation { follows: true, is_scan };
        }
        let stream = SequentialStream { next: offset + length, bytes: length, last_use };
        if self.streams.len() < MOST_STREAMS {
            self.streams.push(stream);
        } else if let Some(oldest) = self.streams.iter_mut().min_by_key(|one| one.last_use) {
            *oldest = stream;
        }
        Continuation { follows: false, is_scan: large }
    }
}

#[cfg(test)]
mod tests {
    use units::{Prng, Seed};

    use super::SequentialStreams;

    #[test]
    fn eight_interleaved_scans_are_found_among_random_reads() {
        const PAGE: u64 = 32 << 10;
        let mut streams = SequentialStreams::default();
        let mut prng = Prng::new(Seed(4));
        let (mut scans, mut mistaken) = (0, 0);
        for step in 0..200_u64 {
            for stream in 0..8 {
                let offset = (stream << 40) + step * PAGE;
                scans += u32::from(streams.follow(offset, PAGE).is_scan);
                let random = (1 << 50) + prng.below(1 << 20) * PAGE;
                mistaken += u32::from(streams.follow(random, PAGE).is_scan);
            }
        }
        assert_eq!(scans, 8 * (200 - 31), "from the first MiB on");
        assert_eq!(mistaken, 0);
    }

    #[test]
    fn a_large_request_is_a_scan_at_once() {
        let mut streams = SequentialStreams::default();
        assert!(streams.follow(1 << 30, 256 << 10).is_scan);
        assert!(!streams.follow(5 << 30, 128 << 10).is_scan);
    }
}
