//! Page edits: the one vocabulary of change, executed by the same function at run time and at redo.
//!
//! An operation is logged as one [`ApplyRecord`]: for every page it touches a list of edits, and
//! the logical undo that a rollback would need. Splits carry the moved nodes as inserts on the
//! new page, so no page depends on another one having been written first.

use ese::page::{PageError, PageMut, PageRef, page_flags};
use units::{ObjectId, PageNumber};

use crate::codec::{DecodeError, Fields, put_bytes, put_length, put_u16, put_u32, put_u64};

#[cfg(test)]
pub(crate) mod tests;

/// A transaction, unique among those whose records the log still holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionId(pub u32);

impl TransactionId {
    /// Maintenance outside any transaction: cleanup, space moves.
    pub const NONE: Self = Self(0);

    /// Whether this names a transaction at all.
    pub const fn is_some(self) -> bool {
        self.0 != 0
    }
}

/// One change of one page. Lines count nodes from 0, tag 0 left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageEdit {
    /// Make the page an empty one of a tree; everything it held is gone.
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
        /// The leaf behind this one.
        next: PageNumber,
    },
    /// Insert a node before the one at `line`.
    Insert {
        /// Where.
        line: u16,
        /// Node flags, see `ese::page::node_flags`.
        flags: u8,
        /// The node's bytes without flags, as `ese::page::encode_node` makes them.
        node: Vec<u8>,
    },
    /// Replace a node's bytes; its flags stay, so the key must be stored as before.
    Replace {
        /// Which node.
        line: u16,
        /// The node's new bytes without flags.
        node: Vec<u8>,
    },
    /// Remove nodes.
    Remove {
        /// The first one.
        line: u16,
        /// How many.
        count: u16,
    },
    /// Set a node's flags.
    NodeFlags {
        /// Which node.
        line: u16,
        /// All its flags.
        flags: u8,
    },
    /// Set the page's flags.
    PageFlags(u32),
    /// Add to a 32-bit little-endian counter in a node's data, wrapping.
    DeltaU32 {
        /// Which node.
        line: u16,
        /// Where in the node's data the counter begins, in bytes.
        offset: u16,
        /// What to add.
        delta: i32,
    },
}

/// The edits of one page by one apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageEdits {
    /// Which page.
    pub page: PageNumber,
    /// The page's database time before the apply; redo demands it. Where the first edit is
    /// [`PageEdit::Format`], redo accepts any older page.
    pub dbtime_before: u64,
    /// In order.
    pub edits: Vec<PageEdit>,
}

impl PageEdits {
    /// Whether the edits make the page anew, so that its old content does not matter.
    pub fn rebuilds(&self) -> bool {
        matches!(self.edits.first(), Some(PageEdit::Format { .. }))
    }
}

/// One atomic change of the database: all of its pages or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyRecord {
    /// On whose behalf.
    pub transaction: TransactionId,
    /// The database time that every edited page carries afterwards.
    pub dbtime: u64,
    /// The pages, each at most once.
    pub pages: Vec<PageEdits>,
    /// What becomes of the transaction's undo stack.
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
    /// This apply did what the top of the stack, one push, asks for.
    Pop,
}

/// The logical inverse of an operation, by key, because nodes move between pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undo {
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
    /// A node that was flagged as deleted was inserted again, perhaps with other data.
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
    /// A long value came into being.
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

/// Does one edit. The page is unchanged where it fails.
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
        PageEdit::DeltaU32 {
            line,
            offset,
            delta,
        } => page
            .add_u32(usize::from(*line), usize::from(*offset), *delta)
            .map(drop),
    }
}

/// Does all edits of one page and states the database time of the apply.
pub fn apply_all(page: &mut PageMut<'_>, edits: &[PageEdit], dbtime: u64) -> Result<(), PageError> {
    for edit in edits {
        apply(page, edit)?;
    }
    page.set_dbtime(dbtime);
    Ok(())
}

/// Edits that make a page's content from nothing. Logged in front of the first change of a page
/// since it was last written, they let redo repair a page that a power failure tore.
pub fn rebuild(page: PageRef<'_>) -> Vec<PageEdit> {
    let mut edits = vec![
        PageEdit::Format {
            flags: page.flags() & !page_flags::FLUSH_TYPE,
            objid: page.object(),
        },
        PageEdit::External(page.external_header().to_vec()),
        PageEdit::Links {
            previous: page.previous(),
            next: page.next(),
        },
    ];
    for (line, node) in (0_u16..).zip(page.nodes()) {
        let bytes = page
            .node_bytes(usize::from(line))
            .expect("invariant: the node was just read");
        edits.push(PageEdit::Insert {
            line,
            flags: node.flags,
            node: bytes,
        });
    }
    edits
}

impl ApplyRecord {
    /// Appends the record's bytes to `out`. A one-page node operation costs about as many bytes
    /// besides its key and data as one of ESE's (44 to 60).
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_u32(out, self.transaction.0);
        put_u64(out, self.dbtime);
        self.undo.encode(out);
        put_length(out, self.pages.len());
        for page in &self.pages {
            put_u32(out, page.page.0);
            put_u64(out, page.dbtime_before);
            put_length(out, page.edits.len());
            for edit in &page.edits {
                edit.encode(out);
            }
        }
    }

    pub(crate) fn decode(fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let transaction = TransactionId(fields.u32("transaction")?);
        let dbtime = fields.u64("database time")?;
        let undo = UndoAction::decode(fields)?;
        let page_count = fields.u16("page count")?;
        let mut pages = Vec::new();
        for _ in 0..page_count {
            pages.push(PageEdits::decode(fields)?);
        }
        Ok(Self {
            transaction,
            dbtime,
            pages,
            undo,
        })
    }
}

impl PageEdits {
    fn decode(fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let page = PageNumber(fields.u32("page number")?);
        let dbtime_before = fields.u64("database time before")?;
        let edit_count = fields.u16("edit count")?;
        let mut edits = Vec::new();
        for _ in 0..edit_count {
            edits.push(PageEdit::decode(fields)?);
        }
        Ok(Self {
            page,
            dbtime_before,
            edits,
        })
    }
}

/// First bytes of encoded edits and undo actions. Never reused: old logs hold them.
mod kind {
    pub const FORMAT: u8 = 1;
    pub const EXTERNAL: u8 = 2;
    pub const LINKS: u8 = 3;
    pub const INSERT: u8 = 4;
    pub const REPLACE: u8 = 5;
    pub const REMOVE: u8 = 6;
    pub const NODE_FLAGS: u8 = 7;
    pub const PAGE_FLAGS: u8 = 8;
    pub const DELTA: u8 = 9;

    pub const UNDO_NONE: u8 = 0;
    pub const UNDO_POP: u8 = 1;
    pub const UNDO_PUSH: u8 = 2;

    pub const UNDO_INSERT: u8 = 1;
    pub const UNDO_FLAG_DELETE: u8 = 2;
    pub const UNDO_REPLACE: u8 = 3;
    pub const UNDO_LONG_VALUE_INSERT: u8 = 4;
    pub const UNDO_LONG_VALUE_RELEASE: u8 = 5;
    pub const UNDO_REVIVE: u8 = 6;
}

impl PageEdit {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Format { flags, objid } => {
                out.push(kind::FORMAT);
                put_u32(out, *flags);
                put_u32(out, objid.0);
            }
            Self::External(bytes) => {
                out.push(kind::EXTERNAL);
                put_bytes(out, bytes);
            }
            Self::Links { previous, next } => {
                out.push(kind::LINKS);
                put_u32(out, previous.0);
                put_u32(out, next.0);
            }
            Self::Insert { line, flags, node } => {
                out.push(kind::INSERT);
                put_u16(out, *line);
                out.push(*flags);
                put_bytes(out, node);
            }
            Self::Replace { line, node } => {
                out.push(kind::REPLACE);
                put_u16(out, *line);
                put_bytes(out, node);
            }
            Self::Remove { line, count } => {
                out.push(kind::REMOVE);
                put_u16(out, *line);
                put_u16(out, *count);
            }
            Self::NodeFlags { line, flags } => {
                out.push(kind::NODE_FLAGS);
                put_u16(out, *line);
                out.push(*flags);
            }
            Self::PageFlags(flags) => {
                out.push(kind::PAGE_FLAGS);
                put_u32(out, *flags);
            }
            Self::DeltaU32 {
                line,
                offset,
                delta,
            } => {
                out.push(kind::DELTA);
                put_u16(out, *line);
                put_u16(out, *offset);
                put_u32(out, delta.cast_unsigned());
            }
        }
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        Ok(match fields.u8("edit kind")? {
            kind::FORMAT => Self::Format {
                flags: fields.u32("page flags")?,
                objid: ObjectId(fields.u32("object")?),
            },
            kind::EXTERNAL => Self::External(fields.bytes("external header")?),
            kind::LINKS => Self::Links {
                previous: PageNumber(fields.u32("previous page")?),
                next: PageNumber(fields.u32("next page")?),
            },
            kind::INSERT => Self::Insert {
                line: fields.u16("line")?,
                flags: fields.u8("node flags")?,
                node: fields.bytes("node")?,
            },
            kind::REPLACE => Self::Replace {
                line: fields.u16("line")?,
                node: fields.bytes("node")?,
            },
            kind::REMOVE => Self::Remove {
                line: fields.u16("line")?,
                count: fields.u16("count")?,
            },
            kind::NODE_FLAGS => Self::NodeFlags {
                line: fields.u16("line")?,
                flags: fields.u8("node flags")?,
            },
            kind::PAGE_FLAGS => Self::PageFlags(fields.u32("page flags")?),
            kind::DELTA => Self::DeltaU32 {
                line: fields.u16("line")?,
                offset: fields.u16("offset")?,
                delta: fields.u32("delta")?.cast_signed(),
            },
            _ => return Err(fields.error("edit kind")),
        })
    }
}

impl UndoAction {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::None => out.push(kind::UNDO_NONE),
            Self::Pop => out.push(kind::UNDO_POP),
            Self::Push(undos) => {
                out.push(kind::UNDO_PUSH);
                put_length(out, undos.len());
                for undo in undos {
                    undo.encode(out);
                }
            }
        }
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        match fields.u8("undo action")? {
            kind::UNDO_NONE => Ok(Self::None),
            kind::UNDO_POP => Ok(Self::Pop),
            kind::UNDO_PUSH => {
                let count = fields.u16("undo count")?;
                let mut undos = Vec::new();
                for _ in 0..count {
                    undos.push(Undo::decode(fields)?);
                }
                Ok(Self::Push(undos))
            }
            _ => Err(fields.error("undo action")),
        }
    }
}

impl Undo {
    fn encode(&self, out: &mut Vec<u8>) {
        let (kind, tree) = match self {
            Self::Insert { tree, .. } => (kind::UNDO_INSERT, tree),
            Self::FlagDelete { tree, .. } => (kind::UNDO_FLAG_DELETE, tree),
            Self::Revive { tree, .. } => (kind::UNDO_REVIVE, tree),
            Self::Replace { tree, .. } => (kind::UNDO_REPLACE, tree),
            Self::LongValueInsert { tree, .. } => (kind::UNDO_LONG_VALUE_INSERT, tree),
            Self::LongValueRelease { tree, .. } => (kind::UNDO_LONG_VALUE_RELEASE, tree),
        };
        out.push(kind);
        put_u32(out, tree.0);
        match self {
            Self::Insert { key, data, .. }
            | Self::FlagDelete { key, data, .. }
            | Self::Revive { key, data, .. } => {
                put_bytes(out, key);
                put_bytes(out, data);
            }
            Self::Replace { key, before, .. } => {
                put_bytes(out, key);
                put_bytes(out, before);
            }
            Self::LongValueInsert { long_value, .. }
            | Self::LongValueRelease { long_value, .. } => {
                put_u32(out, *long_value);
            }
        }
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let kind = fields.u8("undo kind")?;
        let tree = ObjectId(fields.u32("tree of an undo")?);
        Ok(match kind {
            kind::UNDO_INSERT => Self::Insert {
                tree,
                key: fields.bytes("key")?,
                data: fields.bytes("data")?,
            },
            kind::UNDO_FLAG_DELETE => Self::FlagDelete {
                tree,
                key: fields.bytes("key")?,
                data: fields.bytes("data")?,
            },
            kind::UNDO_REVIVE => Self::Revive {
                tree,
                key: fields.bytes("key")?,
                data: fields.bytes("data")?,
            },
            kind::UNDO_REPLACE => Self::Replace {
                tree,
                key: fields.bytes("key")?,
                before: fields.bytes("data")?,
            },
            kind::UNDO_LONG_VALUE_INSERT => Self::LongValueInsert {
                tree,
                long_value: fields.u32("long value")?,
            },
            kind::UNDO_LONG_VALUE_RELEASE => Self::LongValueRelease {
                tree,
                long_value: fields.u32("long value")?,
            },
            _ => return Err(fields.error("undo kind")),
        })
    }
}
