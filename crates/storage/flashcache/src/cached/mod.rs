//! The cache as a device in front of another one, and as a folder of such devices.

mod device;
mod file;
mod locks;
mod read;
mod trim;
mod volume;
mod write;

use std::cell::RefCell;
use std::rc::Rc;

use units::Bytes;

pub use self::device::Cached;
pub use volume::CachedVolume;

use crate::policy::{ClassCounters, PoolShare, RequestClass, WriteBudget};
use crate::store::CacheStore;

/// A store, its limit on wear, and its volumes' counters. Cheap to clone: clones are the same.
#[derive(Clone)]
pub struct FlashCache {
    inner: Rc<FlashCacheInner>,
}

struct FlashCacheInner {
    store: CacheStore,
    budget: RefCell<WriteBudget>,
    classes: RefCell<[ClassCounters; 3]>,
}

impl FlashCache {
    /// Caches volumes in `store`. Admissions write at most `budget` per second to flash; `None` for
    /// no limit.
    pub fn new(store: CacheStore, budget: Option<Bytes>) -> Self {
        Self {
            inner: Rc::new(FlashCacheInner {
                store,
                budget: RefCell::new(WriteBudget::new(budget)),
                classes: RefCell::default(),
            }),
        }
    }

    /// The store.
    pub fn store(&self) -> &CacheStore {
        &self.inner.store
    }

    /// Changes the bounds of the volume `name`, if it has blocks.
    pub async fn set_share(&self, name: &str, share: PoolShare) {
        let store = &self.inner.store;
        if let Some(volume) = store.find(name) {
            store.set_share(volume, share).await;
        }
    }

    /// Durably stores the state stamp of the volume `name`: [`Cached::new`] keeps its blocks only
    /// if it is given the same stamp.
    pub async fn set_stamp(&self, name: &str, stamp: u64) {
        let store = &self.inner.store;
        if let Some(volume) = store.find(name) {
            store.set_stamp(volume, stamp).await;
        }
    }

    /// Drops the blocks of the volume `name`, and the name; `false` if it has none.
    pub async fn forget(&self, name: &str) -> bool {
        let store = &self.inner.store;
        let Some(volume) = store.find(name) else {
            return false;
        };
        store.release(volume).await;
        true
    }

    /// Counters of the requests of a class.
    pub fn class(&self, class: RequestClass) -> ClassCounters {
        self.inner.classes.borrow()[class as usize]
    }

    fn count(&self, class: RequestClass, count: impl FnOnce(&mut ClassCounters)) {
        count(&mut self.inner.classes.borrow_mut()[class as usize]);
    }

    /// Takes `bytes` out of the budget, if it has them.
    fn may_write(&self, bytes: u64) -> bool {
        let now = self.inner.store.runtime().now();
        self.inner.budget.borrow_mut().take(now, bytes)
    }
}
