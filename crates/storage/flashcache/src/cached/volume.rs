//! A folder of files behind the cache, each identified by its path.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use device::{Device, DeviceError, FileEntry, OpenMode, Pending, Volume};

use super::file::{CacheAttachment, CachedFile};
use super::{Cached, FlashCache};
use crate::policy::PoolShare;

/// See the module. Cheap to clone: clones are the same folder.
#[derive(Clone)]
pub struct CachedVolume {
    shared: Rc<CachedFolder>,
}

/// The stamp of a file by its name; see [`CachedVolume::stamped`].
type FileStamps = Rc<dyn Fn(&str) -> u64>;

struct CachedFolder {
    inner: Rc<dyn Volume>,
    cache: FlashCache,
    stamps: FileStamps,
    files: RefCell<BTreeMap<String, Rc<CachedFile>>>,
}

impl CachedVolume {
    /// Puts `cache` in front of the files of `inner`. Nothing else may write to them.
    pub fn new(inner: Rc<dyn Volume>, cache: &FlashCache) -> Self {
        Self::stamped(inner, cache, Rc::new(|_| 0))
    }

    /// Like [`Self::new`], for files that others may write to between sessions. Blocks of a file
    /// from an earlier session are used only if `stamps` has the same number for it as
    /// [`CacheStore::restamp`](crate::CacheStore::restamp) was given at the end of that session.
    pub fn stamped(
        inner: Rc<dyn Volume>,
        cache: &FlashCache,
        stamps: Rc<dyn Fn(&str) -> u64>,
    ) -> Self {
        let (cache, files) = (cache.clone(), RefCell::default());
        Self { shared: Rc::new(CachedFolder { inner, cache, stamps, files }) }
    }
}

impl CachedFolder {
    fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.inner.name())
    }

    /// State that the open devices of a file share.
    fn file(&self, file: &str) -> Rc<CachedFile> {
        let mut files = self.files.borrow_mut();
        let shared = files.entry(file.to_owned()).or_insert_with(|| {
            let stamp = (self.stamps)(file);
            CachedFile::new(&self.cache, self.path(file), stamp, PoolShare::default())
        });
        Rc::clone(shared)
    }

    /// Durably drops the cached blocks of the file of this name: from now on the name belongs to
    /// another file.
    async fn retire(&self, file: &str, then: CacheAttachment) {
        let open = self.files.borrow().get(file).cloned();
        if let Some(open) = open {
            open.retire(then).await;
        }
        if let Some(volume) = self.cache.store().find(&self.path(file)) {
            self.cache.store().release(volume).await;
        }
    }

    /// Makes files cacheable again if the rename or removal that they were retired for has failed.
    fn keeps_names<const N: usize>(&self, names: [&str; N]) {
        let files = self.files.borrow();
        for file in names.into_iter().filter_map(|name| files.get(name)) {
            file.attachment.set(CacheAttachment::Waiting);
        }
    }

    /// Moves the shared state of open devices from one name to another.
    fn renamed(&self, from: &str, to: &str) {
        let mut files = self.files.borrow_mut();
        files.remove(to);
        if let Some(file) = files.remove(from) {
            file.name.replace(self.path(to));
            file.attachment.set(CacheAttachment::Waiting);
            files.insert(to.to_owned(), file);
        }
    }
}

impl Volume for CachedVolume {
    fn open(&self, file: &str, mode: OpenMode) -> Pending<Rc<dyn Device>> {
        let (shared, file) = (Rc::clone(&self.shared), file.to_owned());
        Box::pin(async move {
            if mode.new_length().is_some() {
                shared.retire(&file, CacheAttachment::Waiting).await;
            }
            let inner = shared.inner.open(&file, mode).await?;
            Ok(Rc::new(Cached::of(inner, shared.file(&file))) as Rc<dyn Device>)
        })
    }

    fn rename(&self, from: &str, to: &str) -> Pending<()> {
        let (shared, from, to) = (Rc::clone(&self.shared), from.to_owned(), to.to_owned());
        Box::pin(async move {
            shared.retire(&from, CacheAttachment::Never).await;
            shared.retire(&to, CacheAttachment::Never).await;
            let renamed: Result<(), DeviceError> = shared.inner.rename(&from, &to).await;
            match &renamed {
                Ok(()) => shared.renamed(&from, &to),
                Err(_) => shared.keeps_names([&from, &to]),
            }
            renamed
        })
    }

    fn remove(&self, file: &str) -> Pending<()> {
        let (shared, file) = (Rc::clone(&self.shared), file.to_owned());
        Box::pin(async move {
            shared.retire(&file, CacheAttachment::Never).await;
            let removed = shared.inner.remove(&file).await;
            match &removed {
                Ok(()) => drop(shared.files.borrow_mut().remove(&file)),
                Err(_) => shared.keeps_names([&file]),
            }
            removed
        })
    }

    fn list(&self) -> Pending<Vec<FileEntry>> {
        self.shared.inner.list()
    }

    fn free_bytes(&self) -> Pending<u64> {
        self.shared.inner.free_bytes()
    }

    fn name(&self) -> &str {
        self.shared.inner.name()
    }
}
