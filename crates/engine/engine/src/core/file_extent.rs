//! The length of the database file, and its growth.

use std::cell::Cell;
use std::rc::Rc;

use device::{Device, DeviceError, Notify, Purpose, Request};
use ese::page::PageSize;
use units::{Bytes, PageNumber};

/// The extent of the database file.
pub(crate) struct FileExtent {
    device: Rc<dyn Device>,
    page_size: PageSize,
    last_page: Cell<PageNumber>,
    extending: Cell<bool>,
    extended: Notify,
}

impl FileExtent {
    /// The present extent of the open file `device`.
    pub(super) fn new(device: Rc<dyn Device>, page_size: PageSize) -> Self {
        let pages = page_size.pages_of_file(device.length());
        Self {
            device,
            page_size,
            last_page: Cell::new(PageNumber(u32::try_from(pages).unwrap_or(u32::MAX))),
            extending: Cell::new(false),
            extended: Notify::default(),
        }
    }

    /// The file's name.
    pub(crate) fn name(&self) -> &str {
        self.device.name()
    }

    /// The file's length, header pages included.
    pub(crate) fn length(&self) -> Bytes {
        Bytes(self.device.length())
    }

    /// Number of pages the file has room for.
    pub(crate) fn pages(&self) -> u64 {
        self.page_size.pages_of_file(self.device.length())
    }

    /// The last page that the database may use.
    pub(crate) fn last_page(&self) -> PageNumber {
        self.last_page.get()
    }

    /// Extends the file to include page `last`. One task extends, others wait for it. Returns the
    /// new length if the file has grown: the log must name it before any of the new pages.
    pub(super) async fn extend(&self, last: PageNumber) -> Result<Option<Bytes>, DeviceError> {
        self.extended.wait_until(|| !self.extending.get()).await;
        if self.last_page.get() >= last {
            return Ok(None);
        }
        self.extending.set(true);
        let result = self.set_length(last).await;
        self.extending.set(false);
        self.extended.notify_all();
        result.map(Some)
    }

    /// Releases the file's space after page `last`, the last one that the database owns.
    pub(super) async fn trim(&self, last: PageNumber) -> Result<(), DeviceError> {
        if last < self.last_page.get() {
            self.set_length(last).await?;
        }
        Ok(())
    }

    /// Makes the file end after page `last`, and returns its length.
    async fn set_length(&self, last: PageNumber) -> Result<Bytes, DeviceError> {
        let length = self.page_size.file_length(last);
        let request = Request::set_length(Purpose::Database, length);
        self.device.submit(request).await.result?;
        self.last_page.set(last);
        Ok(Bytes(length))
    }
}
