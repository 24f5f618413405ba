//! The owned and the free pages of each tree.

use units::{ObjectId, PageNumber};

use crate::catalog::{TreePlace, system_trees};
use crate::page::PageRef;
use crate::reader::cursor::load;
use crate::reader::extents::single_extent;
use crate::reader::{Loss, PageSource, ReadDamage, ReadError, Reader, Salvage, SalvageStep};
use crate::space::{
    Extent, ExtentSet, Extents, Pool, RootFields, SpaceHeader, SpaceNode, SplitBuffer,
};

/// Purpose of a tree.
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
    /// Purpose of the tree.
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
    /// The owned extents as individually assigned to the tree.
    pub owned_extents: Vec<Extent>,
    /// The available extents one by one, without those set aside by a shrink.
    pub available_extents: Vec<Extent>,
    /// Pages reserved so that the space trees themselves can split.
    pub reserved: ExtentSet,
}

impl<S: PageSource> Reader<S> {
    /// The space of the whole database. Pages past those it owns are not part of the database.
    pub fn database_space(&mut self) -> Result<TreeSpace, ReadError<S::Error>> {
        database_space(&mut self.source)
    }

    /// The space of every tree, the database itself first, then tables in the catalog's order,
    /// each with its indexes and long values.
    pub fn space_report(&mut self) -> Result<Vec<TreeSpace>, ReadError<S::Error>> {
        self.salvaged_space_report()
            .map_err(ReadError::Source)?
            .into_iter()
            .map(|tree| whole(tree.space, tree.losses))
            .collect()
    }

    /// Like [`Self::space_report`], but skips damaged parts; fails only if the page source does.
    pub fn salvaged_space_report(&mut self) -> Result<Vec<SalvagedSpace>, S::Error> {
        let mut report = vec![self.salvaged(TreeKind::Database, "", "", DATABASE)?];
        for table in self.tables().to_vec() {
            let name = &table.definition.name;
            report.push(self.salvaged(TreeKind::Table, name, "", table.place)?);
            for (index, place) in table.secondaries() {
                report.push(self.salvaged(TreeKind::Index, name, &index.name, place)?);
            }
            if let Some(place) = table.long_values {
                report.push(self.salvaged(TreeKind::LongValues, name, "", place)?);
            }
        }
        Ok(report)
    }

    fn salvaged(
        &mut self,
        kind: TreeKind,
        table: &str,
        index: &str,
        place: TreePlace,
    ) -> Result<SalvagedSpace, S::Error> {
        let mut losses = Vec::new();
        let space = salvage_space(&mut self.source, kind, table, index, place, &mut losses);
        let space = match space {
            Ok(space) => Ok(space),
            Err(error) => Err(error.without_source()?),
        };
        Ok(SalvagedSpace {
            kind,
            table: table.to_owned(),
            index: index.to_owned(),
            place,
            space,
            losses,
        })
    }
}

/// The readable part of a tree's space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SalvagedSpace {
    /// Purpose of the tree.
    pub kind: TreeKind,
    /// Name of the table; empty for the database itself.
    pub table: String,
    /// Name of the index; empty for everything else.
    pub index: String,
    /// Location of the tree.
    pub place: TreePlace,
    /// Its space as far as readable, or the reason why none of it is.
    pub space: Result<TreeSpace, ReadDamage>,
    /// Losses of its space trees.
    pub losses: Vec<Loss>,
}

/// The tree that owns all space.
pub(crate) const DATABASE: TreePlace =
    TreePlace { object: system_trees::DATABASE.object, root: system_trees::DATABASE.root };

/// The result, or an error if any of it is lost.
fn whole<T, E>(read: Result<T, ReadDamage>, losses: Vec<Loss>) -> Result<T, ReadError<E>> {
    let value = read.map_err(ReadDamage::widen)?;
    match losses.into_iter().next() {
        Some(loss) => Err(loss.error.widen()),
        None => Ok(value),
    }
}

/// The space of the whole database, which can be read without its catalog.
pub fn database_space<S: PageSource>(source: &mut S) -> Result<TreeSpace, ReadError<S::Error>> {
    let mut losses = Vec::new();
    let space = salvage_space(source, TreeKind::Database, "", "", DATABASE, &mut losses)?;
    whole(Ok(space), losses)
}

/// The last page named by either space tree of the database, as far as they can be read: the tree
/// of owned extents lists the end of the database, and so does the tree of free extents if that end
/// is still unused. `None` if neither can be read. If the root is damaged, the trees are assumed to
/// be the two pages after it.
pub fn database_reach<S: PageSource>(source: &mut S) -> Option<PageNumber> {
    let root = load(source, DATABASE.root).ok();
    let fields = root.and_then(|page| RootFields::decode(PageRef::new(&page).external_header()));
    let first = match fields.and_then(|fields| fields.space).map(|header| header.extents) {
        Some(Extents::Multiple { owned }) => owned,
        _ => PageNumber(DATABASE.root.0 + 1),
    };
    let mut named = Vec::new();
    for root in [first, PageNumber(first.0.saturating_add(1))] {
        let place = TreePlace { root, ..DATABASE };
        named.extend(extents(source, place, &mut Vec::new()).into_iter().flatten());
    }
    named.into_iter().map(|extent| extent.last).max()
}

/// The space of one tree; losses of its space trees are added to `losses`.
pub(crate) fn salvage_space<S: PageSource>(
    source: &mut S,
    kind: TreeKind,
    table: &str,
    index: &str,
    place: TreePlace,
    losses: &mut Vec<Loss>,
) -> Result<TreeSpace, ReadError<S::Error>> {
    let root = place.root;
    let page = load(source, root)?;
    let fields = RootFields::decode(PageRef::new(&page).external_header());
    let header = fields.and_then(|fields| fields.space);
    let header = header.ok_or(ReadError::SpaceHeader { page: root })?;
    let (mut owned, mut available, mut reserved) = (Vec::new(), Vec::new(), Vec::new());
    match header.extents {
        Extents::Single { available: bits } => {
            owned.push(Extent::starting(root, header.primary_pages));
            available = single_extent(root, bits);
        }
        Extents::Multiple { owned: first } => {
            let second = PageNumber(first.0.saturating_add(1));
            for (root, list) in [(first, &mut owned), (second, &mut available)] {
                let place = TreePlace { root, ..place };
                *list = extents(source, place, losses)?;
                reserved.extend(split_buffer(source, root)?);
            }
        }
    }
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

/// All extents of a space tree that are in the file.
fn extents<S: PageSource>(
    source: &mut S,
    place: TreePlace,
    losses: &mut Vec<Loss>,
) -> Result<Vec<Extent>, ReadError<S::Error>> {
    let mut walk = Salvage::of_space(place);
    let mut found = Vec::new();
    while let Some(step) = walk.next(source).map_err(ReadError::Source)? {
        let entry = match step {
            SalvageStep::Entry(entry) => entry,
            SalvageStep::Loss(loss) => {
                losses.push(loss);
                continue;
            }
        };
        match SpaceNode::decode(entry.key, entry.data) {
            // Extents shelved by a shrink are past the end of the file.
            Some(node) if node.pool == Pool::Shelved => {}
            Some(node) => found.push(node.extent),
            None => losses.push(Loss::node(entry.page, entry.line)),
        }
    }
    Ok(found)
}

/// The extents that a space tree keeps for its own splits; `None` if its root is lost.
fn split_buffer<S: PageSource>(
    source: &mut S,
    root: PageNumber,
) -> Result<Vec<Extent>, ReadError<S::Error>> {
    let page = match load(source, root) {
        Ok(page) => page,
        Err(ReadError::Source(error)) => return Err(ReadError::Source(error)),
        // The walk over the tree has reported the loss.
        Err(_) => return Ok(Vec::new()),
    };
    let buffer = SplitBuffer::decode(PageRef::new(&page).external_header()).unwrap_or_default();
    Ok(buffer.extents.into_iter().filter(|extent| extent.pages > 0).collect())
}
