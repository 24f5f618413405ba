//! Checks of a whole file: every page like `check`, every tree like `verify`.

use ese::flush_map::{FlushMap, FlushVerdict, LastWrite};
use ese::header::{HeaderCopies, PROBE_BYTES, read_copies};
use ese::page::{PageRef, PageSize};
use ese::page_state::{PageState, judge};
use ese::reader::FileImage;
use ese::verify::{Report, verify};
use units::PageNumber;

/// Checks both headers and every initialised page of a database file; returns the header and the
/// number of initialised pages, or the first error.
pub(crate) fn all_good(file: &device::FileImage) -> Result<(HeaderCopies, usize), String> {
    let mut probe = vec![0; PROBE_BYTES];
    let length = file.read(0, &mut probe);
    let copies = read_copies(&probe[..length]).map_err(|error| error.to_string())?;
    if !copies.copies_agree {
        return Err("the two copies of the header differ".to_owned());
    }
    let size = copies.page_size;
    if !file.length().is_multiple_of(size.bytes_u64()) {
        return Err(format!("{} bytes are no whole pages", file.length()));
    }
    let mut initialised = 0;
    each_page(file, size, |number, page| {
        if let Some(page) = page {
            initialised += usize::from(is_initialised_and_good(page, number)?);
        }
        Ok(())
    })?;
    Ok((copies, initialised))
}

/// Passes every page to a function, with `None` for a hole, until one is rejected. Holes are not
/// read: most of a young file is a hole.
fn each_page(
    file: &device::FileImage,
    size: PageSize,
    mut show: impl FnMut(PageNumber, Option<&[u8]>) -> Result<(), String>,
) -> Result<(), String> {
    let mut bytes = vec![0; size.bytes()];
    for number in (1..).map(PageNumber) {
        let offset = size.file_offset(number);
        if offset >= file.length() {
            break;
        }
        if file.is_hole(offset, size.bytes()) {
            show(number, None)?;
        } else {
            file.read(offset, &mut bytes);
            show(number, Some(&bytes))?;
        }
    }
    Ok(())
}

/// `false` for a page of zeros; an error for any other page that is not good.
fn is_initialised_and_good(bytes: &[u8], number: PageNumber) -> Result<bool, String> {
    match judge(bytes, number, LastWrite::Unknown) {
        PageState::Sound => Ok(true),
        PageState::Unwritten => Ok(false),
        PageState::Damaged(damage) => Err(format!("page {number}: {damage}")),
    }
}

/// Checks every page of a closed database file against the flush map next to it; returns how many
/// pages the map knows. The map must be marked as trustworthy.
pub(crate) fn flush_map_agrees(
    file: &device::FileImage,
    copies: &HeaderCopies,
    map: &[u8],
) -> Result<usize, String> {
    let map = FlushMap::believed(map, &copies.header).map_err(|refusal| refusal.to_string())?;
    let (mut known, zeros) = (0, vec![0; copies.page_size.bytes()]);
    each_page(file, copies.page_size, |number, page| {
        let page = PageRef::new(page.unwrap_or(&zeros));
        match map.last_write(number).judge(page) {
            FlushVerdict::Agrees => known += 1,
            FlushVerdict::Unknown => {}
            lost @ FlushVerdict::LostWrite { .. } => {
                return Err(format!("page {number}: {lost:?}"));
            }
        }
        Ok(())
    })?;
    Ok(known)
}

/// Examines the structure of a database file as a whole: trees, space, indexes, long values.
/// Deleted rows must be gone, as after a clean shutdown.
pub(crate) fn examine(bytes: &[u8]) -> Result<Report, String> {
    let copies = read_copies(bytes).map_err(|error| error.to_string())?;
    let Ok(report) = verify(FileImage::new(bytes, copies.page_size), &copies.header);
    if !report.is_clean() {
        let findings: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
        return Err(findings.join("\n"));
    }
    if report.pages_leaked > 0 {
        return Err(format!("pages are leaked: {:?}", report.leaked));
    }
    if !report.notices.is_empty() {
        return Err(format!("{:?}", report.notices));
    }
    if report.awaiting_cleanup > 0 {
        return Err(format!("{} deleted things are left", report.awaiting_cleanup));
    }
    Ok(report)
}
