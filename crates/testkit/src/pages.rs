//! Checks of every page of a whole file, as an operator's `check` makes them.

use ese::checksum::{self, PageVerdict};
use ese::header::{HeaderCopies, read_copies};
use ese::page::PageRef;
use ese::page_check;
use units::PageNumber;

/// Panics unless both headers and every initialised page of a database file are good; gives back
/// the header and the number of initialised pages.
pub fn assert_all_good(bytes: &[u8]) -> (HeaderCopies, usize) {
    let copies = read_copies(bytes).expect("the headers are good");
    assert!(
        copies.copies_agree,
        "both copies of the header are the same"
    );
    let size = copies.page_size.bytes();
    assert!(bytes.len().is_multiple_of(size), "a whole number of pages");
    let mut initialised = 0;
    for (number, bytes) in (1..).map(PageNumber).zip(bytes.chunks(size).skip(2)) {
        let page = PageRef::new(bytes);
        if page.is_uninitialised() {
            continue;
        }
        initialised += 1;
        assert_eq!(
            checksum::verify(bytes, number),
            PageVerdict::Good,
            "page {number}"
        );
        assert_eq!(page_check::check(page, number), Ok(()), "page {number}");
    }
    (copies, initialised)
}
