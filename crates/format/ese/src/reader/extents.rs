//! The pages of one tree, read strictly: all of its extents, or an error. The walk that rescues
//! leaves depends on this module, so nothing here uses that walk.

use units::PageNumber;

use crate::catalog::TreePlace;
use crate::page::PageRef;
use crate::reader::cursor::{Cursor, load};
use crate::reader::{PageSource, ReadError};
use crate::space::{Extent, ExtentSet, Extents, Pool, RootFields, SpaceNode};

/// The pages of a tree.
#[derive(Default)]
pub(super) struct TreePages {
    /// All that it owns.
    pub owned: ExtentSet,
    /// The subset of `owned` that is not in use.
    pub available: ExtentSet,
}

/// The pages of the tree at `place`.
pub(super) fn pages_of<S: PageSource>(
    source: &mut S,
    place: TreePlace,
) -> Result<TreePages, ReadError<S::Error>> {
    let root = place.root;
    let page = load(source, root)?;
    let fields = RootFields::decode(PageRef::new(&page).external_header());
    let header = fields.and_then(|fields| fields.space);
    let header = header.ok_or(ReadError::SpaceHeader { page: root })?;
    let (owned, available) = match header.extents {
        Extents::Single { available } => {
            (vec![Extent::starting(root, header.primary_pages)], single_extent(root, available))
        }
        Extents::Multiple { owned: first } => {
            let second = PageNumber(first.0.saturating_add(1));
            (extents(source, first)?, extents(source, second)?)
        }
    };
    Ok(TreePages { owned: ExtentSet::new(owned), available: ExtentSet::new(available) })
}

/// The available pages of a single-extent tree: one bit for each page after its root.
pub(super) fn single_extent(root: PageNumber, available: u32) -> Vec<Extent> {
    (0..32)
        .filter(|bit| available >> bit & 1 == 1)
        .map(|bit| Extent::starting(PageNumber(root.0.saturating_add(1 + bit)), 1))
        .collect()
}

/// All extents of a space tree that are in the file.
fn extents<S: PageSource>(
    source: &mut S,
    root: PageNumber,
) -> Result<Vec<Extent>, ReadError<S::Error>> {
    let mut walk = Cursor::first(source, root)?;
    let mut found = Vec::new();
    while let Some(entry) = walk.next(source)? {
        let (page, line) = (entry.page, entry.line);
        let node = SpaceNode::decode(entry.key, entry.data);
        let node = node.ok_or(ReadError::Node { page, line })?;
        // Extents shelved by a shrink are past the end of the file.
        if node.pool != Pool::Shelved {
            found.push(node.extent);
        }
    }
    Ok(found)
}
