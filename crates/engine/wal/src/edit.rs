//! Page edits: the single vocabulary of change, executed by the same function at run time and at
//! redo.
//!
//! An operation is logged as one [`ApplyRecord`]: a list of edits for every page it touches, and
//! the logical undo that a rollback would need. Splits carry the moved nodes as inserts on the new
//! page, so no page depends on another one having been written first.

use ese::page::{PageError, PageMut, PageRef, page_flags};
use units::{ObjectId, PageNumber};

mod encoding;
#[cfg(test)]
pub(crate) mod tests;

/// A transaction, unique among those whose records the log still holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionId(pub u32);

impl TransactionId {
    /// Maintenance outside any transaction: cleanup, space moves.
    pub const NONE: Self = Self(0);

    /// `false` for [`Self::NONE`].
    pub const fn is_some(self) -> bool {
        self.0 != 0
    }
}

/// One change of one page. Lines count nodes from 0, excluding tag 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageEdit {
    /// Reformat the page as an empty one of a tree, discarding its contents.
    Format {
        /// Page flags, see `ese::page::page_flags`.
        flags: u32,
        /// The tree.
        objid: ObjectId,
    },
    /// Replace tag 0: key prefix, space header or split buffer.
    External(Vec<u8>),
    /// Set both sibling links.
    Links {
        /// The leaf before this one.
        previous: PageNumber,
        /// The leaf after this one.
        next: PageNumber,
    },
    /// Insert a node before the one at `line`.
    Insert {
        /// Line of the node.
        line: u16,
        /// Node flags, see `ese::page::node_flags`.
        flags: u8,
        /// The node's bytes without flags, as produced by `ese::page::encode_node`.
        node: Vec<u8>,
    },
    /// Replace a node's bytes; its flags stay, so the key must be stored as before.
    Replace {
        /// Line of the node.
        line: u16,
        /// The node's new bytes without flags.
        node: Vec<u8>,
    },
    /// Remove nodes.
    Remove {
        /// The first one.
        line: u16,
        /// Number of nodes.
        count: u16,
    },
    /// Set a node's flags.
    NodeFlags {
        /// Line of the node.
        line: u16,
        /// All its flags.
        flags: u8,
    },
    /// Set the page's flags.
    PageFlags(u32),
    /// Add to a 32-bit little-endian counter in a node's data, wrapping.
    DeltaU32 {
        /// Line of the node.
        line: u16,
        /// Offset of the counter in the node's data, in bytes.
        offset: u16,
        /// Amount to add.
        delta: i32,
    },
}

/// The edits of one page by one apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageEdits {
    /// The edited page.
    pub page: PageNumber,
    /// The page's database time before the apply; redo demands it. If the first edit is
    /// [`PageEdit::Format`], redo accepts any older page.
    pub dbtime_before: u64,
    /// In order.
    pub edits: Vec<PageEdit>,
}

impl PageEdits {
    /// Whether the edits rebuild the page, so that its old content does not matter.
    pub fn rebuilds(&self) -> bool {
        matches!(self.edits.first(), Some(PageEdit::Format { .. }))
    }
}

/// One atomic change of the database: all of its pages or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyRecord {
    /// The transaction that made the change.
    pub transaction: TransactionId,
    /// The database time that every edited page carries afterwards.
    pub dbtime: u64,
    /// The pages, each at most once.
    pub pages: Vec<PageEdits>,
    /// Change of the transaction's undo stack.
    pub undo: UndoAction,
}

/// How an apply changes the undo stack of its transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum UndoAction {
    /// Not at all: structure changes are never undone.
    #[default]
    None,
    /// A rollback would have to do these, the last one first, all in one apply.
    Push(Vec<Undo>),
    /// This apply carried out the top of the stack, one push.
    Pop,
}

/// The logical inverse of an operation, by key, because nodes move between pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undo {
    /// A row was inserted with its long values and index entries, none of which existed before; the
    /// record identifies them.
    InsertRow {
        /// The table.
        tree: ObjectId,
        /// The row's primary key.
        key: Vec<u8>,
    },
    /// A node was inserted.
    Insert {
        /// The tree.
        tree: ObjectId,
        /// The node's whole key.
        key: Vec<u8>,
        /// The node's data in trees whose keys may repeat; empty elsewhere.
        data: Vec<u8>,
    },
    /// A node was flagged as deleted.
    FlagDelete {
        /// The tree.
        tree: ObjectId,
        /// The node's whole key.
        key: Vec<u8>,
        /// The node's data in trees whose keys may repeat; empty elsewhere.
        data: Vec<u8>,
    },
    /// A node that was flagged as deleted was inserted again, possibly with other data.
    Revive {
        /// The tree.
        tree: ObjectId,
        /// The node's whole key.
        key: Vec<u8>,
        /// The data it had.
        data: Vec<u8>,
    },
    /// A node's data was replaced.
    Replace {
        /// The tree.
        tree: ObjectId,
        /// The node's whole key.
        key: Vec<u8>,
        /// The data it had.
        before: Vec<u8>,
    },
    /// A long value was created.
    LongValueInsert {
        /// The long-value tree.
        tree: ObjectId,
        /// The long value's number (ESE `LID`).
        long_value: u32,
    },
    /// A long value lost a reference.
    LongValueRelease {
        /// The long-value tree.
        tree: ObjectId,
        /// The long value's number (ESE `LID`).
        long_value: u32,
    },
}

/// Applies one edit. On failure the page is unchanged.
pub fn apply(page: &mut PageMut<'_>, edit: &PageEdit) -> Result<(), PageError> {
    match edit {
        PageEdit::Format { flags, objid } => {
            let rotation = page.as_ref().flags() & page_flags::FLUSH_TYPE;
            page.format(flags & !page_flags::FLUSH_TYPE | rotation, *objid);
            Ok(())
        }
        PageEdit::External(bytes) => page.set_external_header(bytes),
        PageEdit::Links { previous, next } => {
            page.set_links(*previous, *next);
            Ok(())
        }
        PageEdit::Insert { line, flags, node } => page.insert(usize::from(*line), *flags, node),
        PageEdit::Replace { line, node } => page.replace_bytes(usize::from(*line), node),
        PageEdit::Remove { line, count } => page.remove(usize::from(*line), usize::from(*count)),
        PageEdit::NodeFlags { line, flags } => page.set_node_flags(usize::from(*line), *flags),
        PageEdit::PageFlags(flags) => {
            // The write rotation belongs to the cache, which does not log it.
            let rotation = page.as_ref().flags() & page_flags::FLUSH_TYPE;
            page.set_flags(flags & !page_flags::FLUSH_TYPE | rotation);
            Ok(())
        }
        PageEdit::DeltaU32 { line, offset, delta } => {
            page.add_u32(usize::from(*line), usize::from(*offset), *delta).map(drop)
        }
    }
}

/// Applies all edits of one page and sets the database time of the apply.
pub fn apply_all(page: &mut PageMut<'_>, edits: &[PageEdit], dbtime: u64) -> Result<(), PageError> {
    for edit in edits {
        apply(page, edit)?;
    }
    page.set_dbtime(dbtime);
    Ok(())
}

/// Edits that build a page's content from nothing. Logged before the first change of a page since
/// it was last written, they let redo repair a page torn by a power failure.
pub fn rebuild(page: PageRef<'_>) -> Vec<PageEdit> {
    let mut edits = vec![
        PageEdit::Format { flags: page.flags() & !page_flags::FLUSH_TYPE, objid: page.object() },
        PageEdit::External(page.external_header().to_vec()),
        PageEdit::Links { previous: page.previous(), next: page.next() },
    ];
    for (line, node) in (0_u16..).zip(page.nodes()) {
        let bytes = page.node_bytes(usize::from(line)).expect("invariant: the node was just read");
        edits.push(PageEdit::Insert { line, flags: node.flags, node: bytes });
    }
    edits
}
