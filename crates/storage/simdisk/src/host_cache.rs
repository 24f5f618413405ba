//! A flash cache in the host, in front of an array. The policy is that of the cache on real flash
//! (`flashcache`), without the data; the flash is modelled as a flash drive.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use flashcache::{ClassCounters, RequestClass, ShadowCache, ShadowRead};
use units::{Bytes, Nanos, Seed};

use crate::array::{ArrayState, HostRequest, HostWork};
use crate::disk::{MediaRequest, VirtualMoment};
use crate::flash::Flash;
use crate::model::{ArrayModel, HostCacheMode, HostCacheParameters};
use crate::places::scattered;
use crate::slots::HostToken;

/// Activity of a cache so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostCacheCounters {
    /// Requests by class, in the order of [`RequestClass::ALL`].
    pub classes: [ClassCounters; 3],
    /// Bytes written to flash.
    pub flash_bytes_written: u64,
    /// Bytes that fit.
    pub capacity_bytes: u64,
    /// Bytes that are cached.
    pub cached_bytes: u64,
}

/// An array behind the optional cache of its host, with the interface of the array alone.
pub(crate) struct CachedArray {
    array: ArrayState,
    cache: Option<HostCache>,
}

struct HostCache {
    parameters: HostCacheParameters,
    policy: ShadowCache,
    flash: Flash,
    /// Requests outstanding at the array or at flash.
    under_way: BTreeMap<HostToken, CacheStep>,
    answers: BinaryHeap<Reverse<(VirtualMoment, u64, HostToken)>>,
    sequence: u64,
}

/// The cache's next step once the array has answered.
#[derive(Clone, Copy)]
enum CacheStep {
    Nothing,
    /// A read of this class that began at this time; `true` if its blocks are to be cached.
    Missed(HostRequest, RequestClass, VirtualMoment, bool),
    /// A write to the volume of this number.
    Written(HostRequest, u64),
}

impl CachedArray {
    pub(crate) fn new(model: &ArrayModel, seed: Seed) -> Self {
        Self { array: ArrayState::new(model, seed), cache: model.host_cache.map(HostCache::new) }
    }

    pub(crate) const fn capacity(&self) -> u64 {
        self.array.capacity()
    }

    /// The array behind the cache.
    pub(crate) const fn array(&self) -> &ArrayState {
        &self.array
    }

    /// The array behind the cache, to change its drives.
    pub(crate) const fn array_mut(&mut self) -> &mut ArrayState {
        &mut self.array
    }

    /// How full the array's memory for writes is, as a fraction; `None` if it keeps no writes
    /// there, or is not used.
    pub(crate) fn filled_memory(&self) -> Option<f64> {
        let is_used = self.cache.as_ref().is_none_or(|cache| !cache.is_storage());
        self.array.filled_memory().filter(|_| is_used)
    }

    /// Events so far.
    pub(crate) fn events(&self) -> u64 {
        self.array.handled + self.cache.as_ref().map_or(0, |cache| cache.sequence)
    }

    pub(crate) fn counters(&self) -> Option<HostCacheCounters> {
        self.cache.as_ref().map(HostCache::counters)
    }

    /// Caches the share of these bytes that a warm cache has from the start, if they contain `part`
    /// of all databases.
    pub(crate) fn warm(&mut self, bytes: Range<u64>, part: f64) {
        if let Some(cache) = &mut self.cache {
            cache.warm(bytes, part);
        }
    }

    /// Whether a write would survive a loss of power now, in full.
    pub(crate) fn spares(&self, write: HostToken) -> bool {
        match &self.cache {
            Some(cache) if cache.is_storage() => !cache.under_way.contains_key(&write),
            _ => self.array.spares(write),
        }
    }

    /// Takes a request that the host sends now to a volume of this number.
    pub(crate) fn submit(&mut self, now: VirtualMoment, volume: u64, request: HostRequest) {
        match &mut self.cache {
            None => self.array.submit(now, request),
            Some(cache) if cache.is_storage() => cache.store(now, request),
            Some(cache) => {
                if !cache.begin(now, volume, request) {
                    self.array.submit(now, request);
                }
            }
        }
    }

    /// Time of the next event.
    pub(crate) fn next_event(&self) -> Option<VirtualMoment> {
        let own = self.cache.as_ref().and_then(HostCache::next_answer);
        [own, self.array.next_event()].into_iter().flatten().min()
    }

    /// Processes every event that is due, and reports the requests that are answered.
    pub(crate) fn advance(&mut self, now: VirtualMoment, mut answered: impl FnMut(HostToken)) {
        let Some(cache) = &mut self.cache else {
            return self.array.advance(now, answered);
        };
        loop {
            let (own, of_array) = (cache.next_answer(), self.array.next_event());
            let Some(at) = [own, of_array].into_iter().flatten().min().filter(|at| *at <= now)
            else {
                return;
            };
            if of_array == Some(at) {
                self.array.advance(at, |token| cache.array_answered(at, token));
            } else if let Some(Reverse((_, _, token))) = cache.answers.pop() {
                cache.under_way.remove(&token);
                answered(token);
            }
        }
    }
}

impl HostCache {
    fn new(parameters: HostCacheParameters) -> Self {
        let HostCacheParameters { capacity, block, budget, flash, .. } = parameters;
        Self {
            parameters,
            policy: ShadowCache::new(Bytes(capacity), block, budget.map(Bytes)),
            flash: Flash::new(flash),
            under_way: BTreeMap::new(),
            answers: BinaryHeap::new(),
            sequence: 0,
        }
    }

    fn is_storage(&self) -> bool {
        self.parameters.mode == HostCacheMode::Storage
    }

    fn counters(&self) -> HostCacheCounters {
        HostCacheCounters {
            classes: RequestClass::ALL.map(|class| self.policy.class(class)),
            flash_bytes_written: self.policy.flash_bytes_written(),
            capacity_bytes: self.policy.capacity_blocks() * self.parameters.block,
            cached_bytes: self.policy.cached_blocks() * self.parameters.block,
        }
    }

    /// Caches blocks in scattered order, so that every part of the databases is equally cached.
    fn warm(&mut self, bytes: Range<u64>, part: f64) {
        let HostCacheParameters { block, warm_millionths, .. } = self.parameters;
        let wanted = self.policy.capacity_blocks() as f64 * warm_millionths as f64 / 1e6 * part;
        let blocks = bytes.start / block..bytes.end / block;
        let share = wanted / (blocks.end - blocks.start).max(1) as f64;
        for number in blocks {
            if (scattered(number) >> 11) as f64 / (1_u64 << 53) as f64 <= share {
                self.policy.warm(number);
            }
        }
    }

    fn next_answer(&self) -> Option<VirtualMoment> {
        self.answers.peek().map(|Reverse((at, ..))| *at)
    }

    fn answer(&mut self, at: VirtualMoment, token: HostToken) {
        self.sequence += 1;
        self.answers.push(Reverse((at + self.parameters.hop, self.sequence, token)));
    }

    /// Serves a request from flash alone.
    fn store(&mut self, now: VirtualMoment, request: HostRequest) {
        let HostRequest { token, work, offset, length } = request;
        let is_write = matches!(work, HostWork::Write(_));
        let at = if work == HostWork::Flush {
            self.flash.flush(now)
        } else {
            let media = MediaRequest { is_write, offset, length, ..MediaRequest::default() };
            self.flash.submit(now, &media).answered
        };
        let mirrored = if is_write { self.parameters.mirror } else { 0 };
        self.under_way.insert(token, CacheStep::Nothing);
        self.answer(at.max(now + mirrored), token);
    }

    /// Begins a request; `true` if flash answers it, and the array has nothing to do.
    fn begin(&mut self, now: VirtualMoment, volume: u64, request: HostRequest) -> bool {
        let HostRequest { token, work, offset, length } = request;
        let step = match work {
            HostWork::Flush => CacheStep::Nothing,
            HostWork::Write(_) => CacheStep::Written(request, volume),
            HostWork::Read => match self.policy.read(Nanos(now), volume, (offset, length)) {
                ShadowRead::Fill(class) => CacheStep::Missed(request, class, now, true),
                ShadowRead::Pass(class) => CacheStep::Missed(request, class, now, false),
                ShadowRead::Hit(class) => {
                    let media = MediaRequest { offset, length, ..MediaRequest::default() };
                    let at = self.flash.submit(now, &media).answered;
                    self.policy.took(class, true, Nanos(at + self.parameters.hop - now));
                    self.answer(at, token);
                    return true;
                }
            },
        };
        self.under_way.insert(token, step);
        false
    }

    /// Handles an answer of the array: caches the blocks, and answers the host.
    fn array_answered(&mut self, now: VirtualMoment, token: HostToken) {
        let step = self.under_way.insert(token, CacheStep::Nothing);
        let (written, offset) = match step {
            Some(CacheStep::Missed(of, class, begun, fills)) => {
                self.policy.took(class, false, Nanos(now + self.parameters.hop - begun));
                (if fills { self.policy.fill((of.offset, of.length)) } else { 0 }, of.offset)
            }
            Some(CacheStep::Written(of, volume)) => {
                (self.policy.written(Nanos(now), volume, (of.offset, of.length)), of.offset)
            }
            Some(CacheStep::Nothing) | None => (0, 0),
        };
        if written > 0 {
            let media =
                MediaRequest { is_write: true, offset, length: written, ..MediaRequest::default() };
            // No request waits for this write.
            self.flash.submit(now, &media);
        }
        self.answer(now, token);
    }
}

#[cfg(test)]
mod tests;
