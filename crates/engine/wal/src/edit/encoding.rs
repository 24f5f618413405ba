//! Encodes applies as bytes of the log: `docs/format-log.md` has the table.
//!
//! Small and repeated values take little room: numbers have as many bytes as they need, database
//! times are stored as differences, keys without the prefix they share. The same record always has
//! the same bytes, and no other bytes decode to it.

use units::{ObjectId, PageNumber};

use super::{ApplyRecord, PageEdit, PageEdits, TransactionId, Undo, UndoAction};
use crate::codec::{DecodeError, Fields, put_bytes, put_length, put_number};

/// Low halves of the first bytes of edits and undos; the high half is the node's flags, or
/// [`kind::HAS_DATA`]. Never reused: old logs hold them.
mod kind {
    pub(super) const FORMAT: u8 = 1;
    pub(super) const EXTERNAL: u8 = 2;
    pub(super) const LINKS: u8 = 3;
    pub(super) const INSERT: u8 = 4;
    pub(super) const REPLACE: u8 = 5;
    pub(super) const REMOVE: u8 = 6;
    pub(super) const NODE_FLAGS: u8 = 7;
    pub(super) const PAGE_FLAGS: u8 = 8;
    pub(super) const DELTA: u8 = 9;

    pub(super) const UNDO_INSERT: u8 = 1;
    pub(super) const UNDO_FLAG_DELETE: u8 = 2;
    pub(super) const UNDO_REPLACE: u8 = 3;
    pub(super) const UNDO_LONG_VALUE_INSERT: u8 = 4;
    pub(super) const UNDO_LONG_VALUE_RELEASE: u8 = 5;
    pub(super) const UNDO_REVIVE: u8 = 6;
    pub(super) const UNDO_INSERT_ROW: u8 = 7;

    /// The undo of a node holds its old data.
    pub(super) const HAS_DATA: u8 = 1;
}

/// Undo actions. The number of undos pushed is added to `PUSH`.
mod action {
    pub(super) const NONE: usize = 0;
    pub(super) const POP: usize = 1;
    pub(super) const PUSH: usize = 2;
}

impl ApplyRecord {
    /// Appends the record's bytes to `out`.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_number(out, self.transaction.0);
        put_number(out, self.dbtime);
        self.undo.encode(out);
        put_length(out, self.pages.len());
        for page in &self.pages {
            page.encode(self.dbtime, out);
        }
    }

    pub(crate) fn decode(fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let transaction = TransactionId(fields.number("transaction")?);
        let dbtime = fields.number("database time")?;
        let undo = UndoAction::decode(fields)?;
        let page_count: usize = fields.number("page count")?;
        let mut pages = Vec::new();
        for _ in 0..page_count {
            pages.push(PageEdits::decode(dbtime, fields)?);
        }
        Ok(Self { transaction, dbtime, pages, undo })
    }
}

impl PageEdits {
    fn encode(&self, dbtime: u64, out: &mut Vec<u8>) {
        put_number(out, self.page.0);
        put_number(out, dbtime.wrapping_sub(self.dbtime_before));
        put_length(out, self.edits.len());
        for edit in &self.edits {
            edit.encode(out);
        }
    }

    fn decode(dbtime: u64, fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let page = PageNumber(fields.number("page number")?);
        let distance: u64 = fields.number("database time before")?;
        let edit_count: usize = fields.number("edit count")?;
        let mut edits = Vec::new();
        for _ in 0..edit_count {
            edits.push(PageEdit::decode(fields)?);
        }
        Ok(Self { page, dbtime_before: dbtime.wrapping_sub(distance), edits })
    }
}

/// Writes a first byte: the kind and, above it, flags below 16.
fn put_kind(out: &mut Vec<u8>, kind: u8, flags: u8) {
    assert!(flags < 16, "a node has four flags");
    out.push(flags << 4 | kind);
}

impl PageEdit {
    fn encode(&self, out: &mut Vec<u8>) {
        let (kind, flags) = self.kind();
        put_kind(out, kind, flags);
        match self {
            Self::Format { flags, objid } => {
                put_number(out, *flags);
                put_number(out, objid.0);
            }
            Self::External(bytes) => put_bytes(out, bytes),
            Self::Links { previous, next } => {
                put_number(out, previous.0);
                put_number(out, next.0);
            }
            Self::Insert { line, node, .. } | Self::Replace { line, node } => {
                put_number(out, *line);
                put_bytes(out, node);
            }
            Self::Remove { line, count } => {
                put_number(out, *line);
                put_number(out, *count);
            }
            Self::NodeFlags { line, .. } => put_number(out, *line),
            Self::PageFlags(flags) => put_number(out, *flags),
            Self::DeltaU32 { line, offset, delta } => {
                put_number(out, *line);
                put_number(out, *offset);
                put_number(out, zigzag(*delta));
            }
        }
    }

    const fn kind(&self) -> (u8, u8) {
        match self {
            Self::Format { .. } => (kind::FORMAT, 0),
            Self::External(_) => (kind::EXTERNAL, 0),
            Self::Links { .. } => (kind::LINKS, 0),
            Self::Insert { flags, .. } => (kind::INSERT, *flags),
            Self::Replace { .. } => (kind::REPLACE, 0),
            Self::Remove { .. } => (kind::REMOVE, 0),
            Self::NodeFlags { flags, .. } => (kind::NODE_FLAGS, *flags),
            Self::PageFlags(_) => (kind::PAGE_FLAGS, 0),
            Self::DeltaU32 { .. } => (kind::DELTA, 0),
        }
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let first = fields.u8("edit kind")?;
        let (kind, flags) = (first & 0xF, first >> 4);
        Ok(match (kind, flags) {
            (kind::INSERT, _) => {
                Self::Insert { line: fields.number("line")?, flags, node: fields.bytes("node")? }
            }
            (kind::NODE_FLAGS, _) => Self::NodeFlags { line: fields.number("line")?, flags },
            (kind::FORMAT, 0) => Self::Format {
                flags: fields.number("page flags")?,
                objid: ObjectId(fields.number("object")?),
            },
            (kind::EXTERNAL, 0) => Self::External(fields.bytes("external header")?),
            (kind::LINKS, 0) => Self::Links {
                previous: PageNumber(fields.number("previous page")?),
                next: PageNumber(fields.number("next page")?),
            },
            (kind::REPLACE, 0) => {
                Self::Replace { line: fields.number("line")?, node: fields.bytes("node")? }
            }
            (kind::REMOVE, 0) => {
                Self::Remove { line: fields.number("line")?, count: fields.number("count")? }
            }
            (kind::PAGE_FLAGS, 0) => Self::PageFlags(fields.number("page flags")?),
            (kind::DELTA, 0) => Self::DeltaU32 {
                line: fields.number("line")?,
                offset: fields.number("offset")?,
                delta: unzigzag(fields.number("delta")?),
            },
            _ => return Err(fields.error("edit kind")),
        })
    }
}

/// Maps numbers near zero of either sign to small unsigned ones.
const fn zigzag(delta: i32) -> u32 {
    (delta << 1 ^ delta >> 31).cast_unsigned()
}

const fn unzigzag(number: u32) -> i32 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

impl UndoAction {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::None => put_length(out, action::NONE),
            Self::Pop => put_length(out, action::POP),
            Self::Push(undos) => {
                put_length(out, action::PUSH + undos.len());
                let mut last: &[u8] = &[];
                for undo in undos {
                    undo.encode(&mut last, out);
                }
            }
        }
    }

    fn decode(fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let count = match fields.number("undo action")? {
            action::NONE => return Ok(Self::None),
            action::POP => return Ok(Self::Pop),
            pushed => pushed - action::PUSH,
        };
        let mut undos = Vec::new();
        let mut last = Vec::new();
        for _ in 0..count {
            undos.push(Undo::decode(&mut last, fields)?);
        }
        Ok(Self::Push(undos))
    }
}

impl Undo {
    /// `last` is the string written last; the next one may share its prefix.
    fn encode<'a>(&'a self, last: &mut &'a [u8], out: &mut Vec<u8>) {
        let (kind, tree, body) = self.parts();
        let has_data = matches!(body, Body::Node { data, .. } if !data.is_empty());
        put_kind(out, kind, if has_data { kind::HAS_DATA } else { 0 });
        put_number(out, tree.0);
        match body {
            Body::LongValue(number) => put_number(out, number),
            Body::Node { key, data } => {
                put_news(last, key, out);
                if has_data {
                    put_news(last, data, out);
                }
            }
        }
    }

    fn parts(&self) -> (u8, ObjectId, Body<'_>) {
        match self {
            Self::InsertRow { tree, key } => {
                (kind::UNDO_INSERT_ROW, *tree, Body::Node { key, data: &[] })
            }
            Self::Insert { tree, key, data } => {
                (kind::UNDO_INSERT, *tree, Body::Node { key, data })
            }
            Self::FlagDelete { tree, key, data } => {
                (kind::UNDO_FLAG_DELETE, *tree, Body::Node { key, data })
            }
            Self::Revive { tree, key, data } => {
                (kind::UNDO_REVIVE, *tree, Body::Node { key, data })
            }
            Self::Replace { tree, key, before } => {
                (kind::UNDO_REPLACE, *tree, Body::Node { key, data: before })
            }
            Self::LongValueInsert { tree, long_value } => {
                let body = Body::LongValue(*long_value);
                (kind::UNDO_LONG_VALUE_INSERT, *tree, body)
            }
            Self::LongValueRelease { tree, long_value } => {
                let body = Body::LongValue(*long_value);
                (kind::UNDO_LONG_VALUE_RELEASE, *tree, body)
            }
        }
    }

    fn decode(last: &mut Vec<u8>, fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let first = fields.u8("undo kind")?;
        let (kind, flags) = (first & 0xF, first >> 4);
        let tree = ObjectId(fields.number("tree of an undo")?);
        match (kind, flags) {
            (kind::UNDO_LONG_VALUE_INSERT, 0) => {
                let long_value = fields.number("long value")?;
                return Ok(Self::LongValueInsert { tree, long_value });
            }
            (kind::UNDO_LONG_VALUE_RELEASE, 0) => {
                let long_value = fields.number("long value")?;
                return Ok(Self::LongValueRelease { tree, long_value });
            }
            _ => {}
        }
        let key = news(last, fields)?;
        let data = match flags {
            0 => Vec::new(),
            kind::HAS_DATA => news(last, fields)?,
            _ => return Err(fields.error("undo kind")),
        };
        if flags == kind::HAS_DATA && data.is_empty() {
            return Err(fields.error("data"));
        }
        Ok(match (kind, flags) {
            (kind::UNDO_INSERT_ROW, 0) => Self::InsertRow { tree, key },
            (kind::UNDO_INSERT, _) => Self::Insert { tree, key, data },
            (kind::UNDO_FLAG_DELETE, _) => Self::FlagDelete { tree, key, data },
            (kind::UNDO_REVIVE, _) => Self::Revive { tree, key, data },
            (kind::UNDO_REPLACE, _) => {
                let before = data;
                Self::Replace { tree, key, before }
            }
            _ => return Err(fields.error("undo kind")),
        })
    }
}

/// Fields of an undo besides its tree.
#[derive(Clone, Copy)]
enum Body<'a> {
    Node { key: &'a [u8], data: &'a [u8] },
    LongValue(u32),
}

/// Length of the common prefix of two strings.
fn shared(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

/// Writes a string as the length of the prefix shared with the last one, and the rest.
fn put_news<'a>(last: &mut &'a [u8], string: &'a [u8], out: &mut Vec<u8>) {
    let shared = shared(last, string);
    put_length(out, shared);
    put_bytes(out, &string[shared..]);
    *last = string;
}

fn news(last: &mut Vec<u8>, fields: &mut Fields<'_>) -> Result<Vec<u8>, DecodeError> {
    let repeated = fields.number("length in common")?;
    let Some(front) = last.get(..repeated) else {
        return Err(fields.error("length in common"));
    };
    let string = [front, &fields.bytes("string")?].concat();
    if shared(last, &string) != repeated {
        return Err(fields.error("length in common"));
    }
    last.clone_from(&string);
    Ok(string)
}
