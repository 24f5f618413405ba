//! Walks one tree in key order.

use std::sync::Arc;

use units::PageNumber;

use crate::page::PageRef;
use crate::page_check;
use crate::reader::{PageSource, ReadError};

/// Maximum depth of a tree of 2^31 pages with at least two children per branch page.
pub(super) const DEEPEST: usize = 32;

/// One node of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The page it lies on.
    pub page: PageNumber,
    /// Its line there.
    pub line: usize,
    /// Its whole key.
    pub key: &'a [u8],
    /// Its data.
    pub data: &'a [u8],
    /// Whether it is flagged as deleted.
    pub is_deleted: bool,
}

/// A walk over the leaves of a tree, along their links.
pub struct Cursor {
    number: PageNumber,
    page: Arc<[u8]>,
    line: usize,
    leaves_left: u32,
    with_deleted: bool,
    key: Vec<u8>,
}

impl Cursor {
    /// A cursor at the first node of the tree with this root.
    pub fn first<S: PageSource>(
        source: &mut S,
        root: PageNumber,
    ) -> Result<Self, ReadError<S::Error>> {
        Self::descend(source, root, |_| 0)
    }

    /// A cursor at the first node whose key is not below `key`.
    pub(crate) fn seek<S: PageSource>(
        source: &mut S,
        root: PageNumber,
        key: &[u8],
    ) -> Result<Self, ReadError<S::Error>> {
        let mut cursor = Self::descend(source, root, |page| page.child_line(key, &[], None))?;
        let (Ok(line) | Err(line)) = PageRef::new(&cursor.page).search(key, None);
        cursor.line = line;
        Ok(cursor)
    }

    /// Includes nodes flagged as deleted in the walk.
    #[must_use]
    pub(crate) const fn with_deleted(mut self) -> Self {
        self.with_deleted = true;
        self
    }

    fn descend<S: PageSource>(
        source: &mut S,
        root: PageNumber,
        choose: impl Fn(PageRef<'_>) -> usize,
    ) -> Result<Self, ReadError<S::Error>> {
        let mut number = root;
        for _ in 0..DEEPEST {
            let page = load_sound(source, number)?;
            let view = PageRef::new(&page);
            if view.is_leaf() {
                let leaves_left = source.page_count();
                let key = Vec::new();
                return Ok(Self { number, page, line: 0, leaves_left, with_deleted: false, key });
            }
            let line = choose(view);
            number = view.child(line).ok_or(ReadError::Node { page: number, line })?;
        }
        Err(ReadError::Circle { page: number })
    }

    /// The next node; `None` after the last one.
    pub fn next<S: PageSource>(
        &mut self,
        source: &mut S,
    ) -> Result<Option<Entry<'_>>, ReadError<S::Error>> {
        loop {
            let view = PageRef::new(&self.page);
            if self.line >= view.node_count() {
                if !self.turn_page(source)? {
                    return Ok(None);
                }
                continue;
            }
            let (page, line) = (self.number, self.line);
            let node = view.node(line).ok_or(ReadError::Node { page, line })?;
            self.line += 1;
            if self.with_deleted || !node.is_deleted() {
                return Ok(Some(self.entry(line)));
            }
        }
    }

    /// Moves to the next leaf; false at the end of the tree.
    fn turn_page<S: PageSource>(&mut self, source: &mut S) -> Result<bool, ReadError<S::Error>> {
        let next = PageRef::new(&self.page).next();
        if !next.is_some() {
            return Ok(false);
        }
        let circle = ReadError::Circle { page: self.number };
        self.leaves_left = self.leaves_left.checked_sub(1).ok_or(circle)?;
        self.page = load_sound(source, next)?;
        self.number = next;
        self.line = 0;
        Ok(true)
    }

    fn entry(&mut self, line: usize) -> Entry<'_> {
        let node = PageRef::new(&self.page).node(line).expect("invariant: it has just been read");
        node.key_into(&mut self.key);
        Entry {
            page: self.number,
            line,
            key: &self.key,
            data: node.data,
            is_deleted: node.is_deleted(),
        }
    }
}

/// Loads a page of a tree and requires it to be consistent.
fn load_sound<S: PageSource>(
    source: &mut S,
    number: PageNumber,
) -> Result<Arc<[u8]>, ReadError<S::Error>> {
    let page = load(source, number)?;
    match page_check::check(PageRef::new(&page), number) {
        Ok(()) => Ok(page),
        Err(fault) => Err(ReadError::Page { page: number, fault }),
    }
}

/// Loads a page of a tree, which must be in the file and must have been written.
pub(crate) fn load<S: PageSource>(
    source: &mut S,
    number: PageNumber,
) -> Result<Arc<[u8]>, ReadError<S::Error>> {
    if !number.is_some() || number.0 > source.page_count() {
        return Err(ReadError::BeyondFile { page: number });
    }
    let page = source.page(number).map_err(|error| match S::loss(&error) {
        Some(loss) => ReadError::Lost { page: number, loss },
        None => ReadError::Source(error),
    })?;
    if PageRef::new(&page).is_uninitialised() {
        return Err(ReadError::Uninitialised { page: number });
    }
    Ok(page)
}
