//! A database file, open for reading.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use ese::header::{HeaderCopies, PROBE_BYTES, read_copies};
use ese::reader::Reader;

use crate::damage::{Damage, OpenError};
use crate::file::{DatabasePages, Image};
use crate::header::Header;
use crate::space::{self, TreeSpace};
use crate::table::Table;
use crate::verification::Verification;

/// Source of the table definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatalogCopy {
    /// The catalog itself.
    First,
    /// Its copy, `MSysObjectsShadow`: the catalog is damaged.
    Second,
    /// The remains of both: tables or columns may be missing.
    Remains,
}

/// An open database.
pub struct Database {
    pub(crate) reader: Reader<DatabasePages>,
    copies: HeaderCopies,
    catalog: CatalogCopy,
    losses: Vec<Damage>,
    tables: Vec<Table>,
}

impl Database {
    /// Opens the file at `path` for reading. The file is not locked: if another process writes it,
    /// reads mix old and new pages.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let file = File::open(path);
        let file = file.map_err(|error| OpenError::of_io(path, error))?;
        Self::of_image(Box::new(file), path)
    }

    /// Opens a database from anything that can be read in any order, such as a file in memory.
    pub fn from_image(image: impl Read + Seek + Send + 'static) -> Result<Self, OpenError> {
        Self::of_image(Box::new(image), Path::new(""))
    }

    fn of_image(mut image: Box<dyn Image>, path: &Path) -> Result<Self, OpenError> {
        let start = beginning(&mut image).map_err(|error| OpenError::of_io(path, error))?;
        let copies = read_copies(&start).map_err(OpenError::of_header)?;
        let pages = DatabasePages::new(image, copies.page_size)
            .map_err(|error| OpenError::of_io(path, error))?;
        Self::with_catalog(pages, copies)
    }

    /// Uses the catalog; if that is damaged, its copy; if both are, their remains.
    fn with_catalog(mut pages: DatabasePages, copies: HeaderCopies) -> Result<Self, OpenError> {
        let is_first = Reader::open(&mut pages).is_ok();
        let is_second = !is_first && Reader::open_shadow(&mut pages).is_ok();
        let mut losses = Vec::new();
        let (reader, catalog) = if is_first {
            (Reader::open(pages), CatalogCopy::First)
        } else if is_second {
            (Reader::open_shadow(pages), CatalogCopy::Second)
        } else {
            let remains = Reader::open_salvaged(pages).map(|(reader, lost)| {
                losses = lost.iter().map(Damage::of_loss).collect();
                reader
            });
            (remains, CatalogCopy::Remains)
        };
        let reader = reader.map_err(|error| OpenError::Catalog(Damage::of_error(error)))?;
        let tables = reader.tables().iter().cloned().map(Table::new).collect();
        Ok(Self { reader, copies, catalog, losses, tables })
    }

    /// Its header.
    pub fn header(&self) -> Header {
        Header::of(&self.copies)
    }

    /// The copy of the catalog that the tables come from.
    pub const fn catalog_copy(&self) -> CatalogCopy {
        self.catalog
    }

    /// Lost parts of the catalog; empty unless both copies are damaged.
    pub fn catalog_losses(&self) -> &[Damage] {
        &self.losses
    }

    /// Its tables, in the order in which they were made; the engine's own come first.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// The table with this name.
    pub fn table(&self, name: &str) -> Option<Table> {
        self.tables.iter().find(|table| table.name() == name).cloned()
    }

    /// The space of the database and of every tree in it, with the parts that could not be read.
    pub fn space(&mut self) -> (Vec<TreeSpace>, Vec<Damage>) {
        space::of(&mut self.reader)
    }

    /// Checks that trees, links, keys, indexes, long values and space are consistent. Reads the
    /// whole database.
    pub fn verify(&mut self) -> Verification {
        Verification::of(self.reader.source(), &self.copies.header)
    }

    /// Pages read so far with a single flipped bit, now corrected: no data is lost, but the storage
    /// has altered them.
    pub fn corrected_pages(&mut self) -> Vec<u32> {
        self.reader.source().flips.keys().map(|page| page.0).collect()
    }
}

fn beginning(image: &mut dyn Image) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    image.seek(SeekFrom::Start(0))?;
    image.take(PROBE_BYTES as u64).read_to_end(&mut start)?;
    Ok(start)
}
