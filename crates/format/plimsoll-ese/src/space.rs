//! The pages that trees own, and those of them that are free.

use ese::reader::{Reader, TreeKind};

use crate::damage::Damage;
use crate::file::DatabasePages;

/// The space of one tree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeSpace {
    /// Name of the table; empty for the database itself.
    pub table: String,
    /// Name of the index, or `long values`; empty for a table and for the database.
    pub tree: String,
    /// Number of its root page.
    pub root: u32,
    /// Pages that it owns, those of trees below it included.
    pub owned_pages: u64,
    /// Owned pages that are not in use.
    pub available_pages: u64,
}

/// The space of every readable tree, and the damage that hid the rest.
pub(crate) fn of(reader: &mut Reader<DatabasePages>) -> (Vec<TreeSpace>, Vec<Damage>) {
    let (mut trees, mut damage) = (Vec::new(), Vec::new());
    let salvaged = reader.salvaged_space_report().unwrap_or_else(|withheld| {
        damage.push(Damage::of_page(withheld));
        Vec::new()
    });
    for tree in salvaged {
        damage.extend(tree.losses.iter().map(Damage::of_loss));
        match tree.space {
            Ok(space) => trees.push(TreeSpace {
                table: space.table,
                tree: if space.kind == TreeKind::LongValues {
                    "long values".to_owned()
                } else {
                    space.index
                },
                root: space.root.0,
                owned_pages: space.owned.pages(),
                available_pages: space.available.pages(),
            }),
            Err(reason) => damage.push(Damage::of_read(&reason)),
        }
    }
    (trees, damage)
}
