//! Findings about single pages, merged where the pages follow each other.

use units::PageNumber;

use crate::space::Extent;

/// Pages that come in ascending order, as runs.
#[derive(Default)]
pub(super) struct Runs {
    pub runs: Vec<Extent>,
}

impl Runs {
    pub(super) fn push(&mut self, page: PageNumber) {
        match self.runs.last_mut() {
            Some(run) if run.last.0.saturating_add(1) == page.0 => {
                run.last = page;
                run.pages += 1;
            }
            _ => self.runs.push(Extent::starting(page, 1)),
        }
    }
}
