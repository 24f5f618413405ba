//! State shared by all open devices of one file: attachment, locks, request classifier, counters.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use device::{Device, Purpose, Request};
use units::Nanos;

use super::FlashCache;
use super::locks::{ClaimMode, RangeLocks};
use crate::policy::{ClassCounters, Classifier, IoDirection, PoolShare, RequestClass};

/// Whether the store has a number for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CacheAttachment {
    /// It gets its number with the first block that is worth caching.
    Waiting,
    /// Its number.
    Attached(u16),
    /// It is not cached: it has no name any more, or the store has no number for it.
    Never,
}

/// See the module.
pub(super) struct CachedFile {
    pub cache: FlashCache,
    pub name: RefCell<String>,
    pub stamp: u64,
    pub share: PoolShare,
    pub attachment: Cell<CacheAttachment>,
    pub locks: Rc<RangeLocks>,
    pub classifier: RefCell<Classifier>,
    /// `true` once something was written through this cache without the store's knowledge.
    pub wrote_unseen: Cell<bool>,
    /// Counters of this file's requests; the cache counts those of all files.
    pub classes: RefCell<[ClassCounters; 3]>,
}

impl CachedFile {
    pub(super) fn new(cache: &FlashCache, name: String, stamp: u64, share: PoolShare) -> Rc<Self> {
        Rc::new(Self {
            cache: cache.clone(),
            name: RefCell::new(name),
            stamp,
            share,
            attachment: Cell::new(CacheAttachment::Waiting),
            locks: Rc::default(),
            classifier: RefCell::default(),
            wrote_unseen: Cell::new(false),
            classes: RefCell::default(),
        })
    }

    /// Counts a write of `bytes`.
    pub(super) fn count_write(&self, class: RequestClass, bytes: u64) {
        self.cache.count(class, |counters| counters.count(IoDirection::Write, bytes));
        self.classes.borrow_mut()[class as usize].count(IoDirection::Write, bytes);
    }

    /// Counts a read of `bytes` that took `time`; `is_hit` if the cache answered it.
    pub(super) fn count_read(
        &self,
        class: RequestClass,
        bytes: u64,
        (is_hit, time): (bool, Nanos),
    ) {
        let mut own = self.classes.borrow_mut();
        self.cache.count(class, |counters| counters.count_read(bytes, is_hit, time));
        own[class as usize].count_read(bytes, is_hit, time);
    }

    pub(super) fn volume(&self) -> Option<u16> {
        match self.attachment.get() {
            CacheAttachment::Attached(volume) => Some(volume),
            CacheAttachment::Waiting | CacheAttachment::Never => None,
        }
    }

    pub(super) fn block_bytes(&self) -> u64 {
        u64::from(self.cache.store().block_bytes())
    }

    /// Assigns the file its number, unless it has one or cannot get one. Earlier writes are made
    /// durable first: after a crash, the store would not know that they may be lost.
    pub(super) async fn attach(&self, inner: &Rc<dyn Device>) {
        if self.attachment.get() != CacheAttachment::Waiting {
            return;
        }
        let _all = self.locks.claim(0..u64::MAX, ClaimMode::Update).await;
        if self.attachment.get() != CacheAttachment::Waiting {
            return;
        }
        if self.wrote_unseen.get() {
            if inner.submit(Request::flush(Purpose::Database)).await.result.is_err() {
                return; // Read-only or failing: a later request tries again.
            }
            self.wrote_unseen.set(false);
        }
        let blocks = inner.length() / self.block_bytes();
        let name = self.name.borrow().clone();
        let store = self.cache.store();
        let volume = match u32::try_from(blocks) {
            Ok(_) => store.attach(&name, inner.length(), self.stamp, self.share).await,
            Err(_) => None,
        };
        self.attachment.set(volume.map_or(CacheAttachment::Never, CacheAttachment::Attached));
    }

    /// Drops the file's cached blocks and leaves it in the state `then`.
    pub(super) async fn retire(&self, then: CacheAttachment) {
        let _all = self.locks.claim(0..u64::MAX, ClaimMode::Update).await;
        if let Some(volume) = self.volume() {
            self.cache.store().release(volume).await;
            self.wrote_unseen.set(true);
        }
        self.attachment.set(then);
    }
}
