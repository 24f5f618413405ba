//! Measures how much of a database is in use, from its own space trees, because the file grows in
//! steps too coarse to show it.

use std::convert::Infallible;
use std::sync::Arc;

use device::{FileImage, MemoryVolume};
use ese::page::PageSize;
use ese::reader::{PageSource, Reader, TreeKind};
use plan::Plan;
use units::PageNumber;
use xtask::failure::Failure;

/// Bytes of the pages in use by the tables' trees.
pub(super) fn used_bytes(volume: &MemoryVolume, plan: &Plan) -> Result<f64, Failure> {
    let file = &plan.databases[0].file;
    let image = volume.image();
    let image = image.files.get(file);
    let image = image.ok_or_else(|| Failure::new(format!("{file} is not there")))?;
    let unreadable = |error: &dyn std::fmt::Debug| Failure::new(format!("{file}: {error:?}"));
    let size = PageSize::KIB_32;
    let mut reader =
        Reader::open(GrowthRows { image, size }).map_err(|error| unreadable(&error))?;
    let report = reader.space_report().map_err(|error| unreadable(&error))?;
    let mut pages = 0.0;
    for tree in &report {
        if tree.kind == TreeKind::Table {
            pages += tree.owned.pages() as f64; // Those of its indexes and long values included.
        }
        if tree.kind != TreeKind::Database {
            pages -= tree.available.pages() as f64;
        }
    }
    Ok(pages * size.bytes() as f64)
}

struct GrowthRows<'a> {
    image: &'a FileImage,
    size: PageSize,
}

impl PageSource for GrowthRows<'_> {
    type Error = Infallible;

    fn page_size(&self) -> PageSize {
        self.size
    }

    fn page_count(&self) -> u32 {
        let pages = self.size.pages_of_file(self.image.length());
        u32::try_from(pages).unwrap_or(u32::MAX)
    }

    fn page(&mut self, number: PageNumber) -> Result<Arc<[u8]>, Infallible> {
        let mut page = vec![0; self.size.bytes()];
        self.image.read(self.size.file_offset(number), &mut page);
        Ok(page.into())
    }
}
