//! What each tree owns and what of it is free.

use units::{ObjectId, PageNumber};

use crate::catalog::{TreePlace, system_trees};
use crate::page::PageRef;
use crate::reader::cursor::load;
use crate::reader::{Cursor, PageSource, ReadError, Reader};
use crate::space::{
    Extent, ExtentSet, Extents, Pool, RootFields, SpaceHeader, SpaceNode, SplitBuffer,
};

/// What a tree is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TreeKind {
    /// The database, which owns everything.
    Database,
    /// A table.
    Table,
    /// A secondary index.
    Index,
    /// The long values of a table.
    LongValues,
}

/// The space of one tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeSpace {
    /// What the tree is for.
    pub kind: TreeKind,
    /// Name of the table; empty for the database itself.
    pub table: String,
    /// Name of the index; empty for everything else.
    pub index: String,
    /// The tree's object identifier.
    pub object: ObjectId,
    /// The tree's root page.
    pub root: PageNumber,
    /// The space header on the root page.
    pub header: SpaceHeader,
    /// All pages that the tree owns, those of trees below it included.
    pub owned: ExtentSet,
    /// Owned pages that are not in use.
    pub available: ExtentSet,
    /// The owned extents one by one, as the tree was given them.
    pub owned_extents: Vec<Extent>,
    /// The available extents one by one, those left out that a shrink has set aside.
    pub available_extents: Vec<Extent>,
    /// Pages kept aside so that the space trees themselves can split.
    pub reserved: ExtentSet,
}

impl<S: PageSource> Reader<S> {
    /// The space of the whole database. Pages beyond what it owns are no database pages.
    pub fn database_space(&mut self) -> Result<TreeSpace, ReadError<S::Error>> {
        database_space(&mut self.source)
    }

    /// The space of every tree, the database itself first, then tables in the catalog's order,
    /// each with its indexes and long values.
    pub fn space_report(&mut self) -> Result<Vec<TreeSpace>, ReadError<S::Error>> {
        let mut report = vec![self.database_space()?];
        for table in self.tables().to_vec() {
            let name = &table.definition.name;
            report.push(tree_space(
                &mut self.source,
                TreeKind::Table,
                name,
                "",
                table.place,
            )?);
            for (index, place) in table.secondaries() {
                let kind = TreeKind::Index;
                report.push(tree_space(
                    &mut self.source,
                    kind,
                    name,
                    &index.name,
                    place,
                )?);
            }
            if let Some(place) = table.long_values {
                let kind = TreeKind::LongValues;
                report.push(tree_space(&mut self.source, kind, name, "", place)?);
            }
        }
        Ok(report)
    }
}

/// The space of the whole database, which can be read without its catalog.
pub fn database_space<S: PageSource>(source: &mut S) -> Result<TreeSpace, ReadError<S::Error>> {
    let tree = system_trees::DATABASE;
    let place = TreePlace {
        object: tree.object,
        root: tree.root,
    };
    tree_space(source, TreeKind::Database, "", "", place)
}

/// The space of one tree.
pub(crate) fn tree_space<S: PageSource>(
    source: &mut S,
    kind: TreeKind,
    table: &str,
    index: &str,
    place: TreePlace,
) -> Result<TreeSpace, ReadError<S::Error>> {
    let root = place.root;
    let page = load(source, root)?;
    let fields = RootFields::decode(PageRef::new(&page).external_header());
    let header = fields.and_then(|fields| fields.space);
    let header = header.ok_or(ReadError::SpaceHeader { page: root })?;
    let (owned, available, reserved) = match header.extents {
        Extents::Single { available } => single_extent(root, header.primary_pages, available),
        Extents::Multiple { owned } => {
            let available = PageNumber(owned.0.saturating_add(1));
            let reserved = [
                split_buffer(source, owned)?,
                split_buffer(source, available)?,
            ];
            (
                extents(source, owned)?,
                extents(source, available)?,
                reserved.concat(),
            )
        }
    };
    Ok(TreeSpace {
        kind,
        table: table.to_owned(),
        index: index.to_owned(),
        object: place.object,
        root,
        header,
        owned: ExtentSet::new(owned.iter().copied()),
        available: ExtentSet::new(available.iter().copied()),
        owned_extents: owned,
        available_extents: available,
        reserved: ExtentSet::new(reserved),
    })
}

type ExtentLists = (Vec<Extent>, Vec<Extent>, Vec<Extent>);

/// A tree of one extent: the pages behind its root, with a bit each.
fn single_extent(root: PageNumber, pages: u32, available: u32) -> ExtentLists {
    let free = (0..32).filter(|bit| available >> bit & 1 == 1);
    let free = free
        .map(|bit| Extent::starting(PageNumber(root.0.saturating_add(1 + bit)), 1))
        .collect();
    (vec![Extent::starting(root, pages)], free, Vec::new())
}

/// All extents of a space tree that lie in the file.
fn extents<S: PageSource>(
    source: &mut S,
    root: PageNumber,
) -> Result<Vec<Extent>, ReadError<S::Error>> {
    let mut cursor = Cursor::first(source, root)?;
    let mut found = Vec::new();
    while let Some(entry) = cursor.next(source)? {
        let unreadable = ReadError::Node {
            page: entry.page,
            line: entry.line,
        };
        let node = SpaceNode::decode(entry.key, entry.data).ok_or(unreadable)?;
        // What a shrink has set aside lies behind the end of the file.
        if node.pool != Pool::Shelved {
            found.push(node.extent);
        }
    }
    Ok(found)
}

fn split_buffer<S: PageSource>(
    source: &mut S,
    root: PageNumber,
) -> Result<Vec<Extent>, ReadError<S::Error>> {
    let page = load(source, root)?;
    let buffer = SplitBuffer::decode(PageRef::new(&page).external_header()).unwrap_or_default();
    Ok(buffer
        .extents
        .into_iter()
        .filter(|extent| extent.pages > 0)
        .collect())
}
