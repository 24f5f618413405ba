//! Lines at which the searches of one operation ended, so that the next search begins there.
//!
//! An operation visits the same pages several times: it searches for a record before it changes it,
//! and is planned again from the start for each page that had to be fetched. A remembered line is
//! only a hint, so a stale one costs two comparisons and nothing else.

use units::PageNumber;

/// Number of pages remembered: enough for every page an operation on a row of a table with a few
/// indexes descends through.
const PAGES: usize = 16;

/// The lines, page by page.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    lines: [(PageNumber, u16); PAGES],
    oldest: usize,
}

impl Trail {
    /// The line at which the last search of `page` ended.
    #[inline]
    pub(crate) fn line(&self, page: PageNumber) -> Option<usize> {
        let found = self.lines.iter().find(|(of, _)| *of == page);
        found.map(|(_, line)| usize::from(*line))
    }

    /// Records that a search of `page` ended at `line`.
    pub(crate) fn note(&mut self, page: PageNumber, line: usize) {
        let line = u16::try_from(line).unwrap_or(u16::MAX);
        if let Some(known) = self.lines.iter_mut().find(|(of, _)| *of == page) {
            known.1 = line;
            return;
        }
        self.lines[self.oldest] = (page, line);
        self.oldest = (self.oldest + 1) % PAGES;
    }
}

#[cfg(test)]
mod tests {
    use units::PageNumber;

    use super::{PAGES, Trail};

    #[test]
    fn the_last_line_of_each_page_is_kept_for_as_many_as_there_is_room_for() {
        let mut trail = Trail::default();
        trail.note(PageNumber(7), 3);
        trail.note(PageNumber(8), 9);
        trail.note(PageNumber(7), 4);
        let lines = [7, 8, 9].map(|page| trail.line(PageNumber(page)));
        assert_eq!(lines, [Some(4), Some(9), None]);
        for page in 100..98 + u32::try_from(PAGES).unwrap() {
            trail.note(PageNumber(page), 0);
        }
        assert_eq!(trail.line(PageNumber(7)), Some(4));
        trail.note(PageNumber(200), 0);
        assert_eq!([7, 8].map(|page| trail.line(PageNumber(page))), [None, Some(9)]);
    }
}
