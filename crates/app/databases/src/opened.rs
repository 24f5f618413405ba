//! A database opened for reading despite damage: unreadable parts are named and left out, and the
//! exit status reflects them at the end.

mod beyond;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ese::catalog::CatalogTable;
use ese::header::HeaderCopies;
use ese::page::PageSize;
use ese::reader::{Loss, LostPart, ReadDamage, ReadError, Reader};
use eselog::DeletedRows;
use host::dirty::Dirty;
use host::headers::{read_header, read_header_or_pages};
use host::pages::{ChangedPages, FilePages, PageError, unreadable};
use host::ranges::is_torn;
use host::scan::{FileFault, truncations};

use units::PageNumber;

use crate::check::{next_steps, steps_beside_export};
use crate::genuine_log::Overlay;
use console::Outcome;

use beyond::BeyondFile;
use console::error::CommandError;
use console::shell::shell_word;

/// Maximum losses of one kind to name; the rest are only counted.
const MOST_NAMED: u64 = 1_000;

/// How a database is read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading<'a> {
    /// Whether the pages of a temporary database are accepted, which carry no checksums.
    pub bare: bool,
    /// Folder of the logs: pages that they change are read as they leave them.
    pub logs: Option<&'a Path>,
    /// Whether rows that these logs delete are kept.
    pub deleted: bool,
    /// Whether all tables are exported, so that no step need advise it.
    pub exports_all: bool,
}

/// An open database.
pub(crate) struct OpenDatabase {
    pub(crate) reader: Reader<FilePages>,
    /// State of a database that was not closed, from its header.
    pub(crate) dirty: Option<Dirty>,
    /// Rows that its log deletes, if requested.
    pub(crate) deleted: Arc<DeletedRows>,
    path: PathBuf,
    is_damaged: bool,
    named: u64,
    beyond: BeyondFile,
}

impl OpenDatabase {
    /// Opens the database at `path` through its catalog, else through the catalog's copy, else
    /// through the remains of both. First reports a database that was not closed.
    pub(crate) fn open(path: &Path) -> Result<Self, CommandError> {
        Self::open_with(path, &Reading::default())
    }

    /// Opens a database to be read in this way.
    pub(crate) fn open_with(path: &Path, reading: &Reading<'_>) -> Result<Self, CommandError> {
        let found = read_header_or_pages(path)?;
        let overlay = match reading.logs {
            // Only a header says which logs belong to its database.
            Some(logs) => Some(Overlay::make(path, &read_header(path)?, logs, reading.deleted)?),
            None => None,
        };
        let mut opened = Self::open_behind(path, &found, reading, overlay.as_ref())?;
        if let Some(overlay) = overlay {
            opened.deleted = overlay.deleted;
        }
        Ok(opened)
    }

    fn open_behind(
        path: &Path,
        (page_size, header): &(PageSize, Option<HeaderCopies>),
        reading: &Reading<'_>,
        overlay: Option<&Overlay>,
    ) -> Result<Self, CommandError> {
        let header = header.as_ref();
        let is_whole = overlay.is_some_and(|overlay| !overlay.is_incomplete);
        let dirty = header.and_then(|copies| Dirty::of(path, &copies.header));
        let dirty = dirty.filter(|_| !is_whole);
        let cut = if overlay.is_none() { truncations(path, *page_size) } else { Vec::new() };
        let faults = [FileFault::of_header(header), cut].concat();
        let steps = if reading.exports_all {
            steps_beside_export(path, &faults)
        } else {
            next_steps(path, &faults, &[])
        };
        name_faults(path, &faults, dirty.as_ref(), &steps);
        let mut opened = Self::open_catalog(path, (*page_size, reading.bare), overlay, dirty)?;
        opened.is_damaged |= !faults.is_empty();
        Ok(opened)
    }

    /// Opens the database through the first of these that is readable: the catalog, its copy, the
    /// remains of both.
    fn open_catalog(
        path: &Path,
        (page_size, bare): (PageSize, bool),
        overlay: Option<&Overlay>,
        dirty: Option<Dirty>,
    ) -> Result<Self, CommandError> {
        let pages = pages_behind(path, (page_size, bare), overlay)?;
        let error = match Reader::open(pages) {
            Ok(reader) => return Ok(Self::new(reader, dirty, path, false)),
            Err(error) => error,
        };
        let shown = path.display();
        if let Ok(second) = Reader::open_shadow(pages_behind(path, (page_size, bare), overlay)?) {
            console::complain(&format!(
                "{shown}: the catalog is damaged ({error}): its copy, MSysObjectsShadow, is used"
            ));
            return Ok(Self::new(second, dirty, path, true));
        }
        let pages = pages_behind(path, (page_size, bare), overlay)?;
        let Ok((rest, losses)) = Reader::open_salvaged(pages) else {
            return Err(unreadable(path, error).into());
        };
        console::complain(&format!(
            "{shown}: both copies of the catalog are damaged: what is left of them is used, and \
             tables or columns may be missing"
        ));
        let mut opened = Self::new(rest, dirty, path, true);
        for loss in losses {
            opened.lose("the catalog", &loss);
        }
        Ok(opened)
    }

    fn new(reader: Reader<FilePages>, dirty: Option<Dirty>, path: &Path, is_damaged: bool) -> Self {
        let (path, beyond) = (path.to_path_buf(), BeyondFile::default());
        let deleted = Arc::default();
        Self { reader, dirty, deleted, path, is_damaged, named: 0, beyond }
    }

    /// The table with this name.
    pub(crate) fn table(&self, name: &str) -> Result<&CatalogTable, CommandError> {
        self.reader.table(name).ok_or_else(|| {
            let path = self.path.display();
            CommandError::new(format!(
                "{path}: has no table {name}; `plimsoll export {path}` lists the tables"
            ))
        })
    }

    /// Reports a lost part of `whose`.
    pub(crate) fn lose(&mut self, whose: &str, loss: &Loss) {
        let consequence = match loss.part {
            LostPart::Leaf if matches!(loss.error, ReadError::BeyondFile { .. }) => {
                String::from("rows there are skipped")
            }
            LostPart::Leaf => String::from("its rows are skipped"),
            LostPart::Branch { rescued: 0 } => {
                String::from("an internal page, and no rows below it were found")
            }
            LostPart::Branch { rescued } => {
                let were = if rescued == 1 { "was" } else { "were" };
                let pages = units::plural(rescued.into(), "page");
                format!("an internal page; {pages} with rows below it {were} found without it")
            }
            LostPart::SomeNodes => String::from("rows that look sound are kept"),
            LostPart::Node => String::from("skipped"),
        };
        self.damage(whose, &loss.error, &consequence);
    }

    /// Reports damage to a part of `whose`. If the database was not closed, missing data may still
    /// be in its log; a wrong checksum always counts as damage.
    pub(crate) fn damage(&mut self, whose: &str, error: &ReadDamage, consequence: &str) {
        let is_page = match error {
            ReadError::Lost { page, .. } => !self.is_torn(*page),
            ReadError::Page { .. } => true,
            _ => false,
        };
        self.is_damaged |= is_page || self.dirty.is_none();
        if let ReadError::BeyondFile { page } = error {
            self.beyond.note(whose, consequence, *page);
            return;
        }
        self.named += 1;
        let path = self.path.display();
        if self.named <= MOST_NAMED {
            console::complain(&format!("{path}: {whose}: {error}; {consequence}"));
        }
    }

    /// Whether a crash left the page half written.
    fn is_torn(&self, page: PageNumber) -> bool {
        let Some(dirty) = &self.dirty else {
            return false;
        };
        let pages = FilePages::open(&self.path, self.reader.page_size()).ok();
        let bytes = pages.and_then(|mut pages| pages.raw(page).ok());
        bytes.is_some_and(|bytes| is_torn(&bytes, page, dirty.dbtime))
    }

    /// Reports pages past the end of the file, grouped because a truncation removes many at once.
    fn name_beyond(&mut self) {
        for sentence in self.beyond.take_sentences() {
            self.named += 1;
            self.say(&sentence);
        }
    }

    /// Prints a warning about the database.
    pub(crate) fn say(&self, sentence: &str) {
        console::complain(&format!("{}: {sentence}", self.path.display()));
    }

    /// Reports pages read with a flipped bit corrected. Their content is intact, but the storage
    /// changed it.
    fn name_flips(&mut self) {
        for (page, flip) in self.reader.source().flips() {
            self.is_damaged = true;
            self.named += 1;
            if self.named <= MOST_NAMED {
                let path = self.path.display();
                console::complain(&format!("{path}: page {page}: {flip}; read as corrected"));
            }
        }
    }

    /// The exit status, once everything has been read.
    pub(crate) fn outcome(&mut self) -> Outcome {
        self.name_beyond();
        self.name_flips();
        if self.named > MOST_NAMED {
            let (path, more) = (self.path.display(), self.named - MOST_NAMED);
            console::complain(&format!("{path}: and {more} more; `plimsoll check` names pages"));
        }
        if self.is_damaged {
            Outcome::Fail
        } else if self.dirty.is_some() {
            Outcome::CannotJudge
        } else {
            Outcome::Pass
        }
    }

    /// An error that ends all reading.
    pub(crate) fn ends(&self, error: PageError) -> CommandError {
        unreadable(&self.path, ReadError::Source(error)).into()
    }
}

/// Reports the faults of a file as a whole, its state if it was not closed, and what to do about
/// them: `check` gives the same advice.
fn name_faults(path: &Path, faults: &[FileFault], dirty: Option<&Dirty>, steps: &[String]) {
    for fault in faults {
        console::complain(&format!("{}: {fault}", path.display()));
    }
    if let Some(dirty) = dirty {
        console::complain(&dirty.advice(path, &shell_word(path), faults));
    }
    for step in steps {
        console::complain(step);
    }
}

/// The pages of the file, with the changes of `overlay`.
fn pages_behind(
    path: &Path,
    (page_size, bare): (PageSize, bool),
    overlay: Option<&Overlay>,
) -> Result<FilePages, CommandError> {
    let pages = FilePages::open(path, page_size)?.without_checksums(bare);
    Ok(pages.behind(overlay.cloned().map(|of| Arc::new(of) as Arc<dyn ChangedPages>)))
}

impl Drop for OpenDatabase {
    fn drop(&mut self) {
        // An error has ended the reading before its outcome was requested.
        self.name_beyond();
    }
}
