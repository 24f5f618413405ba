//! A walk over a tree with damaged pages: it yields every readable node and reports the losses.
//!
//! The walk goes down from the root rather than along the links of leaves, so that a lost leaf
//! costs only its own nodes. If an internal page is lost, the whole space of the tree is searched
//! for the leaves below it.

use std::collections::VecDeque;
use std::sync::Arc;

use units::PageNumber;

use crate::catalog::TreePlace;
use crate::page::{PageRef, page_flags};
use crate::page_check::{self, PageFault, unsound_lines};
use crate::page_set::PageSet;
use crate::reader::cursor::{DEEPEST, load};
use crate::reader::loss::{Loss, LostPart, SalvageStep};
use crate::reader::orphans::{self, Orphan};
use crate::reader::{Entry, PageSource, ReadDamage, ReadError};

/// The range of keys below a page: from the first, inclusive, to the second, exclusive.
#[derive(Clone, Debug, Default)]
struct KeyRange {
    low: Vec<u8>,
    high: Option<Vec<u8>>,
}

impl KeyRange {
    fn holds(&self, key: &[u8]) -> bool {
        key >= self.low.as_slice() && self.high.as_deref().is_none_or(|high| key < high)
    }
}

/// An internal page on the way down.
struct UpperPage {
    number: PageNumber,
    page: Arc<[u8]>,
    line: usize,
    range: KeyRange,
}

struct LowerPage {
    number: PageNumber,
    page: Arc<[u8]>,
    line: usize,
    /// Ascending.
    unsound_lines: Vec<usize>,
}

/// A walk over all nodes of a tree, in the order of their keys.
pub struct Salvage {
    place: TreePlace,
    /// The kind of the tree's pages; `None` if leaves are not searched for.
    kind: Option<u32>,
    has_begun: bool,
    branches: Vec<UpperPage>,
    /// Leaves found without the page above them.
    found: VecDeque<PageNumber>,
    losses: VecDeque<Loss>,
    leaf: Option<LowerPage>,
    /// The last leaf, and the page it links to as the next one.
    last_leaf: Option<(PageNumber, PageNumber)>,
    seen: PageSet,
    orphans: Option<Vec<Orphan>>,
    with_deleted: bool,
    key: Vec<u8>,
    leaves: u64,
    nodes: u64,
}

impl Salvage {
    /// A walk over a table.
    pub(crate) fn of_table(place: TreePlace) -> Self {
        Self::new(place, Some(0))
    }

    /// A walk over a long-value tree.
    pub(crate) fn of_long_values(place: TreePlace) -> Self {
        Self::new(place, Some(page_flags::LONG_VALUE))
    }

    /// A walk over a space tree. Lost leaves are not searched for, because those of owned and
    /// available extents look alike.
    pub(super) fn of_space(place: TreePlace) -> Self {
        Self::new(place, None)
    }

    fn new(place: TreePlace, kind: Option<u32>) -> Self {
        Self {
            place,
            kind,
            has_begun: false,
            branches: Vec::new(),
            found: VecDeque::new(),
            losses: VecDeque::new(),
            leaf: None,
            last_leaf: None,
            seen: PageSet::new(0),
            orphans: None,
            with_deleted: false,
            key: Vec::new(),
            leaves: 0,
            nodes: 0,
        }
    }

    /// Includes nodes flagged as deleted in the walk.
    #[must_use]
    pub const fn with_deleted(mut self) -> Self {
        self.with_deleted = true;
        self
    }

    /// Average number of nodes per leaf read so far: an estimate for a lost leaf. `None` if no node
    /// was read.
    pub const fn nodes_per_leaf(&self) -> Option<u64> {
        match self.nodes.checked_div(self.leaves) {
            Some(nodes) if nodes > 0 => Some(nodes),
            _ => None,
        }
    }

    /// The next node or loss; `None` after the last one. Returns only errors that end all reading.
    pub fn next<S: PageSource>(
        &mut self,
        source: &mut S,
    ) -> Result<Option<SalvageStep<'_>>, S::Error> {
        loop {
            if let Some(loss) = self.losses.pop_front() {
                return Ok(Some(SalvageStep::Loss(loss)));
            }
            if self.leaf.is_some() {
                if self.turn_line() {
                    return Ok(self.entry().map(SalvageStep::Entry));
                }
            } else if let Some(number) = self.found.pop_front() {
                self.enter(source, number, KeyRange::default(), Some(true))?;
            } else if !self.has_begun {
                self.has_begun = true;
                self.seen = PageSet::new(source.page_count());
                self.enter(source, self.place.root, KeyRange::default(), None)?;
            } else if !self.turn_branch(source)? {
                return Ok(None);
            }
        }
    }

    /// Advances to the next line of the leaf; false if there is no node to yield.
    fn turn_line(&mut self) -> bool {
        let Some(leaf) = &mut self.leaf else {
            return false;
        };
        let view = PageRef::new(&leaf.page);
        if leaf.line >= view.node_count() {
            self.leaf = None;
            return false;
        }
        let (page, line) = (leaf.number, leaf.line);
        leaf.line += 1;
        let is_sound = leaf.unsound_lines.binary_search(&line).is_err();
        let Some(node) = view.node(line).filter(|_| is_sound) else {
            self.losses.push_back(Loss::node(page, line));
            return false;
        };
        self.nodes += 1;
        self.with_deleted || !node.is_deleted()
    }

    /// The node before the leaf's line.
    fn entry(&mut self) -> Option<Entry<'_>> {
        let leaf = self.leaf.as_ref()?;
        let line = leaf.line.checked_sub(1)?;
        let node = PageRef::new(&leaf.page).node(line)?;
        node.key_into(&mut self.key);
        Some(Entry {
            page: leaf.number,
            line,
            key: &self.key,
            data: node.data,
            is_deleted: node.is_deleted(),
        })
    }

    /// Moves to the next child of the lowest internal page; false at the end of the tree.
    fn turn_branch<S: PageSource>(&mut self, source: &mut S) -> Result<bool, S::Error> {
        let Some(branch) = self.branches.last_mut() else {
            return Ok(false);
        };
        let view = PageRef::new(&branch.page);
        if branch.line >= view.node_count() {
            self.branches.pop();
            return Ok(true);
        }
        let (page, line) = (branch.number, branch.line);
        branch.line += 1;
        let is_leaf = Some(view.has(page_flags::PARENT_OF_LEAF));
        let separator = view.node(line).map(|node| node.key());
        let separator = separator.filter(|key| !key.is_empty());
        let range = KeyRange {
            low: branch.range.low.clone(),
            high: separator.clone().or_else(|| branch.range.high.clone()),
        };
        branch.range.low = separator.unwrap_or_else(|| range.low.clone());
        match view.child(line) {
            Some(child) => self.enter(source, child, range, is_leaf)?,
            None => self.lose(source, ReadError::Node { page, line }, &range, is_leaf)?,
        }
        Ok(true)
    }

    /// Descends to a page. The parent knows whether it is a leaf; the root has no parent.
    fn enter<S: PageSource>(
        &mut self,
        source: &mut S,
        number: PageNumber,
        range: KeyRange,
        is_leaf: Option<bool>,
    ) -> Result<(), S::Error> {
        let page = match self.load(source, number) {
            Ok(page) => page,
            Err(error) => {
                let error = error.without_source()?;
                return self.lose(source, error, &range, is_leaf);
            }
        };
        let fault = page_check::check(PageRef::new(&page), number).err();
        if PageRef::new(&page).is_leaf() {
            match fault.filter(|fault| fault.spoils_all_nodes()) {
                Some(fault) => {
                    let error = ReadError::Page { page: number, fault };
                    self.lose(source, error, &range, Some(true))?;
                }
                None => self.enter_leaf(number, page, fault),
            }
        } else if let Some(fault) = fault {
            let error = ReadError::Page { page: number, fault };
            self.lose(source, error, &range, is_leaf)?;
        } else {
            let line = 0;
            self.branches.push(UpperPage { number, page, line, range });
        }
        Ok(())
    }

    /// Starts on the nodes of a leaf, or only the sound ones if the leaf is inconsistent.
    fn enter_leaf(&mut self, number: PageNumber, page: Arc<[u8]>, fault: Option<PageFault>) {
        let view = PageRef::new(&page);
        let mut unsound = Vec::new();
        if let Some(fault) = fault {
            let error = ReadError::Page { page: number, fault };
            self.losses.push_back(Loss { error, part: LostPart::SomeNodes });
            unsound = unsound_lines(view);
        }
        self.leaves += 1;
        self.last_leaf = Some((number, view.next()));
        self.leaf = Some(LowerPage { number, page, line: 0, unsound_lines: unsound });
    }

    /// Loads a page; fails if it belongs to another tree or was visited before.
    fn load<S: PageSource>(
        &mut self,
        source: &mut S,
        number: PageNumber,
    ) -> Result<Arc<[u8]>, ReadError<S::Error>> {
        let page = load(source, number)?;
        let object = PageRef::new(&page).object();
        if object != self.place.object {
            return Err(ReadError::OtherTree { page: number, object });
        }
        if self.branches.len() >= DEEPEST || !self.seen.insert(number) {
            return Err(ReadError::Circle { page: number });
        }
        Ok(page)
    }

    /// Records a lost page, and searches for the leaves below it.
    fn lose<S: PageSource>(
        &mut self,
        source: &mut S,
        error: ReadDamage,
        range: &KeyRange,
        is_leaf: Option<bool>,
    ) -> Result<(), S::Error> {
        let below = match is_leaf {
            Some(true) => Vec::new(),
            _ => self.orphans_in(source, range)?,
        };
        let part = if is_leaf == Some(true) || is_leaf.is_none() && below.is_empty() {
            LostPart::Leaf
        } else {
            let rescued = u32::try_from(below.len()).unwrap_or(u32::MAX);
            LostPart::Branch { rescued }
        };
        self.losses.push_back(Loss { error, part });
        if part != LostPart::Leaf {
            self.lose_between(source, &below)?;
        }
        self.found.extend(below.iter().map(|orphan| orphan.page));
        Ok(())
    }

    fn orphans_in<S: PageSource>(
        &mut self,
        source: &mut S,
        range: &KeyRange,
    ) -> Result<Vec<Orphan>, S::Error> {
        let Some(kind) = self.kind else {
            return Ok(Vec::new());
        };
        let all = match self.orphans.take() {
            Some(all) => all,
            None => orphans::leaves(source, self.place, kind)?,
        };
        let below = self
            .orphans
            .insert(all)
            .iter()
            .filter(|orphan| range.holds(&orphan.first) && !self.seen.contains(orphan.page));
        Ok(below.cloned().collect())
    }

    /// Records unreadable leaves that are linked from their neighbours.
    fn lose_between<S: PageSource>(
        &mut self,
        source: &mut S,
        below: &[Orphan],
    ) -> Result<(), S::Error> {
        let mut suspects = Vec::new();
        let mut before = self.last_leaf;
        for orphan in below {
            if let Some((page, next)) = before.filter(|(_, next)| *next != orphan.page) {
                suspects.push(next);
                suspects.extend(Some(orphan.previous).filter(|previous| *previous != page));
            }
            before = Some((orphan.page, orphan.next));
        }
        suspects.extend(before.map(|(_, next)| next));
        suspects.dedup();
        for number in suspects.into_iter().filter(|number| number.is_some()) {
            let Err(error) = load(source, number) else {
                continue;
            };
            let (error, part) = (error.without_source()?, LostPart::Leaf);
            self.losses.push_back(Loss { error, part });
        }
        Ok(())
    }
}
