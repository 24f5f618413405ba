//! Redo of splits: a page gives nodes to a new one, and its parent gets a pointer to the new page.
//!
//! A macro holds one record per level, starting at the root, and last the change for which the leaf
//! had no room.

use std::borrow::Cow;

use ese::Lgpos;
use ese::page::{PageError, PageMut, PageRef, node_flags, page_flags};
use units::PageNumber;

use super::edit::{self, NodeCopy};
use super::image;
use super::session::VERSIONED;
use super::undo_version::Undoable;
use super::{BehindCause, LogReplay, PageStore};
use crate::layout::{Field, Part, types};
use crate::record::LogRecord;

/// Kinds of split.
const VERTICAL: u64 = 0;
const APPEND: u64 = 2;
/// Operations that a split may carry.
const INSERT: u64 = 1;
const FLAG_INSERT_REPLACE: u64 = 3;

/// The change that a split makes room for.
#[derive(Clone, Debug)]
struct SplitChange {
    kind: u64,
    line: usize,
    node: NodeCopy,
}

/// One level of a split, with the changes to its nodes.
struct SplitLevel<'r> {
    record: &'r LogRecord<'static>,
    operation: Option<SplitChange>,
    /// The page that the level below created, and the index of its pointer in the joined nodes.
    pointer: Option<(usize, PageNumber)>,
}

/// The two halves of the joined nodes.
struct Halves {
    old: Vec<NodeCopy>,
    new: Vec<NodeCopy>,
    new_prefix: Vec<u8>,
}

impl<S: PageStore> LogReplay<S> {
    pub(super) fn redo_split(&mut self, records: &[LogRecord<'static>]) -> Result<(), S::Error> {
        let levels: Vec<&LogRecord<'static>> =
            records.iter().filter(|record| record.kind() == types::SPLIT).collect();
        let change = records.iter().find(|record| is_change(record));
        for (index, record) in levels.iter().enumerate() {
            let child = levels.get(index + 1).copied();
            if record.page(Field::NewPage).is_some() {
                self.redo_level(record, child, change)?;
            } else if let Some(child) = child {
                self.add_pointer(record, child)?;
            }
        }
        Ok(())
    }

    /// Updates the parent of a split page: it gets a pointer to each half.
    fn add_pointer(
        &mut self,
        record: &LogRecord<'_>,
        child: &LogRecord<'_>,
    ) -> Result<(), S::Error> {
        let (page, place, after) = (record.page(Field::Page), record.place(), dbtime(record));
        let before = record.number(Field::DbtimeBefore);
        let Some(mut bytes) = self.open(page, before, after, place)? else {
            return Ok(());
        };
        let key = child.part(Part::ParentKey);
        let line = first_pointer_from(PageRef::new(&bytes), key);
        let pointer = edit::pointer(key, child.page(Field::Page));
        let new = child.page(Field::NewPage).0.to_le_bytes();
        let done = edit::whole(&mut bytes, |bytes| {
            edit::insert(bytes, line, &pointer)?;
            edit::replace_data(bytes, line + 1, &new)
        });
        self.close(page, bytes, after, place, done)
    }

    fn redo_level(
        &mut self,
        record: &LogRecord<'static>,
        child: Option<&LogRecord<'static>>,
        change: Option<&LogRecord<'static>>,
    ) -> Result<(), S::Error> {
        let (page, new, place) =
            (record.page(Field::Page), record.page(Field::NewPage), record.place());
        let (before, after) = (record.number(Field::DbtimeBefore), dbtime(record));
        let is_leaf = record.word(Field::NewPageFlags) & page_flags::LEAF != 0;
        let level = SplitLevel::of(record, child, change.filter(|_| is_leaf), is_leaf);
        let is_new_needed = self.is_to_renew(new, after)?;
        let old = self.open(page, before, after, place)?;
        if is_leaf && let Some(change) = change {
            self.remember_change(change, &level, old.as_deref())?;
        }
        let source = match &old {
            Some(bytes) => Some(bytes.clone()),
            None if is_new_needed && !level.is_self_contained() => {
                image::of_record(record, self.pages.page_size())
            }
            None => None,
        };
        if is_new_needed {
            self.make_new(&level, source.as_deref())?;
        }
        if let Some(bytes) = old {
            let mut changed = bytes.clone();
            match level.change_old(&mut changed) {
                Ok(()) => self.close(page, changed, after, place, Ok(()))?,
                Err(error) => self.close(page, bytes, after, place, Err(error))?,
            }
        }
        self.link_right(record)
    }

    /// Makes the new page from `source`, or from the change alone.
    fn make_new(&mut self, level: &SplitLevel<'_>, source: Option<&[u8]>) -> Result<(), S::Error> {
        let record = level.record;
        let (new, place): (PageNumber, Lgpos) = (record.page(Field::NewPage), record.place());
        let halves = match source {
            Some(bytes) => level.halves(bytes),
            None => level.change_alone().ok_or(PageError::NoLine { line: 0, nodes: 0 }),
        };
        let flags = record.word(Field::NewPageFlags);
        let mut bytes = edit::fresh(self.pages.page_size(), flags, record.object());
        let made = halves
            .and_then(|halves| edit::rebuild(&mut bytes, Some(&halves.new_prefix), &halves.new));
        if source.is_none() && made.is_err() {
            let cause = BehindCause::DependsOn(record.page(Field::Page));
            self.leave_behind(new, place, cause);
            return Ok(());
        }
        if flags & page_flags::LEAF != 0 && record.number(Field::SplitKind) != VERTICAL {
            PageMut::new(&mut bytes)
                .set_links(record.page(Field::Page), record.page(Field::RightPage));
        }
        self.renew_or_leave(new, bytes, record, made)
    }

    /// Updates the back link of the page after the split one.
    fn link_right(&mut self, record: &LogRecord<'_>) -> Result<(), S::Error> {
        let (right, place, after) = (record.page(Field::RightPage), record.place(), dbtime(record));
        let is_leaf = record.word(Field::NewPageFlags) & page_flags::LEAF != 0;
        if !right.is_some() || !is_leaf || record.number(Field::SplitKind) == VERTICAL {
            return Ok(());
        }
        let before = record.number(Field::RightBefore);
        if let Some(mut bytes) = self.open(right, before, after, place)? {
            edit::set_previous(&mut bytes, record.page(Field::NewPage));
            self.close(right, bytes, after, place, Ok(()))?;
        }
        Ok(())
    }

    /// Notes the change that came with a split for undo.
    fn remember_change(
        &mut self,
        change: &LogRecord<'static>,
        level: &SplitLevel<'_>,
        old: Option<&[u8]>,
    ) -> Result<(), S::Error> {
        if change.number(Field::Flags) & VERSIONED == 0 {
            return Ok(());
        }
        let number = change.word(Field::Version);
        if change.kind() != types::REPLACE {
            let key = [change.part(Part::KeyPrefix), change.part(Part::Key)].map(Cow::Borrowed);
            let data = Cow::Borrowed(change.part(Part::Data));
            self.remember(change, number, key, data, Undoable::Insert)?;
        }
        let number = match change.kind() {
            types::REPLACE => number,
            types::FLAG_INSERT_REPLACE => change.word(Field::ReplaceVersion),
            _ => return Ok(()),
        };
        let line = level.operation.as_ref().map_or(usize::MAX, |operation| operation.line);
        let Some(node) = old.and_then(|bytes| PageRef::new(bytes).node(line)) else {
            return Ok(());
        };
        let key = [node.prefix, node.suffix].map(Cow::Borrowed);
        let before = Undoable::Replace { before: Cow::Borrowed(node.data) };
        self.remember(change, number, key, Cow::Borrowed(&[]), before)
    }
}

/// Whether a record is the change that a split makes room for.
fn is_change(record: &LogRecord<'_>) -> bool {
    matches!(record.kind(), types::INSERT | types::REPLACE | types::FLAG_INSERT_REPLACE)
}

/// Returns the first pointer of a branch page whose key is not below `key`. The last one may have
/// no key and then sorts after all others.
fn first_pointer_from(page: PageRef<'_>, key: &[u8]) -> usize {
    let (mut low, mut high) = (0, page.node_count());
    while low < high {
        let middle = low.midpoint(high);
        let found = page.node(middle).map(|node| node.key()).unwrap_or_default();
        if !found.is_empty() && found.as_slice() < key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Returns the database time after a record's change.
fn dbtime(record: &LogRecord<'_>) -> u64 {
    record.number(Field::Dbtime)
}

impl<'r> SplitLevel<'r> {
    fn of(
        record: &'r LogRecord<'static>,
        child: Option<&LogRecord<'static>>,
        change: Option<&LogRecord<'static>>,
        is_leaf: bool,
    ) -> Self {
        let line = record.size(Field::OperationLine);
        let kind = record.number(Field::SplitOperation);
        let node = if is_leaf {
            change.map(node_of_change)
        } else {
            child.map(|child| edit::pointer(child.part(Part::ParentKey), child.page(Field::Page)))
        };
        let operation = node.filter(|_| kind != 0).map(|node| SplitChange { kind, line, node });
        let pointer =
            child.filter(|_| !is_leaf).map(|child| (line + 1, child.page(Field::NewPage)));
        Self { record, operation, pointer }
    }

    /// Whether the new page receives only the changed node, so that redo can rebuild it without the
    /// old page.
    fn is_self_contained(&self) -> bool {
        let line = self.record.number(Field::SplitLine);
        let is_last = line + 1 == self.record.number(Field::Lines)
            && line == self.record.number(Field::OperationLine)
            && self.record.number(Field::SplitOperation) == INSERT;
        self.record.number(Field::SplitKind) == APPEND
            || (self.record.number(Field::SplitKind) != VERTICAL && is_last)
    }

    fn change_alone(&self) -> Option<Halves> {
        let operation = self.operation.as_ref().filter(|_| self.is_self_contained())?;
        let is_prefix = self.record.signed(Field::NewPrefixLine) == 0;
        let new_prefix = if is_prefix { operation.node.key.clone() } else { Vec::new() };
        Some(Halves { old: Vec::new(), new: vec![operation.node.clone()], new_prefix })
    }

    /// The nodes of the page before the split, with the change applied, in two halves.
    fn halves(&self, bytes: &[u8]) -> Result<Halves, PageError> {
        let mut joined = edit::nodes(bytes)?;
        self.operate(&mut joined)?;
        let nodes = joined.len();
        if let Some((line, page)) = self.pointer {
            let node = joined.get_mut(line).ok_or(PageError::NoLine { line, nodes })?;
            node.data = page.0.to_le_bytes().to_vec();
        }
        let line = self.record.size(Field::SplitLine);
        if line > nodes {
            return Err(PageError::NoLine { line, nodes });
        }
        let new = joined.split_off(line);
        let prefix_line = self.record.signed(Field::NewPrefixLine);
        let prefix = usize::try_from(prefix_line).ok().and_then(|line| new.get(line));
        let new_prefix = prefix.map(|node| node.key.clone()).unwrap_or_default();
        Ok(Halves { old: joined, new, new_prefix })
    }

    fn operate(&self, joined: &mut Vec<NodeCopy>) -> Result<(), PageError> {
        let Some(SplitChange { kind, line, node }) = &self.operation else {
            return Ok(());
        };
        let (line, nodes) = (*line, joined.len());
        if *kind == INSERT && line <= nodes {
            joined.insert(line, node.clone());
            return Ok(());
        }
        let old = joined.get_mut(line).ok_or(PageError::NoLine { line, nodes })?;
        old.data.clone_from(&node.data);
        old.flags |= node.flags;
        if *kind == FLAG_INSERT_REPLACE {
            old.flags &= !node_flags::DELETED;
        }
        Ok(())
    }

    /// Applies the split to the old page.
    fn change_old(&self, bytes: &mut [u8]) -> Result<(), PageError> {
        let record = self.record;
        let new = record.page(Field::NewPage);
        let kind = record.number(Field::SplitKind);
        if kind == VERTICAL {
            edit::rebuild(bytes, None, &[edit::pointer(&[], new)])?;
            let kept =
                PageRef::new(bytes).flags() & (page_flags::FDP_DELETE | page_flags::FLUSH_TYPE);
            let flags = record.word(Field::SplitPageFlags) & !page_flags::FLUSH_TYPE;
            PageMut::new(bytes).set_flags(flags | kept | page_flags::ALWAYS);
            return Ok(());
        }
        if kind != APPEND {
            let halves = self.halves(bytes)?;
            edit::rebuild(bytes, Some(record.part(Part::NewPrefix)), &halves.old)?;
        }
        if PageRef::new(bytes).is_leaf() {
            edit::set_next(bytes, new);
        }
        Ok(())
    }
}

/// The node that a leaf's change makes.
fn node_of_change(change: &LogRecord<'static>) -> NodeCopy {
    let is_versioned = change.number(Field::Flags) & VERSIONED != 0;
    NodeCopy {
        flags: if is_versioned { node_flags::VERSIONED } else { 0 },
        key: [change.part(Part::KeyPrefix), change.part(Part::Key)].concat(),
        data: change.part(Part::Data).to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::convert::Infallible;

    use ese::header::DatabaseHeader;
    use ese::page::{PageRef, PageSize, page_flags};
    use ese::{Lgpos, Signature};
    use units::{ObjectId, PageNumber};

    use super::super::pages::StoredPage;
    use super::super::{BehindCause, LogReplay, PageStore, edit};
    use crate::layout::{Field, find, types};
    use crate::record::LogRecord;

    const PARENT: PageNumber = PageNumber(3);
    /// Database times of the parent before and after the split.
    const TIMES: [u32; 2] = [10, 11];
    /// Bytes of the fixed fields of a split.
    const FIXED_BYTES: usize = 110;

    /// Pointers of a branch page: key and child.
    type Pointers = Vec<(Vec<u8>, u32)>;

    /// A store with the parent alone: both halves of the split page are missing.
    struct ParentStore(Vec<u8>);

    impl PageStore for ParentStore {
        type Error = Infallible;

        fn page_size(&self) -> PageSize {
            PageSize::KIB_8
        }

        fn read(&mut self, number: PageNumber) -> Result<StoredPage, Infallible> {
            let is_parent = number == PARENT;
            Ok(if is_parent { StoredPage::Sound(self.0.clone()) } else { StoredPage::Absent })
        }

        fn write(&mut self, number: PageNumber, bytes: &[u8]) -> Result<(), Infallible> {
            assert_eq!(number, PARENT);
            self.0 = bytes.to_vec();
            Ok(())
        }

        fn resize(&mut self, _: PageNumber) -> Result<(), Infallible> {
            Ok(())
        }

        fn last_page(&self) -> PageNumber {
            PARENT
        }

        fn set_aside(&mut self, _: u64, _: &[u8]) -> Result<(), Infallible> {
            Ok(())
        }

        fn bring_back(&mut self, _: u64, _: &mut [u8]) -> Result<(), Infallible> {
            Ok(())
        }
    }

    fn split(fields: &[(Field, u32)], parent_key: &[u8]) -> LogRecord<'static> {
        let mut bytes = vec![0; FIXED_BYTES];
        bytes[0] = types::SPLIT;
        for (field, number) in fields {
            let at = find(types::SPLIT, *field).expect("a field of splits").at;
            bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(parent_key);
        LogRecord::new(Lgpos::default(), Cow::Owned(bytes))
    }

    fn pointers(bytes: &[u8]) -> Pointers {
        let nodes = edit::nodes(bytes).expect("sound nodes").into_iter();
        let child = |data: Vec<u8>| u32::from_le_bytes(data.try_into().expect("four bytes"));
        nodes.map(|node| (node.key, child(node.data))).collect()
    }

    /// The parent with these pointers after page `old` has given nodes to page 9: those from `key`
    /// on. Also the cause if the parent stays behind.
    fn after_split(
        before: &[(&[u8], u32)],
        (key, old): (&[u8], u32),
    ) -> (Pointers, Option<BehindCause>) {
        let mut parent = edit::fresh(PageSize::KIB_8, page_flags::PARENT_OF_LEAF, ObjectId(2));
        edit::set_dbtime(&mut parent, u64::from(TIMES[0]));
        for (line, (key, child)) in before.iter().enumerate() {
            let pointer = edit::pointer(key, PageNumber(*child));
            edit::insert(&mut parent, line, &pointer).expect("room for a pointer");
        }
        let header = DatabaseHeader::new(PageSize::KIB_8, Signature::default());
        let mut replay = LogReplay::new(ParentStore(parent), &header, 1 << 20);
        let times = [(Field::DbtimeBefore, TIMES[0]), (Field::Dbtime, TIMES[1])];
        let of_parent = split(&[&times[..], &[(Field::Page, PARENT.0)]].concat(), &[]);
        let bytes = u32::try_from(key.len()).expect("a short key");
        let of_child = [(Field::Page, old), (Field::NewPage, 9), (Field::ParentKeyBytes, bytes)];
        let Ok(()) = replay.redo_split(&[of_parent, split(&of_child, key)]);
        let Ok((store, summary)) = replay.finish();
        let cause = summary.behind.get(&PARENT).map(|behind| behind.cause);
        let is_changed = PageRef::new(&store.0).dbtime() == u64::from(TIMES[1]);
        assert_eq!(is_changed, cause.is_none(), "{cause:?}");
        (pointers(&store.0), cause)
    }

    fn owned(pointers: &[(&[u8], u32)]) -> Pointers {
        pointers.iter().map(|(key, child)| (key.to_vec(), *child)).collect()
    }

    /// A pointer's key is above all keys of its child.
    #[test]
    fn the_old_half_gets_a_new_key_and_the_new_half_the_key_of_both() {
        let parent: [(&[u8], u32); 3] = [(b"c", 5), (b"m", 7), (b"", 8)];
        let between = owned(&[(b"c", 5), (b"f", 7), (b"m", 9), (b"", 8)]);
        assert_eq!(after_split(&parent, (b"f", 7)), (between, None));
        let last = owned(&[(b"c", 5), (b"m", 7), (b"q", 8), (b"", 9)]);
        assert_eq!(after_split(&parent, (b"q", 8)), (last, None), "the last pointer has no key");
    }

    #[test]
    fn a_parent_without_the_pointer_to_the_old_half_stays_behind_unchanged() {
        let (pointers, cause) = after_split(&[(b"c", 5)], (b"f", 7));
        assert!(matches!(cause, Some(BehindCause::Impossible(_))), "{cause:?}");
        assert_eq!(pointers, owned(&[(b"c", 5)]));
    }
}
