//! Every owned page is in use or available, and no page is both.

use units::PageNumber;

use crate::reader::{PageSource, TreeKind, TreeSpace};
use crate::space::{Extent, ExtentSet};
use crate::verify::tree::subject_of;
use crate::verify::{Examination, Problem, Subject};

impl<S: PageSource> Examination<S> {
    pub(super) fn account_for_space(&mut self, trees: &[TreeSpace]) {
        for tree in trees {
            self.check_owner(tree, trees);
            self.mark_available(tree);
        }
        self.check_siblings(trees);
        if let Some(database) = trees.iter().find(|tree| tree.kind == TreeKind::Database) {
            self.check_every_page(&database.owned);
        }
    }

    /// A tree's space is part of what its parent owns and has given away.
    fn check_owner(&mut self, tree: &TreeSpace, trees: &[TreeSpace]) {
        let parent = trees
            .iter()
            .find(|parent| parent.root == tree.header.parent);
        for &extent in tree.owned.extents() {
            let is_given = parent.is_none_or(|parent| {
                parent.owned.contains_all(extent) && !parent.available.touches(extent)
            });
            if !is_given {
                self.found(tree, extent);
            }
        }
        for &extent in tree.available.extents() {
            if !tree.owned.contains_all(extent) {
                self.found(tree, extent);
            }
        }
    }

    /// Trees with the same parent share nothing.
    fn check_siblings(&mut self, trees: &[TreeSpace]) {
        let children = trees.iter().filter(|tree| tree.header.parent.is_some());
        let mut extents: Vec<(PageNumber, Extent, &TreeSpace)> = children
            .flat_map(|tree| {
                tree.owned
                    .extents()
                    .iter()
                    .map(move |&extent| (tree.header.parent, extent, tree))
            })
            .collect();
        extents.sort_by_key(|(parent, extent, _)| (*parent, extent.first()));
        for two in extents.windows(2) {
            let ((parent, before, _), (other, extent, tree)) = (&two[0], &two[1]);
            if parent == other && before.last >= extent.first() {
                self.found(tree, *extent);
            }
        }
    }

    fn mark_available(&mut self, tree: &TreeSpace) {
        let subject = subject_of(tree);
        for extent in tree
            .available
            .extents()
            .iter()
            .chain(tree.reserved.extents())
        {
            for page in (extent.first().0..=extent.last.0).map(PageNumber) {
                let is_new = self.map.make_available(page);
                if !is_new || self.map.is_used(page) {
                    self.log.add(&subject, page, &[], Problem::AvailableAndUsed);
                }
                self.log.report.pages_available += u64::from(is_new);
            }
        }
    }

    fn check_every_page(&mut self, owned: &ExtentSet) {
        for extent in owned.extents() {
            for page in (extent.first().0..=extent.last.0).map(PageNumber) {
                if !self.map.is_used(page) && !self.map.is_available(page) {
                    self.log.add(&Subject::default(), page, &[], Problem::Lost);
                }
            }
        }
    }

    fn found(&mut self, tree: &TreeSpace, extent: Extent) {
        let problem = Problem::Extent { extent };
        self.log
            .add(&subject_of(tree), extent.first(), &[], problem);
    }
}
