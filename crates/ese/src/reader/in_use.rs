//! Which pages the trees of a database are made of. What lies anywhere else was freed or never
//! used, whatever it still points to.

use units::PageNumber;

use crate::page::{PageRef, page_flags};
use crate::page_set::PageSet;
use crate::reader::cursor::load;
use crate::reader::{DATABASE, PageSource, Reader};
use crate::space::RootFields;

impl<S: PageSource> Reader<S> {
    /// All pages that the trees reach from their roots down, those of their space included; none
    /// where an internal page cannot be read, so that what lies below it is not known. Leaves are
    /// not read. An error is one that ends all reading.
    pub fn pages_in_use(&mut self) -> Result<Option<PageSet>, S::Error> {
        let mut in_use = PageSet::new(self.source.page_count());
        let mut waiting = self.roots();
        while let Some(number) = waiting.pop() {
            if !in_use.insert(number) {
                continue;
            }
            let page = match load(&mut self.source, number) {
                Ok(page) => page,
                Err(error) => {
                    error.without_source()?;
                    return Ok(None);
                }
            };
            let view = PageRef::new(&page);
            waiting.extend(space_roots(view));
            if view.is_leaf() {
                continue;
            }
            let children = (0..view.node_count()).filter_map(|line| view.child(line));
            if view.has(page_flags::PARENT_OF_LEAF) {
                children.for_each(|leaf| _ = in_use.insert(leaf));
            } else {
                waiting.extend(children);
            }
        }
        Ok(Some(in_use))
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

/// The roots of the two space trees that a root names.
fn space_roots(page: PageRef<'_>) -> impl Iterator<Item = PageNumber> + use<> {
    let is_named = page.is_root() && !page.has(page_flags::SPACE_TREE);
    let fields = RootFields::decode(page.external_header()).filter(|_| is_named);
    let header = fields.and_then(|fields| fields.space);
    let roots = header.map(|header| [header.owned_root(), header.available_root()]);
    roots.into_iter().flatten().flatten()
}
