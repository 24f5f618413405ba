//! The changes of one transaction that may have to be undone, in memory as far as they fit and in
//! the store beyond that.
//!
//! Each has a number, and they are undone from the highest to the lowest. A change may be noted
//! twice, by its record and by the undo information that an engine wrote later: the first counts.

use std::collections::BTreeMap;

use super::pages::PageStore;
use super::undo_run::UndoRun;
use super::undo_version::{UndoVersion, Undoable};

/// Level of every change outside a nested transaction; needs no list.
const OUTERMOST: u8 = 1;

/// A version in memory.
#[derive(Clone, Copy, Debug)]
struct StoredAt {
    level: u8,
    at: usize,
    bytes: usize,
}

/// Memory per version in addition to its stored form.
const OVERHEAD_BYTES: usize = 48;
/// Memory that a session keeps for its next transaction.
const KEPT_BYTES: usize = 64 << 10;

/// The changes of one transaction.
#[derive(Debug, Default)]
pub(super) struct UndoLog {
    /// By number.
    versions: BTreeMap<u32, StoredAt>,
    /// Stored forms.
    stored: Vec<u8>,
    /// Numbers of versions in memory above the outermost level, by level.
    nested: BTreeMap<u8, Vec<u32>>,
    /// Versions in the store, the first noted first.
    runs: Vec<UndoRun>,
}

impl UndoLog {
    /// Memory in use.
    pub(super) fn bytes(&self) -> usize {
        self.stored.len() + self.versions.len() * OVERHEAD_BYTES
    }

    pub(super) const fn has_runs(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Notes a change, unless its number has been noted already.
    pub(super) fn remember(&mut self, version: &UndoVersion<'_>) {
        let (number, level, at) = (version.number, version.level, self.stored.len());
        if self.versions.contains_key(&number) {
            return;
        }
        version.store(&mut self.stored);
        let bytes = self.stored.len() - at;
        self.versions.insert(number, StoredAt { level, at, bytes });
        if level > OUTERMOST {
            self.nested.entry(level).or_default().push(number);
        }
    }

    /// Moves everything in memory to the store at `at`, and advances `at` past it.
    pub(super) fn spill<S: PageStore>(
        &mut self,
        store: &mut S,
        at: &mut u64,
    ) -> Result<(), S::Error> {
        let versions = self.versions.values();
        let stored = versions.map(|one| (one.level, &self.stored[one.at..one.at + one.bytes]));
        let run = UndoRun::write(stored, store, at)?;
        self.runs.push(run);
        self.versions.clear();
        self.nested.clear();
        self.stored = Vec::new();
        Ok(())
    }

    pub(super) fn clear(&mut self) {
        self.versions.clear();
        self.nested.clear();
        self.runs.clear();
        self.stored.clear();
        self.stored.shrink_to(KEPT_BYTES);
    }

    /// Changes above this level now belong to it.
    pub(super) fn commit(&mut self, level: u8) {
        let above = self.nested.split_off(&level.saturating_add(1));
        for number in above.into_values().flatten() {
            if let Some(version) = self.versions.get_mut(&number) {
                version.level = level;
                if level > OUTERMOST {
                    self.nested.entry(level).or_default().push(number);
                }
            }
        }
        self.runs.iter_mut().for_each(|run| run.commit(level));
    }

    /// Drops changes above this level, which records have undone.
    pub(super) fn roll_back(&mut self, level: u8) {
        if level < OUTERMOST {
            self.clear();
            return;
        }
        let above = self.nested.split_off(&level.saturating_add(1));
        for number in above.into_values().flatten() {
            self.versions.remove(&number);
        }
        self.runs.iter_mut().for_each(|run| run.roll_back(level));
    }

    /// Removes and returns the change noted under a number, if it is of this operation.
    pub(super) fn forget<S: PageStore>(
        &mut self,
        number: u32,
        operation: u64,
        store: &mut S,
    ) -> Result<Option<Undoable<'static>>, S::Error> {
        let Some(version) = self.take(number, store)? else {
            return Ok(None);
        };
        if version.change.operation() != operation {
            self.remember(&version);
            return Ok(None);
        }
        Ok(Some(version.change))
    }

    /// Takes the change noted under a number.
    fn take<S: PageStore>(
        &mut self,
        number: u32,
        store: &mut S,
    ) -> Result<Option<UndoVersion<'static>>, S::Error> {
        let mut first = None;
        for run in &mut self.runs {
            let found = run.take(number, store)?;
            first = first.or(found);
        }
        let in_memory = self.take_stored(number);
        Ok(first.or(in_memory).and_then(|bytes| UndoVersion::read(&bytes)))
    }

    /// Takes the stored form of a version in memory.
    fn take_stored(&mut self, number: u32) -> Option<Vec<u8>> {
        let one = self.versions.remove(&number)?;
        let mut bytes = self.stored[one.at..one.at + one.bytes].to_vec();
        UndoVersion::set_stored_level(&mut bytes, one.level);
        Some(bytes)
    }

    /// Takes the next change to undo.
    pub(super) fn take_last<S: PageStore>(
        &mut self,
        store: &mut S,
    ) -> Result<Option<UndoVersion<'static>>, S::Error> {
        let mut last = self.versions.last_key_value().map(|(number, _)| *number);
        for run in &mut self.runs {
            last = last.max(run.last_number(store)?);
        }
        match last {
            Some(number) => self.take(number, store),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::convert::Infallible;

    use ese::Lgpos;
    use ese::page::PageSize;
    use units::PageNumber;

    use super::super::pages::{PageStore, StoredPage};
    use super::super::undo_version::{UndoVersion, Undoable, operations};
    use super::UndoLog;

    /// A store that supports only the side area.
    #[derive(Default)]
    struct AsideStore(Vec<u8>);

    impl PageStore for AsideStore {
        type Error = Infallible;

        fn page_size(&self) -> PageSize {
            PageSize::KIB_4
        }

        fn read(&mut self, _: PageNumber) -> Result<StoredPage, Infallible> {
            Ok(StoredPage::Absent)
        }

        fn write(&mut self, _: PageNumber, _: &[u8]) -> Result<(), Infallible> {
            Ok(())
        }

        fn resize(&mut self, _: PageNumber) -> Result<(), Infallible> {
            Ok(())
        }

        fn last_page(&self) -> PageNumber {
            PageNumber(0)
        }

        fn set_aside(&mut self, at: u64, bytes: &[u8]) -> Result<(), Infallible> {
            assert_eq!(at, self.0.len() as u64);
            self.0.extend_from_slice(bytes);
            Ok(())
        }

        fn bring_back(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), Infallible> {
            let start = usize::try_from(at).expect("small");
            bytes.copy_from_slice(&self.0[start..start + bytes.len()]);
            Ok(())
        }
    }

    fn remember(log: &mut UndoLog, number: u32, before: &[u8]) {
        log.remember(&UndoVersion {
            number,
            level: 1,
            root: PageNumber(1),
            page: PageNumber(1),
            place: Lgpos::NONE,
            is_unique: true,
            key: [Cow::Borrowed(b"key"), Cow::Borrowed(b"")],
            data: Cow::Borrowed(b""),
            change: Undoable::Replace { before: Cow::Borrowed(before) },
        });
    }

    /// Numbers and former data in the order of undo.
    fn undone(log: &mut UndoLog, store: &mut AsideStore) -> Vec<(u32, Vec<u8>)> {
        let mut found = Vec::new();
        while let Ok(Some(version)) = log.take_last(store) {
            let Undoable::Replace { before } = version.change else {
                continue;
            };
            found.push((version.number, before.into_owned()));
        }
        found
    }

    #[test]
    fn a_change_taken_out_of_the_middle_is_not_undone() {
        let (mut log, mut store, mut end) = (UndoLog::default(), AsideStore::default(), 0);
        for number in 1..=4 {
            remember(&mut log, number, b"first");
        }
        let Ok(()) = log.spill(&mut store, &mut end);
        remember(&mut log, 5, b"first");
        for number in [2, 2] {
            let Ok(_) = log.forget(number, operations::REPLACE, &mut store);
        }
        let Ok(other) = log.forget(3, operations::DELTA, &mut store);
        assert_eq!(other, None, "of another operation, so it stays");
        let numbers: Vec<u32> =
            undone(&mut log, &mut store).into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, [5, 4, 3, 1]);
    }

    #[test]
    fn a_change_noted_twice_counts_as_first_noted() {
        let (mut log, mut store, mut end) = (UndoLog::default(), AsideStore::default(), 0);
        remember(&mut log, 1, b"first");
        let Ok(()) = log.spill(&mut store, &mut end);
        remember(&mut log, 1, b"second");
        let Ok(()) = log.spill(&mut store, &mut end);
        remember(&mut log, 1, b"third");
        assert_eq!(undone(&mut log, &mut store), [(1, b"first".to_vec())]);
    }
}
