//! Checks that every owned page is either in use or available, not both, and that extents are
//! within their owners.

use units::PageNumber;

use crate::reader::{PageSource, TreeKind, TreeSpace};
use crate::space::{Extent, ExtentSet};
use crate::verify::runs::Runs;
use crate::verify::tree::subject_of;
use crate::verify::{Examination, Notice, Problem, Subject};

impl<S: PageSource> Examination<'_, S> {
    pub(super) fn account_for_space(&mut self, trees: &[TreeSpace]) {
        for tree in trees {
            if !self.lost_space.contains(&tree.root) {
                self.check_lists(tree);
                self.check_owner(tree, trees);
            }
            self.mark_available(tree);
        }
        self.check_siblings(trees);
        if let Some(database) = trees.iter().find(|tree| tree.kind == TreeKind::Database) {
            self.check_end(database);
            // Pages below lost ones are in use and were not reached.
            if !self.log.has_lost_pages() {
                self.find_leaks(&database.owned);
            }
        }
    }

    /// Checks that the extents of a space tree ascend, are not empty and share no pages.
    fn check_lists(&mut self, tree: &TreeSpace) {
        for list in [&tree.owned_extents, &tree.available_extents] {
            let mut before = PageNumber::NONE;
            for &extent in list {
                if extent.pages == 0 || extent.first() <= before {
                    self.found(tree, extent, Problem::Extent { extent });
                }
                before = extent.last;
            }
        }
    }

    /// Checks that a tree's space is part of its parent's and no longer available there. Each owned
    /// extent was cut out of one that the parent owns, each available one out of one that the tree
    /// owns.
    fn check_owner(&mut self, tree: &TreeSpace, trees: &[TreeSpace]) {
        let parent = trees.iter().find(|parent| parent.root == tree.header.parent);
        for &extent in &tree.owned_extents {
            let Some(parent) = parent else {
                continue;
            };
            let is_given = parent.owned.contains_all(extent) && !parent.available.touches(extent);
            self.check_extent(tree, extent, is_given, &parent.owned_extents);
        }
        for &extent in &tree.available_extents {
            let is_own = tree.owned.contains_all(extent);
            self.check_extent(tree, extent, is_own, &tree.owned_extents);
        }
    }

    fn check_extent(
        &mut self,
        tree: &TreeSpace,
        extent: Extent,
        is_held: bool,
        holders: &[Extent],
    ) {
        if !is_held {
            self.found(tree, extent, Problem::Extent { extent });
        } else if !lies_in_one(extent, holders) {
            self.found(tree, extent, Problem::Straddles { extent });
        }
    }

    /// Checks that trees with the same parent share no space.
    fn check_siblings(&mut self, trees: &[TreeSpace]) {
        let mut extents: Vec<(PageNumber, Extent, &TreeSpace)> = Vec::new();
        for tree in trees {
            let parent = tree.header.parent;
            if parent.is_some() && !self.lost_space.contains(&tree.root) {
                extents.extend(tree.owned.extents().iter().map(|&extent| (parent, extent, tree)));
            }
        }
        extents.sort_by_key(|(parent, extent, _)| (*parent, extent.first()));
        for two in extents.windows(2) {
            let ((parent, before, _), (other, extent, tree)) = (&two[0], &two[1]);
            if parent == other && before.last >= extent.first() {
                let extent = *extent;
                self.found(tree, extent, Problem::Extent { extent });
            }
        }
    }

    fn mark_available(&mut self, tree: &TreeSpace) {
        let (subject, mut wrong) = (subject_of(tree), Runs::default());
        for sets in [&tree.available, &tree.reserved] {
            for page in self.pages_in_file(sets) {
                let is_new = self.map.make_available(page);
                if !is_new || self.map.is_used(page) {
                    wrong.push(page);
                }
                self.log.report.pages_available += u64::from(is_new);
            }
        }
        for run in wrong.runs {
            self.log.add_run(&subject, run, &[], Problem::AvailableAndUsed);
        }
    }

    /// Checks that the file holds all owned space. Anything beyond it is not part of the database.
    fn check_end(&mut self, database: &TreeSpace) {
        let last = PageNumber(self.reader.source().page_count());
        let owned = database.owned.last();
        if last < owned {
            let problem = Problem::FileTooShort { last, owned };
            self.log.add(&Subject::default(), last, &[], problem);
        } else if last > owned {
            let notice = Notice::BehindTheEnd { owned, last };
            self.log.report.notices.push(notice);
        }
    }

    fn find_leaks(&mut self, owned: &ExtentSet) {
        let mut leaked = Runs::default();
        for page in self.pages_in_file(owned) {
            if !self.map.is_used(page) && !self.map.is_available(page) {
                leaked.push(page);
            }
        }
        for run in leaked.runs {
            self.log.leaked(run);
        }
    }

    /// The pages of a set that exist in the file: damaged extents may claim billions that do not.
    fn pages_in_file<'s>(
        &mut self,
        set: &'s ExtentSet,
    ) -> impl Iterator<Item = PageNumber> + use<'s, S> {
        let last = self.reader.source().page_count();
        set.extents().iter().flat_map(move |extent| {
            (extent.first().0.max(1)..=extent.last.0.min(last)).map(PageNumber)
        })
    }

    fn found(&mut self, tree: &TreeSpace, extent: Extent, problem: Problem) {
        self.log.add(&subject_of(tree), extent.first(), &[], problem);
    }
}

/// Whether one of `holders`, which must be in ascending order, contains all pages of an extent.
fn lies_in_one(extent: Extent, holders: &[Extent]) -> bool {
    let index = holders.partition_point(|holder| holder.last < extent.last);
    holders.get(index).is_some_and(|holder| holder.first() <= extent.first())
}
