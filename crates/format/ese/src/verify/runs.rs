//! Merges findings about single pages if the pages are consecutive.

use units::PageNumber;

use crate::space::Extent;

/// Pages added in ascending order, merged into runs.
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
