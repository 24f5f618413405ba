//! Long values: immutable once inserted; a row that changes its value gets a new one and releases
//! the old.

use ese::long_value::{LongValueId, LongValueKey, LongValueRoot, chunks};
use wal::edit::PageEdit;

use crate::stage::{Halt, Refusal, Stage};
use crate::tree::{self, Tree};

/// Longest value, in bytes: one insert is one log record, which must fit a generation.
pub const LONGEST_VALUE: usize = 256 << 10;

/// Inserts a value with one reference.
pub(crate) fn insert(
    stage: &mut Stage<'_>,
    tree: &Tree,
    id: LongValueId,
    value: &[u8],
) -> Result<(), Halt> {
    if value.len() > LONGEST_VALUE {
        let refusal = Refusal::TooLarge { bytes: value.len(), most: LONGEST_VALUE };
        return Err(Halt::Refused(refusal));
    }
    let bytes = u32::try_from(value.len()).expect("invariant: the length was checked");
    let root = LongValueRoot { references: 1, bytes }.encode();
    let root_key = id.root_key();
    let cut: Vec<([u8; 8], &[u8])> = chunks(value, stage.page_size())
        .map(|(offset, chunk)| (id.chunk_key(offset), chunk))
        .collect();
    let mut nodes: Vec<(&[u8], &[u8])> = Vec::with_capacity(cut.len() + 1);
    nodes.push((&root_key, &root));
    nodes.extend(cut.iter().map(|(key, chunk)| (&key[..], *chunk)));
    tree::insert_run(stage, tree, &nodes)
}

/// Adds to the number of references.
pub(crate) fn add_references(
    stage: &mut Stage<'_>,
    tree: &Tree,
    id: LongValueId,
    delta: i32,
) -> Result<(), Halt> {
    let position = tree::seek(stage, tree, &id.root_key(), &[])?;
    let leaf = position.path.leaf;
    let Ok(line) = position.line else {
        let problem = "a long value that a record refers to is missing";
        return Err(Halt::Damaged { page: leaf, problem });
    };
    let offset = u16::try_from(LongValueRoot::REFERENCES_OFFSET).expect("invariant: a small field");
    stage.edit(leaf, PageEdit::DeltaU32 { line, offset, delta })
}

/// Removes a value, root and chunks.
pub(crate) fn remove(stage: &mut Stage<'_>, tree: &Tree, id: LongValueId) -> Result<(), Halt> {
    tree::remove_prefix(stage, tree, &id.root_key()).map(drop)
}

/// Reference count of a value; `None` if there is no such value.
pub(crate) fn references(
    stage: &mut Stage<'_>,
    tree: &Tree,
    id: LongValueId,
) -> Result<Option<u32>, Halt> {
    let root = tree::get(stage, tree, &id.root_key(), |_, data| LongValueRoot::decode(data))?;
    Ok(root.flatten().map(|root| root.references))
}

/// Reads a value into `value`; false if it does not exist.
pub(crate) fn read(
    stage: &mut Stage<'_>,
    tree: &Tree,
    id: LongValueId,
    value: &mut Vec<u8>,
) -> Result<bool, Halt> {
    value.clear();
    let root_key = id.root_key();
    let root = tree::get(stage, tree, &root_key, |_, data| LongValueRoot::decode(data))?;
    let Some(root) = root.flatten() else {
        return Ok(false);
    };
    let mut from = root_key.to_vec();
    while value.len() < root.bytes as usize {
        let (start, before) = (from.clone(), value.len());
        tree::walk(stage, tree, (&start, &[]), true, |node| {
            node.key_into(&mut from);
            let belongs = from.starts_with(&root_key);
            if belongs {
                value.extend_from_slice(node.data);
            }
            belongs
        })?;
        if value.len() == before {
            let problem = "a long value lacks chunks";
            return Err(Halt::Damaged { page: tree.root, problem });
        }
    }
    Ok(true)
}

/// The number for the next value: one above the highest in the tree.
pub(crate) fn next_id(stage: &mut Stage<'_>, tree: &Tree) -> Result<u32, Halt> {
    let mut key = Vec::new();
    if !tree::last_key(stage, tree, &mut key)? {
        return Ok(1);
    }
    let last = match LongValueKey::decode(&key) {
        Some(LongValueKey::Root(id) | LongValueKey::Chunk(id, _)) => u32::try_from(id.0).ok(),
        None => None,
    };
    let problem = "a long value whose number this format does not have";
    let damaged = Halt::Damaged { page: tree.root, problem };
    last.and_then(|last| last.checked_add(1)).ok_or(damaged)
}
