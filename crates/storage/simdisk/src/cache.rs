//! Contents of a controller's memory: bytes acknowledged but not yet written, and bytes read ahead.

use std::collections::BTreeMap;

use crate::disk::VirtualMoment;

/// Bytes that are acknowledged and wait for the disks.
#[derive(Default)]
pub(crate) struct WriteCache {
    /// End of each dirty range, by its start; no two ranges touch.
    dirty: BTreeMap<u64, u64>,
    dirty_bytes: u64,
    /// Bytes being written to the disks, which still occupy the cache.
    leaving_bytes: u64,
    /// End of the last destaged extent.
    cursor: u64,
}

impl WriteCache {
    /// Bytes that occupy the cache: dirty, or being written to the disks.
    pub(crate) const fn held_bytes(&self) -> u64 {
        self.dirty_bytes + self.leaving_bytes
    }

    /// Bytes that wait to be written to the disks.
    pub(crate) const fn dirty_bytes(&self) -> u64 {
        self.dirty_bytes
    }

    /// Adds bytes; existing ones are replaced.
    pub(crate) fn insert(&mut self, offset: u64, length: u64) {
        let (mut from, mut to) = (offset, offset + length);
        let touching: Vec<u64> = self
            .dirty
            .range(..=to)
            .rev()
            .take_while(|(_, end)| **end >= from)
            .map(|(begin, _)| *begin)
            .collect();
        for begin in touching {
            let end = self.dirty.remove(&begin).expect("invariant: it was just found");
            self.dirty_bytes -= end - begin;
            (from, to) = (from.min(begin), to.max(end));
        }
        self.dirty.insert(from, to);
        self.dirty_bytes += to - from;
    }

    /// Whether all of these bytes are present.
    pub(crate) fn holds(&self, offset: u64, length: u64) -> bool {
        let before = self.dirty.range(..=offset).next_back();
        before.is_some_and(|(_, end)| *end >= offset + length)
    }

    /// Removes up to `most` bytes to destage from the extent after the previous one, wrapping
    /// around at the end.
    pub(crate) fn leave(&mut self, most: u64) -> Option<(u64, u64)> {
        let ahead = self.dirty.range(self.cursor..).next().or_else(|| self.dirty.iter().next());
        let (begin, end) = ahead.map(|(begin, end)| (*begin, *end))?;
        let cut = end.min(begin - begin % most + most);
        self.dirty.remove(&begin);
        if cut < end {
            self.dirty.insert(cut, end);
        }
        self.dirty_bytes -= cut - begin;
        self.leaving_bytes += cut - begin;
        self.cursor = cut;
        Some((begin, cut - begin))
    }

    /// Records that an extent has reached the disks.
    pub(crate) fn left(&mut self, length: u64) {
        self.leaving_bytes -= length;
    }
}

/// Sequential streams of reads.
pub(crate) struct ReadAhead {
    depth: u64,
    most_streams: usize,
    streams: Vec<Stream>,
}

/// Number of consecutive reads before the controller reads ahead.
const READS_OF_A_STREAM: u32 = 2;

/// Reads in flight arrive in any order: a read this far behind the farthest one may still come.
const REORDERED_BYTES: u64 = 4 << 20;

/// A stream that is silent for longer has ended, and its memory is reused.
const LONGEST_SILENCE: VirtualMoment = 5_000_000_000;

struct Stream {
    /// Expected start of the next read.
    next: u64,
    /// Ranges before it that have not been read. Read ranges are dropped.
    skipped: Vec<(u64, u64)>,
    reads: u32,
    /// End of the bytes requested from the disks, and of those that have arrived.
    asked: u64,
    come: u64,
    used: VirtualMoment,
}

impl Stream {
    const fn is_followed(&self) -> bool {
        self.reads >= READS_OF_A_STREAM
    }

    /// Whether these bytes were requested from the disks, and have not been read.
    fn holds(&self, offset: u64, end: u64) -> bool {
        (offset >= self.next && end <= self.asked)
            || self.skipped.iter().any(|(from, to)| *from <= offset && end <= *to)
    }

    /// Notes that these bytes are read.
    fn pass(&mut self, offset: u64, end: u64) {
        if offset > self.next {
            self.skipped.push((self.next, offset));
        }
        self.next = self.next.max(end);
        let least = self.next.saturating_sub(REORDERED_BYTES);
        self.skipped = std::mem::take(&mut self.skipped)
            .into_iter()
            .flat_map(|(from, to)| [(from, to.min(offset)), (from.max(end), to)])
            .filter(|(from, to)| from < to && *to > least)
            .collect();
    }
}

/// Result of a read from read-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundAhead {
    /// Nothing: the disks must be asked.
    Miss,
    /// All of it is there.
    Hit,
    /// It is being read ahead, in the stream of this number.
    Coming(usize),
}

impl ReadAhead {
    /// Reads `depth` bytes ahead of each stream; follows at most `most_streams` at a time.
    pub(crate) const fn new(depth: u64, most_streams: usize) -> Self {
        Self { depth, most_streams, streams: Vec::new() }
    }

    /// Records a read and returns its result, and the bytes to read ahead now, with the number of
    /// their stream.
    pub(crate) fn read(
        &mut self,
        now: VirtualMoment,
        offset: u64,
        length: u64,
    ) -> (FoundAhead, Option<(usize, u64, u64)>) {
        if self.depth == 0 {
            return (FoundAhead::Miss, None);
        }
        let end = offset + length;
        let Some(number) = self.stream_of(now, offset, end) else {
            self.follow(now, end);
            return (FoundAhead::Miss, None);
        };
        let depth = self.depth;
        let stream = &mut self.streams[number];
        stream.reads += 1;
        stream.used = now;
        stream.pass(offset, end);
        let found = match () {
            () if end <= stream.come => FoundAhead::Hit,
            () if end <= stream.asked => FoundAhead::Coming(number),
            () => FoundAhead::Miss,
        };
        if stream.reads < READS_OF_A_STREAM || stream.asked >= stream.next + depth / 2 {
            return (found, None);
        }
        let from = stream.asked.max(stream.next);
        if stream.asked < stream.next {
            stream.come = from;
        }
        stream.asked = stream.next + depth;
        (found, Some((number, from, stream.asked - from)))
    }

    /// Records that read-ahead bytes have arrived.
    pub(crate) fn come(&mut self, number: usize, to: u64) {
        if let Some(stream) = self.streams.get_mut(number) {
            stream.come = stream.come.max(to.min(stream.asked));
        }
    }

    fn stream_of(&self, now: VirtualMoment, offset: u64, end: u64) -> Option<usize> {
        self.streams.iter().position(|stream| {
            let is_alive = now <= stream.used + LONGEST_SILENCE;
            let held = stream.reads >= READS_OF_A_STREAM && stream.holds(offset, end);
            is_alive && (offset == stream.next || held)
        })
    }

    /// Starts tracking a possible stream here, in the slot of the least recently used one. Entries
    /// with a single read are replaced first, since random reads would otherwise push out a scan,
    /// unless streams hold more than half of the slots: then a stream is replaced, since streams
    /// that have ended would keep out new ones.
    fn follow(&mut self, now: VirtualMoment, end: u64) {
        let skipped = Vec::new();
        let stream = Stream { next: end, skipped, reads: 1, asked: 0, come: 0, used: now };
        if self.streams.len() < self.most_streams {
            self.streams.push(stream);
            return;
        }
        let followed = self.streams.iter().filter(|stream| stream.is_followed()).count();
        let gives_way = followed > self.most_streams / 2;
        let candidates = self.streams.iter_mut().filter(|stream| stream.is_followed() == gives_way);
        if let Some(oldest) = candidates.min_by_key(|stream| stream.used) {
            *oldest = stream;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FoundAhead, ReadAhead, WriteCache};

    #[test]
    fn extents_that_touch_become_one_and_leave_in_order() {
        let mut cache = WriteCache::default();
        cache.insert(100, 10);
        cache.insert(120, 10);
        cache.insert(105, 16);
        assert_eq!(cache.dirty_bytes(), 30);
        assert!(cache.holds(100, 30) && !cache.holds(100, 31) && !cache.holds(99, 2));
        cache.insert(10, 5);
        assert_eq!(cache.leave(1_000), Some((10, 5)));
        assert_eq!(cache.leave(1_000), Some((100, 30)));
        assert_eq!(cache.held_bytes(), 35);
        cache.left(30);
        cache.insert(0, 2_500);
        assert_eq!(
            (cache.leave(1_000), cache.leave(1_000)),
            (Some((0, 1_000)), Some((1_000, 1_000)))
        );
    }

    #[test]
    fn reads_that_follow_each_other_find_what_was_read_ahead() {
        let mut ahead = ReadAhead::new(1_000, 16);
        assert_eq!(ahead.read(0, 0, 100), (FoundAhead::Miss, None));
        let (found, wanted) = ahead.read(1, 100, 100);
        assert_eq!((found, wanted), (FoundAhead::Miss, Some((0, 200, 1_000))));
        assert_eq!(ahead.read(2, 200, 100).0, FoundAhead::Coming(0));
        ahead.come(0, 1_200);
        assert_eq!(ahead.read(3, 300, 100).0, FoundAhead::Hit);
        // Half of the read-ahead is used up: more is requested, after the present part.
        let (found, wanted) = ahead.read(4, 400, 400);
        assert_eq!((found, wanted), (FoundAhead::Hit, Some((0, 1_200, 600))));
        assert_eq!(ahead.read(5, 50_000, 100), (FoundAhead::Miss, None));
    }

    /// A stream with reads of 100 bytes that has reached 300, with 1,000 more read ahead.
    fn followed() -> ReadAhead {
        let mut ahead = ReadAhead::new(1_000, 16);
        for number in 0..3 {
            ahead.read(number, number * 100, 100);
        }
        ahead.come(0, 1_200);
        ahead
    }

    /// Memory already read is reused: a random read near a scan finds nothing there.
    #[test]
    fn what_was_read_or_never_asked_for_is_not_found_behind_a_stream() {
        for behind in [0, 100, 150, 200] {
            assert_eq!(followed().read(3, behind, 100).0, FoundAhead::Miss, "{behind}");
        }
        let mut later = ReadAhead::new(1_000, 16);
        for number in 0..3 {
            later.read(number, 1_000_000 + number * 100, 100);
        }
        later.come(0, 1_001_200);
        assert_eq!(later.read(3, 999_000, 100).0, FoundAhead::Miss, "before the stream began");
    }

    #[test]
    fn reads_that_overtake_each_other_find_what_was_read_ahead_once() {
        let mut ahead = followed();
        assert_eq!(ahead.read(3, 500, 100).0, FoundAhead::Hit);
        assert_eq!(ahead.read(4, 300, 100).0, FoundAhead::Hit);
        assert_eq!(ahead.read(5, 400, 100).0, FoundAhead::Hit);
        assert_eq!(ahead.read(6, 400, 100).0, FoundAhead::Miss, "it was handed over");
        assert_eq!(ahead.read(7, 600, 100).0, FoundAhead::Hit);
    }

    #[test]
    fn a_stream_that_is_silent_for_seconds_has_ended() {
        for (now, found) in [(5_000_000_002, FoundAhead::Hit), (5_000_000_003, FoundAhead::Miss)] {
            assert_eq!(followed().read(now, 300, 100).0, found, "{now}");
        }
    }

    #[test]
    fn random_reads_push_no_stream_out() {
        let mut ahead = ReadAhead::new(1_000, 16);
        ahead.read(0, 0, 100);
        ahead.read(1, 100, 100);
        ahead.come(0, 1_200);
        for number in 2..100 {
            ahead.read(number, (number + 50) * 1_000_000, 100);
        }
        assert_eq!(ahead.read(100, 200, 100).0, FoundAhead::Hit);
    }

    /// A scan that returns after some random reads is recognised only by a controller that
    /// remembers more reads than came between.
    #[test]
    fn few_streams_do_not_notice_a_slow_scan_among_random_reads() {
        let is_followed = |most_streams| {
            let mut ahead = ReadAhead::new(1_000, most_streams);
            let mut wanted = None;
            for round in 0..20 {
                wanted = ahead.read(round * 10, round * 100, 100).1;
                for random in 1..5 {
                    ahead.read(round * 10 + random, (round * 10 + random) * 1_000_000, 100);
                }
            }
            wanted.is_some() || ahead.read(200, 2_000, 100).0 == FoundAhead::Coming(0)
        };
        assert!(!is_followed(1) && is_followed(16));
    }

    /// A scan that jumps again and again leaves dead streams behind; they must not keep the next
    /// one out.
    #[test]
    fn streams_that_have_ended_give_way_to_new_ones() {
        let mut ahead = ReadAhead::new(1_000, 16);
        for begun in 0..40 {
            let (from, random) = (begun * 1_000_000_000, begun * 1_000_000_000 + 500_000_000);
            ahead.read(begun * 10, from, 100);
            ahead.read(begun * 10 + 1, random, 100);
            ahead.read(begun * 10 + 2, random + 1_000_000, 100);
            let (_, wanted) = ahead.read(begun * 10 + 3, from + 100, 100);
            assert!(wanted.is_some(), "scan {begun} is not read ahead of");
        }
    }

    #[test]
    fn random_reads_find_nothing_and_ask_for_nothing() {
        let mut ahead = ReadAhead::new(1_000, 16);
        for number in 0..100 {
            assert_eq!(
                ahead.read(number, number * 7_919 % 1_000 * 4_096, 100),
                (FoundAhead::Miss, None)
            );
        }
    }
}
