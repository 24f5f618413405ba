//! Reads a dirty database as if its logs had been replayed, without a copy: changed pages are in an
//! unnamed scratch file.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ese::header::HeaderCopies;
use ese::page::PageSize;
use eselog::DeletedRows;
use host::pages::ChangedPages;
use host::target::ByteSource;
use units::PageNumber;

use super::replay::{GenerationChain, ReplayExtras};
use super::scratch::unnamed;
use super::store::OverlayStore;
use console::error::CommandError;
use console::term::ProgressLine;

/// Pages that a replay has changed, and the last page of the underlying file.
#[derive(Clone)]
pub(crate) struct Overlay {
    scratch: Arc<Mutex<File>>,
    places: Arc<HashMap<PageNumber, u64>>,
    size: PageSize,
    pages: u32,
    /// `true` if the log could not be replayed completely.
    pub(crate) is_incomplete: bool,
    /// Rows that the log deletes, if requested.
    pub(crate) deleted: Arc<DeletedRows>,
}

impl Overlay {
    /// Replays the logs in `folder` onto an overlay of the database at `path`; prints every loss.
    pub(crate) fn make(
        path: &Path,
        copies: &HeaderCopies,
        folder: &Path,
        deleted_rows: bool,
    ) -> Result<Self, CommandError> {
        let chain = GenerationChain::find(folder, &copies.header)?;
        let wrong = CommandError::of_file(path, "read");
        let source = ByteSource::open(path).map_err(wrong)?;
        let store = OverlayStore::new(source, unnamed()?, copies.page_size).map_err(wrong)?;
        let mut progress = ProgressLine::new("replaying the log", true);
        let wanted = ReplayExtras { undo: true, deleted_rows };
        let mut replayed = chain.replay(store, &copies.header, wanted, &mut progress)?;
        progress.clear();
        let deleted = replayed.summary.deleted.take().unwrap_or_default();
        if deleted.left_out > 0 {
            console::complain(&format!(
                "{}: {} deleted rows of the log did not fit into memory and are left out",
                path.display(),
                deleted.left_out
            ));
        }
        for loss in &replayed.losses {
            console::complain(&format!("{}: {loss}", path.display()));
        }
        for (page, behind) in &replayed.summary.behind {
            console::complain(&format!(
                "{}: page {page} stays behind: {}",
                path.display(),
                behind.cause
            ));
        }
        let is_incomplete = !replayed.losses.is_empty() || !replayed.summary.behind.is_empty();
        let last = eselog::PageStore::last_page(&replayed.store);
        Ok(Self {
            scratch: Arc::new(Mutex::new(replayed.store.scratch)),
            places: Arc::new(replayed.store.places),
            size: copies.page_size,
            pages: last.0,
            is_incomplete,
            deleted: Arc::new(deleted),
        })
    }
}

impl ChangedPages for Overlay {
    fn pages(&self) -> u32 {
        self.pages
    }

    fn page(&self, number: PageNumber) -> Option<io::Result<Vec<u8>>> {
        let place = *self.places.get(&number)?;
        let mut file = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = vec![0; self.size.bytes()];
        let read = file
            .seek(SeekFrom::Start(place * self.size.bytes_u64()))
            .and_then(|_| file.read_exact(&mut bytes));
        Some(read.map(|()| bytes))
    }
}
