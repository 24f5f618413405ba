//! Work in flight of one database beside its sessions: page writes in bursts, and the requests that
//! accompany its log.

use std::collections::VecDeque;

use units::Prng;

use super::log::LogState;
use super::{
    BesidePlace, ColdCache, OperationPace, OperationPlace, OperationProfile, Placement,
    RequestBeside, WriteShape,
};
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
    /// Reads and writes of the database that have been answered.
    pub requests: u64,
    /// Sessions inside a batch.
    pub under_way: u32,
    /// Whether its sessions begin batches.
    pub is_running: bool,
    /// Sessions that wait until it runs.
    pub parked: Vec<u32>,
    /// Reads until its cache is warm.
    pub cold_left: u64,
    /// The burst that comes next, and the reads until then.
    burst: usize,
    reads_left: u32,
    /// Writes that have not begun.
    waiting_writes: VecDeque<WriteShape>,
    writes_in_flight: usize,
    /// Start of the last write.
    last_write: u64,
    /// Sessions that wait for room in the cache.
    pub stalled: Vec<u32>,
    /// Whether its scan waits until it runs.
    pub is_scan_parked: bool,
    /// Next position of the scan.
    pub scanned: u64,
    /// The file that `beside` counts in, and the next request of it.
    beside: (u64, usize),
    chains: [RequestChain; RequestBeside::CHAINS],
}

/// Requests that wait for each other: where, and which.
#[derive(Default)]
struct RequestChain {
    waiting: VecDeque<(OperationPlace, RequestBeside)>,
    is_busy: bool,
}

impl<'a> SimulatedDatabase<'a> {
    /// A database whose bursts begin anywhere in those of the profile.
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
            reads_left: profile.bursts.get(burst).map_or(u32::MAX, |burst| burst.after_reads),
            waiting_writes: VecDeque::new(),
            writes_in_flight: 0,
            last_write: place.base,
            stalled: Vec::new(),
            is_scan_parked: false,
            scanned: 0,
            beside: (0, 0),
            chains: Default::default(),
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

    /// Additional reads of a transaction with this many, as long as the cache is cold.
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

    /// Notes that a read begins, and makes the bursts due that come with it.
    pub(super) fn note_read(&mut self, profile: &OperationProfile) {
        self.reads_left = self.reads_left.saturating_sub(1);
        // As many as there are at most, should none of them need a read.
        for _ in 0..profile.bursts.len() {
            if self.reads_left > 0 {
                return;
            }
            self.waiting_writes.extend(&profile.bursts[self.burst].writes);
            self.burst = (self.burst + 1) % profile.bursts.len();
            self.reads_left = profile.bursts[self.burst].after_reads;
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

    /// A write of the database is done.
    pub(super) const fn write_done(&mut self) {
        self.writes_in_flight -= 1;
    }

    /// Whether enough writes wait that reads find no room.
    pub(super) fn is_behind(&self, profile: &OperationProfile) -> bool {
        self.waiting_writes.len() > profile.writes_behind
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

    /// A request of a chain is done.
    pub(super) const fn beside_done(&mut self, chain: usize) {
        self.chains[chain].is_busy = false;
    }
}
