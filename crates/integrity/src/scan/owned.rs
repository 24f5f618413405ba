//! Which pages a database owns: behind them, anything may lie.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use device::Device;
use ese::page::PageSize;
use ese::reader::{PageSource, ReadError, database_space};
use units::PageNumber;

use super::read_page;

/// Space trees are small; one that needs more pages is damaged.
const MOST_PAGES: usize = 10_000;

/// The pages read so far. A page that is not among them is asked for by failing.
struct Gathered {
    page_size: PageSize,
    page_count: u32,
    pages: HashMap<PageNumber, Arc<[u8]>>,
}

impl PageSource for Gathered {
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

/// The last page that the database in `device` owns; none where its space tree cannot be read.
pub(super) async fn last_owned_page(
    device: &Rc<dyn Device>,
    page_size: PageSize,
) -> Option<PageNumber> {
    let pages = page_size.pages_of_file(device.length());
    let mut gathered = Gathered {
        page_size,
        page_count: u32::try_from(pages).unwrap_or(u32::MAX),
        pages: HashMap::new(),
    };
    while gathered.pages.len() < MOST_PAGES {
        match database_space(&mut gathered) {
            Ok(space) => return Some(space.owned.last()),
            Err(ReadError::Source(page)) => {
                let bytes = read_page(device, page_size, page).await.ok()?;
                gathered.pages.insert(page, bytes.to_vec().into());
            }
            Err(_) => return None,
        }
    }
    None
}
