//! Headers of database files: both copies of one, or the pages by which a file without one is
//! recognised.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use ese::checksum::{PageVerdict, verify};
use ese::header::{HeaderCopies, HeaderError, PROBE_BYTES, read_copies};
use ese::page::PageSize;
use units::PageNumber;

use crate::error::HostError;
use crate::target::ByteSource;

/// How many pages are tried to recognise a database whose header is lost.
const TRIED_PAGES: u32 = 16;

/// The contents of the two copies of a database's header.
pub fn read_header(path: &Path) -> Result<HeaderCopies, HostError> {
    let start = read_start(path)?;
    read_copies(&start).map_err(|error| refused(path, &start, error))
}

/// The page size of a database and its header; without the header if both copies are lost, since
/// its pages can still be read. An error if the file is no database.
pub fn read_header_or_pages(path: &Path) -> Result<(PageSize, Option<HeaderCopies>), HostError> {
    header_or_pages(path, &read_start(path)?)
}

/// The same for a file that begins with `start`.
pub fn header_or_pages(
    path: &Path,
    start: &[u8],
) -> Result<(PageSize, Option<HeaderCopies>), HostError> {
    match read_copies(start) {
        Ok(copies) => Ok((copies.page_size, Some(copies))),
        Err(error) => match without_header(path, error) {
            Some(page_size) => Ok((page_size, None)),
            None => Err(refused(path, start, error)),
        },
    }
}

/// The error for a file that begins with `start` and is no database.
fn refused(path: &Path, start: &[u8], error: HeaderError) -> HostError {
    let path = path.display();
    HostError::new(if start.is_empty() {
        format!("{path}: the file is empty; restore it from a copy, or prepare it anew")
    } else {
        format!("{path}: {error}")
    })
}

fn read_start(path: &Path) -> Result<Vec<u8>, HostError> {
    let mut start = Vec::new();
    ByteSource::open(path)
        .and_then(|file| file.take(PROBE_BYTES as u64).read_to_end(&mut start))
        .map_err(|error| HostError::file(path, "read", &error))?;
    Ok(start)
}

/// The page size of a file whose header is lost, guessed from its pages; `None` if they are not ESE
/// pages, or if the file ends before its first page: nothing can be judged then.
fn without_header(path: &Path, error: HeaderError) -> Option<PageSize> {
    let is_foreign = matches!(error, HeaderError::NotADatabase { .. });
    PageSize::ALL
        .into_iter()
        .find(|size| !is_foreign && shift(path, *size).is_ok_and(|shift| shift.is_some()))
}

/// Returns by how many pages the first pages of a file are displaced towards its start; `None` if
/// they disagree or there are none.
pub(crate) fn shift(path: &Path, size: PageSize) -> io::Result<Option<u32>> {
    let mut file = ByteSource::open(path)?;
    file.seek(SeekFrom::Start(size.file_offset(PageNumber(1))))?;
    let mut page = vec![0; size.bytes()];
    let (mut found, mut agree) = (None, 0);
    for number in 1..=TRIED_PAGES {
        if file.read_exact(&mut page).is_err() {
            break; // The file ends here.
        }
        let really = match verify(&page, PageNumber(number)) {
            PageVerdict::Good => number,
            PageVerdict::WrongPage { really } => really.0,
            _ => continue,
        };
        let Some(shift) = really.checked_sub(number) else {
            return Ok(None);
        };
        if found.is_some_and(|found| found != shift) {
            return Ok(None);
        }
        (found, agree) = (Some(shift), agree + 1);
    }
    // One or two pages may be misdirected writes.
    Ok(found.filter(|shift| *shift == 0 || agree > 2))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::header_or_pages;

    #[test]
    fn an_empty_file_is_called_empty_and_other_bytes_are_not() {
        let path = Path::new("/nowhere/a.edb");
        let said = |start| header_or_pages(path, start).map(drop).expect_err("no database");
        let empty = "/nowhere/a.edb: the file is empty; restore it from a copy, or prepare it anew";
        assert_eq!(said(&[]).to_string(), empty);
        assert!(said(&[1, 2]).to_string().contains("neither copy of the database header"));
    }
}
