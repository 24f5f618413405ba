//! Checks of a whole file: every page as `check` makes them, every tree as `verify` does.

use ese::checksum::{self, PageVerdict};
use ese::header::{HeaderCopies, read_copies};
use ese::page::PageRef;
use ese::page_check;
use ese::reader::FileImage;
use ese::verify::{Report, verify};
use units::PageNumber;

/// Checks both headers and every initialised page of a database file; gives back the header and
/// the number of initialised pages, or the first thing that is wrong.
pub fn all_good(bytes: &[u8]) -> Result<(HeaderCopies, usize), String> {
    let copies = read_copies(bytes).map_err(|error| error.to_string())?;
    if !copies.copies_agree {
        return Err("the two copies of the header differ".to_owned());
    }
    let size = copies.page_size.bytes();
    if !bytes.len().is_multiple_of(size) {
        return Err(format!("{} bytes are no whole pages", bytes.len()));
    }
    let mut initialised = 0;
    for (number, bytes) in (1..).map(PageNumber).zip(bytes.chunks(size).skip(2)) {
        let page = PageRef::new(bytes);
        if page.is_uninitialised() {
            continue;
        }
        initialised += 1;
        let verdict = checksum::verify(bytes, number);
        if verdict != PageVerdict::Good {
            return Err(format!("page {number}: {verdict:?}"));
        }
        page_check::check(page, number).map_err(|fault| format!("page {number}: {fault}"))?;
    }
    Ok((copies, initialised))
}

/// Examines the structure of a database file as a whole: trees, space, indexes, long values.
/// Everything that was deleted must be gone, as it is after a clean shutdown.
pub fn examine(bytes: &[u8]) -> Result<Report, String> {
    let copies = read_copies(bytes).map_err(|error| error.to_string())?;
    let Ok(report) = verify(FileImage::new(bytes, copies.page_size));
    if !report.is_clean() {
        let findings: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
        return Err(findings.join("\n"));
    }
    if report.awaiting_cleanup > 0 {
        return Err(format!(
            "{} deleted things are left",
            report.awaiting_cleanup
        ));
    }
    Ok(report)
}
