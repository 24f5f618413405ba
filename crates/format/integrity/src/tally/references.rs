//! Finds the pages that a sound page refers to: zeros in their place are damage.

use ese::catalog::{CatalogRow, RowKind, system_trees};
use ese::page::{PageRef, page_flags};
use ese::space::{Extents, RootFields};
use units::PageNumber;

/// Roots at fixed places of every database: the database with its two space trees, and the catalog.
/// Nothing else points to them.
pub(super) const FIXED_ROOTS: [PageNumber; 4] =
    [PageNumber(1), PageNumber(2), PageNumber(3), system_trees::OBJECTS.root];

/// Calls `note` with every page that `page` points to: neighbours, children, the roots of its space
/// trees, and in the catalog the roots of all other trees. A page that was emptied and freed points
/// to nothing, whatever links it still has.
pub(super) fn each(page: PageRef<'_>, mut note: impl FnMut(PageNumber)) {
    if page.has(page_flags::EMPTY) {
        return;
    }
    for neighbour in [page.previous(), page.next()] {
        if neighbour.is_some() {
            note(neighbour);
        }
    }
    if page.is_root() {
        space_roots(page, &mut note);
    }
    if !page.is_leaf() {
        (0..page.node_count()).filter_map(|line| page.child(line)).for_each(note);
    } else if is_catalog(page) {
        catalog_roots(page, note);
    }
}

/// The root of the available extents follows that of the owned ones.
fn space_roots(page: PageRef<'_>, note: &mut impl FnMut(PageNumber)) {
    if page.has(page_flags::SPACE_TREE) {
        return;
    }
    let fields = RootFields::decode(page.external_header());
    let Some(header) = fields.and_then(|fields| fields.space) else {
        return;
    };
    if let Extents::Multiple { owned } = header.extents {
        note(owned);
        note(PageNumber(owned.0.saturating_add(1)));
    }
}

fn is_catalog(page: PageRef<'_>) -> bool {
    let trees = [system_trees::OBJECTS, system_trees::OBJECTS_SHADOW];
    let is_table = !page.has(page_flags::SPACE_TREE | page_flags::INDEX | page_flags::LONG_VALUE);
    is_table && trees.iter().any(|tree| tree.object == page.object())
}

/// A row that cannot be read, or one of a table that is being deleted, points to nothing.
fn catalog_roots(page: PageRef<'_>, mut note: impl FnMut(PageNumber)) {
    for node in page.nodes().filter(|node| !node.is_deleted()) {
        let Ok(Some(row)) = CatalogRow::decode(node.data, page.size()) else {
            continue;
        };
        if matches!(row.kind, RowKind::Table | RowKind::Index | RowKind::LongValue) {
            note(PageNumber(row.column_type_or_root));
        }
    }
}
