//! The pages that the trees of a database consist of. Any other page was freed or never used,
//! whatever it still points to.

use units::PageNumber;

use crate::page::{PageRef, page_flags};
use crate::page_set::PageSet;
use crate::reader::cursor::load;
use crate::reader::{DATABASE, PageSource, Reader};
use crate::space::RootFields;

/// A walk down from the roots of all trees that does no I/O: it names a page and the caller
/// supplies it. Leaves are not requested.
#[derive(Debug)]
pub struct InUseWalk {
    in_use: PageSet,
    waiting: Vec<PageNumber>,
}

impl InUseWalk {
    /// The page to supply next; `None` when all are known. A page past the end of a cut file is
    /// wanted as well: without it, the pages below it are unknown.
    pub fn wanted(&mut self) -> Option<PageNumber> {
        while let Some(number) = self.waiting.pop() {
            if self.in_use.insert(number) || !self.in_use.contains(number) {
                return Some(number);
            }
        }
        None
    }

    /// Records the pages that `page` points to.
    pub fn look(&mut self, page: PageRef<'_>) {
        self.waiting.extend(space_roots(page));
        if page.is_leaf() {
            return;
        }
        let children = (0..page.node_count()).filter_map(|line| page.child(line));
        if page.has(page_flags::PARENT_OF_LEAF) {
            children.for_each(|leaf| _ = self.in_use.insert(leaf));
        } else {
            self.waiting.extend(children);
        }
    }

    /// The pages that were found.
    pub fn into_pages(self) -> PageSet {
        self.in_use
    }
}

impl<S: PageSource> Reader<S> {
    /// A walk over all pages reachable from the roots of the trees, space trees included.
    pub fn in_use_walk(&self) -> InUseWalk {
        InUseWalk { in_use: PageSet::new(self.source.page_count()), waiting: self.roots() }
    }

    /// The pages found by [`Self::in_use_walk`]; `None` if an internal page cannot be read, so that
    /// the pages below it are unknown. Only errors that end all reading are returned.
    pub fn pages_in_use(&mut self) -> Result<Option<PageSet>, S::Error> {
        let mut walk = self.in_use_walk();
        while let Some(number) = walk.wanted() {
            match load(&mut self.source, number) {
                Ok(page) => walk.look(PageRef::new(&page)),
                Err(error) => {
                    error.without_source()?;
                    return Ok(None);
                }
            }
        }
        Ok(Some(walk.into_pages()))
    }

    fn roots(&self) -> Vec<PageNumber> {
        let mut roots = vec![DATABASE.root];
        for table in self.tables() {
            roots.push(table.place.root);
            roots.extend(table.secondaries().map(|(_, place)| place.root));
            roots.extend(table.long_values.map(|place| place.root));
        }
        roots
    }
}

/// The roots of the two space trees named by a root.
fn space_roots(page: PageRef<'_>) -> impl Iterator<Item = PageNumber> + use<> {
    let is_named = page.is_root() && !page.has(page_flags::SPACE_TREE);
    let fields = RootFields::decode(page.external_header()).filter(|_| is_named);
    let header = fields.and_then(|fields| fields.space);
    let roots = header.map(|header| [header.owned_root(), header.available_root()]);
    roots.into_iter().flatten().flatten()
}

#[cfg(test)]
mod tests {
    use units::PageNumber;

    use super::InUseWalk;
    use crate::page_set::PageSet;

    #[test]
    fn a_page_past_the_end_of_the_file_is_wanted() {
        let beyond = PageNumber(1_000);
        let waiting = vec![beyond, PageNumber(7)];
        let mut walk = InUseWalk { in_use: PageSet::new(10), waiting };
        assert_eq!(walk.wanted(), Some(PageNumber(7)));
        assert_eq!(walk.wanted(), Some(beyond));
        assert_eq!(walk.wanted(), None);
    }
}
