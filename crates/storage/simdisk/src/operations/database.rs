//! Work in flight of one database beside its sessions: page writes in bursts, and the requests that
//! accompany its log.

use std::collections::VecDeque;

use units::Prng;

use super::log::LogState;
use super::{
    BesidePlace, ColdCache, OperationKind, OperationPace, OperationPlace, OperationProfile,
    Placement, RequestBeside, WriteShape,
};
use crate::disk::VirtualMoment;
use crate::file_system::Metadata;

/// One database.
pub(super) struct SimulatedDatabase<'a> {
    pub profile: &'a OperationProfile,
    pub place: OperationPlace,
    pub log_place: OperationPlace,
    pub pace: Option<OperationPace<'a>>,
    pub log: LogState,
    pub prng: Prng,
    pub metadata: Metadata,
    /// Answered reads and writes of the database.
    pub requests: u64,
    /// Sessions inside a batch.
    pub under_way: u32,
    /// Whether its sessions begin batches.
    pub is_running: bool,
    /// Sessions that wait for it to run.
    pub parked: Vec<u32>,
    /// Reads until its cache is warm.
    pub cold_left: u64,
    /// The next burst, and the reads since the previous one.
    burst: usize,
    reads: u32,
    /// The burst that the next log write brings.
    held: Option<usize>,
    /// Whether a log write has brought a read that no session has made yet.
    is_read_ahead: bool,
    writes_per_read: f64,
    /// Writes that have not begun.
    waiting_writes: VecDeque<WriteShape>,
    writes_in_flight: usize,
    /// Start of the last write.
    last_write: u64,
    /// Sessions that wait for room in the cache.
    pub stalled: Vec<u32>,
    /// Whether its scan waits for it to run.
    pub is_scan_parked: bool,
    /// Next position of the scan.
    pub scanned: u64,
    /// The log file that `beside` refers to, and its next request.
    beside: (u64, usize),
    chains: [RequestChain; RequestBeside::CHAINS],
    /// End of the last advance of the checkpoint.
    pub checkpoint_ended: VirtualMoment,
    /// Durable bytes of the log when it began.
    checkpoint_log: u64,
}

/// Requests that wait for each other, with their places.
#[derive(Default)]
struct RequestChain {
    waiting: VecDeque<(OperationPlace, RequestBeside)>,
    is_busy: bool,
}

impl<'a> SimulatedDatabase<'a> {
    /// A database that starts at a random burst of the profile.
    pub(super) fn new(
        profile: &'a OperationProfile,
        (place, log_place): (OperationPlace, OperationPlace),
        pace: Option<OperationPace<'a>>,
        (mut prng, metadata): (Prng, Metadata),
    ) -> Self {
        let bursts = profile.bursts.len() as u64;
        let burst = if bursts == 0 { 0 } else { prng.below(bursts) };
        let burst = usize::try_from(burst).expect("invariant: the number of a burst");
        Self {
            profile,
            place,
            log_place,
            pace,
            log: LogState::new(&profile.log),
            prng,
            metadata,
            requests: 0,
            under_way: 0,
            is_running: true,
            parked: Vec::new(),
            cold_left: 0,
            burst,
            reads: 0,
            held: None,
            is_read_ahead: false,
            writes_per_read: profile.writes_per_read(),
            waiting_writes: VecDeque::new(),
            writes_in_flight: 0,
            last_write: place.base,
            stalled: Vec::new(),
            is_scan_parked: false,
            scanned: 0,
            beside: (0, 0),
            chains: Default::default(),
            checkpoint_ended: 0,
            checkpoint_log: 0,
        }
    }

    /// Address of a request of `bytes` that follows one at `before`: a multiple of `grain` from the
    /// start of the database, with room for `bytes`.
    pub(super) fn placed(
        &mut self,
        placement: Placement,
        before: u64,
        (bytes, grain): (u64, u64),
    ) -> u64 {
        let places = (self.place.bytes.saturating_sub(bytes) / grain).max(1);
        let number = match placement {
            Placement::Anywhere => self.prng.below(places),
            Placement::Near(distance) => {
                let from = before.saturating_sub(self.place.base);
                from.saturating_add_signed(distance) / grain % places
            }
        };
        self.place.base + number * grain
    }

    /// Additional reads of a transaction with `reads` reads, as long as the cache is cold.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number of reads of one transaction"
    )]
    pub(super) fn cold_reads(&mut self, reads: u32) -> u32 {
        let ColdCache { pages, extra_reads } = self.profile.cold;
        if self.cold_left == 0 || reads == 0 {
            return 0;
        }
        let share = self.cold_left as f64 / pages.max(1) as f64;
        let thousandths = (extra_reads * share * f64::from(reads) * 1e3) as u64;
        let more = u64::from(self.prng.below(1_000) < thousandths % 1_000);
        u32::try_from(thousandths / 1_000 + more).unwrap_or(u32::MAX)
    }

    /// Records the start of a read, and makes the bursts due that come with it.
    pub(super) fn note_read(&mut self, profile: &OperationProfile) {
        self.reads = self.reads.saturating_add(1);
        self.release(profile, false);
    }

    /// Makes the burst due that precedes the log write about to begin.
    pub(super) fn note_log_write(&mut self, profile: &OperationProfile) {
        if let Some(burst) = self.held.take() {
            self.waiting_writes.extend(&profile.bursts[burst].writes);
        }
    }

    /// Whether a read begins right before this log write; it is one of those that no session waits
    /// for.
    pub(super) fn reads_ahead(&mut self, profile: &OperationProfile) -> bool {
        let of_million = profile.log.behind_reads_per_million;
        let is_ahead = !self.is_read_ahead && self.prng.below(1_000_000) < of_million;
        self.is_read_ahead |= is_ahead;
        is_ahead
    }

    /// Whether a read that no session waits for has already begun.
    pub(super) fn has_read_ahead(&mut self) -> bool {
        std::mem::take(&mut self.is_read_ahead)
    }

    /// Makes bursts due. A burst that was recorded without a read since the previous burst had
    /// waited for a write of that burst, and does so here too; `is_written` if a write has
    /// completed. One that precedes a log write is held until then, while those after it go on:
    /// waiting behind it, they would come all at once.
    fn release(&mut self, profile: &OperationProfile, mut is_written: bool) {
        // Bounded, since it may be that no burst needs a read.
        for _ in 0..profile.bursts.len() {
            let next = &profile.bursts[self.burst];
            let is_idle = self.writes_in_flight == 0 && self.waiting_writes.is_empty();
            let is_due = if next.is_before_log_write {
                self.held.is_none()
            } else {
                next.after_reads > 0 || is_written || is_idle
            };
            if self.reads < next.after_reads || !is_due {
                return;
            }
            self.reads -= next.after_reads;
            if next.is_before_log_write {
                self.held = Some(self.burst);
            } else {
                is_written &= next.after_reads > 0;
                self.waiting_writes.extend(&next.writes);
            }
            self.burst = (self.burst + 1) % profile.bursts.len();
        }
    }

    /// Place and length of the next write that may begin.
    pub(super) fn next_write(&mut self, profile: &OperationProfile) -> Option<(u64, u64)> {
        if self.writes_in_flight >= profile.writes_in_flight {
            return None;
        }
        let WriteShape { bytes, placement } = self.waiting_writes.pop_front()?;
        self.writes_in_flight += 1;
        self.last_write = self.placed(placement, self.last_write, (bytes, profile.read_bytes));
        Some((self.last_write, bytes))
    }

    /// Completes a write of the database.
    pub(super) fn write_done(&mut self, profile: &OperationProfile) {
        self.writes_in_flight -= 1;
        self.release(profile, true);
    }

    /// Whether further reads must wait because too many writes are queued.
    pub(super) fn is_behind(&self, profile: &OperationProfile) -> bool {
        // One that precedes a log write cannot be waited for: sessions that wait do not commit.
        let is_held = profile
            .bursts
            .get(self.burst)
            .is_some_and(|next| next.after_reads == 0 && !next.is_before_log_write);
        // Writes that came with the reads since then wait as well.
        let held = if is_held { f64::from(self.reads) * self.writes_per_read } else { 0.0 };
        self.waiting_writes.len() as f64 + held > profile.writes_behind as f64
    }

    /// The log has advanced: queues the accompanying requests.
    pub(super) fn log_went_on(&mut self, profile: &OperationProfile) {
        let (file, used) = self.log.place();
        let all = &profile.log.beside;
        if file != self.beside.0 {
            for request in &all[self.beside.1..] {
                self.queue(profile, *request);
            }
            self.beside = (file, 0);
        }
        while let Some(request) = all.get(self.beside.1).filter(|request| request.at <= used) {
            self.queue(profile, *request);
            self.beside.1 += 1;
        }
    }

    fn queue(&mut self, profile: &OperationProfile, request: RequestBeside) {
        let place = match request.place {
            BesidePlace::Header => self.place,
            BesidePlace::Log(from) => {
                let bytes = self.log_place.bytes;
                let from = i128::from(self.beside.0) * i128::from(profile.log.file_bytes)
                    + i128::from(from);
                let at = from.rem_euclid(i128::from(bytes));
                let at = u64::try_from(at).expect("invariant: below the bytes of the log");
                OperationPlace { base: self.log_place.base + at, ..self.log_place }
            }
        };
        self.chains[request.chain].waiting.push_back((place, request));
    }

    /// Queues the requests of an advance of the checkpoint, unless one is in progress or the log
    /// has grown by less than `least` bytes since the last.
    pub(super) fn advance_checkpoint(&mut self, profile: &OperationProfile, least: u64) {
        let chain = RequestBeside::CHECKPOINT_CHAIN;
        let durable = self.log.durable();
        let RequestChain { waiting, is_busy } = &self.chains[chain];
        if *is_busy || !waiting.is_empty() || durable - self.checkpoint_log < least {
            return;
        }
        self.checkpoint_log = durable;
        for &(kind, bytes) in &profile.log.checkpoint.requests {
            let is_flush = kind == OperationKind::Flush;
            let place = if is_flush { BesidePlace::Header } else { BesidePlace::Log(0) };
            self.queue(profile, RequestBeside { at: 0, chain, kind, bytes, place });
        }
    }

    /// The next request of a chain that may begin.
    pub(super) fn next_beside(&mut self, chain: usize) -> Option<(OperationPlace, RequestBeside)> {
        let chain = &mut self.chains[chain];
        if chain.is_busy {
            return None;
        }
        let next = chain.waiting.pop_front();
        chain.is_busy = next.is_some();
        next
    }

    /// Completes a request of a chain.
    pub(super) const fn beside_done(&mut self, chain: usize) {
        self.chains[chain].is_busy = false;
    }
}

#[cfg(test)]
mod tests {
    use units::{Prng, Seed};

    use super::SimulatedDatabase;
    use crate::description::ArrayDescription;
    use crate::file_system::Metadata;
    use crate::operations::{
        ColdCache, LogShape, OperationPlace, OperationProfile, Placement, WriteBurst, WriteShape,
    };

    const FLASH: &str = include_str!("../../../../../arrays/nvme.toml");
    const PAGE: u64 = 32 << 10;

    /// Bursts of two writes; the numbers are the reads before each.
    fn profile(after_reads: &[u32]) -> OperationProfile {
        let writes = vec![WriteShape { bytes: PAGE, placement: Placement::Anywhere }; 2];
        let burst = |&after_reads| WriteBurst {
            after_reads,
            writes: writes.clone(),
            ..WriteBurst::default()
        };
        OperationProfile {
            batches: Vec::new(),
            bursts: after_reads.iter().map(burst).collect(),
            read_bytes: PAGE,
            writes_in_flight: 32,
            writes_behind: 3,
            log: LogShape::default(),
            cold: ColdCache::default(),
        }
    }

    /// Number of writes that start now.
    fn begun(database: &mut SimulatedDatabase<'_>) -> usize {
        let profile = database.profile;
        std::iter::from_fn(|| database.next_write(profile)).count()
    }

    /// A database whose next burst is the first of the profile.
    fn database(profile: &OperationProfile) -> SimulatedDatabase<'_> {
        let array = ArrayDescription::parse("nvme", FLASH, &[]).expect("an array that ships");
        let place = OperationPlace { array: 0, base: 0, bytes: 1 << 30 };
        let metadata = Metadata::new(array.file_system, 1 << 40, Seed(1));
        let more = (Prng::new(Seed(1)), metadata);
        let mut database = SimulatedDatabase::new(profile, (place, place), None, more);
        database.burst = 0;
        database
    }

    #[test]
    fn a_log_write_brings_the_burst_that_precedes_it_and_no_other() {
        let mut profile = profile(&[1, 1, 1, 0]);
        for number in [1, 3] {
            profile.bursts[number].is_before_log_write = true;
        }
        let mut database = database(&profile);
        database.note_log_write(&profile);
        assert_eq!(begun(&mut database), 0, "the first comes with a read");
        database.note_read(&profile);
        database.note_read(&profile);
        assert_eq!(begun(&mut database), 2, "the second waits for a log write");
        database.write_done(&profile);
        assert_eq!(begun(&mut database), 0, "a write of the database does not bring it");
        database.note_read(&profile);
        assert_eq!(begun(&mut database), 2, "the third does not wait for the second");
        database.note_read(&profile);
        assert_eq!(begun(&mut database), 0, "the fourth waits until the second has come");
        assert!(!database.is_behind(&profile), "sessions must go on, or none would commit");
        database.note_log_write(&profile);
        assert_eq!(begun(&mut database), 2);
        database.note_read(&profile);
        assert_eq!(begun(&mut database), 2, "the first again, the fourth is held");
        database.note_log_write(&profile);
        assert_eq!(begun(&mut database), 2);
    }

    #[test]
    fn a_read_ahead_of_a_log_write_is_made_once() {
        let never = profile(&[1]);
        let mut without = database(&never);
        assert!(!without.reads_ahead(&never) && !without.has_read_ahead());
        let mut profile = never.clone();
        profile.log.behind_reads_per_million = 1_000_000;
        let mut database = database(&profile);
        assert!(database.reads_ahead(&profile));
        assert!(!database.reads_ahead(&profile), "until a session has made it");
        assert!(database.has_read_ahead() && !database.has_read_ahead());
        assert!(database.reads_ahead(&profile));
    }

    #[test]
    fn a_burst_without_reads_before_it_follows_a_write() {
        let profile = profile(&[1, 0, 0]);
        let mut database = database(&profile);
        database.note_read(&profile);
        assert_eq!(begun(&mut database), 2, "of the first burst alone");
        database.write_done(&profile);
        assert_eq!(begun(&mut database), 2, "of the burst that follows");
        for _ in 0..2 {
            database.note_read(&profile);
        }
        assert_eq!(begun(&mut database), 0, "reads do not bring the third one");
        assert!(database.is_behind(&profile), "12 writes are due for the reads");
        database.write_done(&profile);
        assert_eq!(begun(&mut database), 4, "the third, and the first for a read since");
    }
}
