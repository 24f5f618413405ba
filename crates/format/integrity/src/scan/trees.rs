//! Page usage according to a database's trees: the last owned page, and the pages in use. The
//! contents of any other page are arbitrary.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use device::{Device, Purpose};
use ese::checksum::{PageVerdict, repair, verify};
use ese::page::{PageRef, PageSize};
use ese::page_set::PageSet;
use ese::reader::{PageSource, ReadError, Reader, database_space};
use units::PageNumber;

use super::read_page;

/// Space trees and the catalog are small; one that needs more pages is damaged.
const MOST_PAGES: usize = 10_000;

/// The pages read so far. A missing page is requested by failing.
struct Gathered {
    page_size: PageSize,
    page_count: u32,
    pages: HashMap<PageNumber, Arc<[u8]>>,
}

impl PageSource for &Gathered {
    type Error = PageNumber;

    fn page_size(&self) -> PageSize {
        self.page_size
    }

    fn page_count(&self) -> u32 {
        self.page_count
    }

    fn page(&mut self, number: PageNumber) -> Result<Arc<[u8]>, PageNumber> {
        self.pages.get(&number).cloned().ok_or(number)
    }
}

/// The last page that the database in `device` owns; `None` if its space tree cannot be read.
pub(super) async fn last_owned_page(
    device: &Rc<dyn Device>,
    page_size: PageSize,
) -> Option<PageNumber> {
    let space = gather(device, page_size, |mut pages| database_space(&mut pages)).await?;
    Some(space.owned.last())
}

/// The pages that the trees of the database in `device` consist of; `None` if a part of them cannot
/// be read.
pub(super) async fn pages_in_use(device: &Rc<dyn Device>, page_size: PageSize) -> Option<PageSet> {
    let walk = gather(device, page_size, |pages| Ok(Reader::open(pages)?.in_use_walk())).await;
    let mut walk = walk?;
    while let Some(page) = walk.wanted() {
        let bytes = read_sound(device, page_size, page).await?;
        let page = PageRef::new(&bytes);
        if page.is_uninitialised() {
            return None;
        }
        walk.look(page);
    }
    Some(walk.into_pages())
}

/// Repeats `ask`, loading each page that it lacks; `None` if one cannot be read.
async fn gather<T>(
    device: &Rc<dyn Device>,
    page_size: PageSize,
    ask: impl for<'a> Fn(&'a Gathered) -> Result<T, ReadError<PageNumber>>,
) -> Option<T> {
    let pages = page_size.pages_of_file(device.length());
    let mut gathered = Gathered {
        page_size,
        page_count: u32::try_from(pages).unwrap_or(u32::MAX),
        pages: HashMap::new(),
    };
    while gathered.pages.len() < MOST_PAGES {
        match ask(&gathered) {
            Ok(found) => return Some(found),
            Err(ReadError::Source(page)) => {
                let bytes = read_sound(device, page_size, page).await?;
                gathered.pages.insert(page, bytes);
            }
            Err(_) => return None,
        }
    }
    None
}

/// A page with a valid checksum, after correcting one bit if necessary.
async fn read_sound(
    device: &Rc<dyn Device>,
    size: PageSize,
    page: PageNumber,
) -> Option<Arc<[u8]>> {
    if !page.is_some() {
        return None;
    }
    let mut bytes = read_page(device, (size, Purpose::Checksum), page).await.ok()?.to_vec();
    let is_sound = match verify(&bytes, page) {
        PageVerdict::Good | PageVerdict::Uninitialised | PageVerdict::FlippedChecksum { .. } => {
            true
        }
        PageVerdict::Correctable { .. } => repair(&mut bytes, page).is_some(),
        PageVerdict::FlippedZero { .. }
        | PageVerdict::WrongPage { .. }
        | PageVerdict::Bad { .. } => false,
    };
    is_sound.then(|| bytes.into())
}
