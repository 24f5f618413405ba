//! The storage of a volume behind the cache: its holes, and the return of trimmed bytes.

use std::ops::Range;

use device::Pending;
use device_os::SparseFile;
use export::{Extent, Provisioned};
use flashcache::Cached;

/// See the module.
pub(super) struct StorageBehind {
    pub(crate) cached: Cached,
    /// `None` if the volume is on another machine, which keeps its storage allocated.
    pub file: Option<SparseFile>,
}

impl Provisioned for StorageBehind {
    fn trim(&self, bytes: Range<u64>) -> Pending<()> {
        let (cached, file) = (self.cached.clone(), self.file.clone());
        Box::pin(async move {
            let back = bytes.clone();
            let give_back = async move {
                match file {
                    Some(file) => file.punch(back).await.map(drop),
                    None => Ok(()),
                }
            };
            cached.trim(bytes, give_back).await
        })
    }

    fn extents(&self, bytes: Range<u64>) -> Pending<Vec<Extent>> {
        let file = self.file.clone();
        Box::pin(async move {
            let Some(file) = file else {
                return Ok(Vec::new());
            };
            let found = file.extents(bytes).await?;
            let described = found.iter();
            let described =
                described.map(|part| Extent { bytes: part.bytes, is_hole: part.is_hole });
            Ok(described.collect())
        })
    }
}
