//! Space management: which pages a tree owns, which of them are free, and where more come from.
//!
//! Every table, index and long-value tree is a *pool*: its root's tag 0 names an owned-extents and
//! an available-extents tree. A pool without free pages takes an extent from its parent, and the
//! database itself from the end of the file. Space trees split like any tree; the pages for that
//! come from a split buffer in tag 0 of their roots, topped up while pages are at hand. If it is
//! empty, they come from the front of an available extent: taking them never needs a split.

#[cfg(test)]
mod tests;

use ese::page::page_flags;
use ese::space::{Extent, RootFields, SpaceNode, SplitBuffer};
use units::{ObjectId, PageNumber};
use wal::edit::PageEdit;

use crate::stage::{Halt, Stage};
use crate::tree::{self, PagePool, Space, Tree};

/// The root page of the database itself.
pub(crate) const DATABASE_ROOT: PageNumber = PageNumber(1);
/// Pages by which the file grows (ESE `JET_paramDbExtensionSize`).
pub(crate) const EXTENSION_PAGES: u32 = 256;
/// Smallest and largest extent that a pool takes from its parent, in pages.
const GROWTH_PAGES: std::ops::RangeInclusive<u32> = 16..=256;
/// Maximum number of available extents inspected when searching for a long one.
const MOST_EXTENTS_SEEN: usize = 32;
/// A space tree whose root fills more than this may split soon, so its buffer is kept filled.
const AT_RISK_PERCENT: usize = 60;
/// Pages that one insert can need: a split at each of three levels, and a new root.
const BUFFER_PAGES: u32 = 4;

/// A root page with its two space trees.
#[derive(Clone, Copy, Debug)]
struct ExtentPool {
    root: PageNumber,
    object: ObjectId,
    parent: PageNumber,
    owned_root: PageNumber,
    /// Size of the last extent taken, in pages, as far as the header records it.
    primary_pages: u32,
}

impl ExtentPool {
    fn load(stage: &mut Stage<'_>, root: PageNumber) -> Result<Self, Halt> {
        let page = stage.page(root)?;
        let object = page.object();
        let fields = RootFields::decode(page.external_header());
        let header = fields.and_then(|fields| fields.space);
        let owned_root = header.and_then(|header| header.owned_root());
        let (Some(header), Some(owned_root)) = (header, owned_root) else {
            let problem = "a tree that changes needs owned- and available-extents trees";
            return Err(Halt::Damaged { page: root, problem });
        };
        Ok(Self {
            root,
            object,
            parent: header.parent,
            owned_root,
            primary_pages: header.primary_pages,
        })
    }

    fn owned(&self) -> Tree {
        self.space_tree(self.owned_root)
    }

    fn available(&self) -> Tree {
        self.space_tree(PageNumber(self.owned_root.0 + 1))
    }

    const fn space_tree(&self, root: PageNumber) -> Tree {
        Tree {
            root,
            object: self.object,
            repeats: false,
            density_percent: 100,
            space: Space::Of(self.root),
        }
    }
}

impl PagePool for Stage<'_> {
    fn allocate_page(&mut self, tree: &Tree, near: PageNumber) -> Result<PageNumber, Halt> {
        let root = match tree.space {
            Space::Own => tree.root,
            Space::Of(owner) => {
                if let Some(page) = take_from_buffer(self, tree)? {
                    return Ok(page);
                }
                owner
            }
        };
        let pool = ExtentPool::load(self, root)?;
        if let Some(page) = take_available_page(self, &pool, near)? {
            return Ok(page);
        }
        grow(self, &pool, 1)?;
        let page = take_available_page(self, &pool, near)?;
        page.ok_or(Halt::Damaged { page: root, problem: "a pool that does not grow" })
    }

    fn free_page(&mut self, tree: &Tree, page: PageNumber) -> Result<(), Halt> {
        let freed = Extent::starting(page, 1);
        let root = match tree.space {
            Space::Own => tree.root,
            Space::Of(owner) => {
                if put_into_buffer(self, tree, freed)? {
                    return Ok(());
                }
                owner
            }
        };
        let pool = ExtentPool::load(self, root)?;
        for space_tree in [pool.available(), pool.owned()] {
            if buffer_shortage(self, &space_tree)? > 0 && put_into_buffer(self, &space_tree, freed)?
            {
                return Ok(());
            }
        }
        let within = owned_extent_of(self, &pool, page)?;
        make_available(self, &pool, freed, within)
    }
}

/// The owned extent of a pool that holds a page.
fn owned_extent_of(
    stage: &mut Stage<'_>,
    pool: &ExtentPool,
    page: PageNumber,
) -> Result<Extent, Halt> {
    let mut found = None;
    let from = page.0.to_be_bytes();
    tree::walk(stage, &pool.owned(), (&from, &[]), false, |node| {
        found = SpaceNode::decode(&node.key(), node.data).map(|node| node.extent);
        false
    })?;
    found
        .filter(|extent| extent.contains(page))
        .ok_or(Halt::Damaged { page, problem: "a freed page that its pool does not own" })
}

/// Takes the first page of the available extent at or after `near`, else of the first available
/// extent.
fn take_available_page(
    stage: &mut Stage<'_>,
    pool: &ExtentPool,
    near: PageNumber,
) -> Result<Option<PageNumber>, Halt> {
    let available = pool.available();
    for from in [near, PageNumber::NONE] {
        let mut found = None;
        tree::walk(stage, &available, (&from.0.to_be_bytes(), &[]), false, |node| {
            found = SpaceNode::decode(&node.key(), node.data).map(|node| node.extent);
            false
        })?;
        if let Some(extent) = found.filter(|extent| extent.pages > 0) {
            return take_front(stage, &available, extent, 1).map(|taken| Some(taken.last));
        }
    }
    Ok(None)
}

/// Takes `pages` pages from the front of an available extent.
fn take_front(
    stage: &mut Stage<'_>,
    available: &Tree,
    extent: Extent,
    pages: u32,
) -> Result<Extent, Halt> {
    if extent.pages == pages {
        tree::remove(stage, available, &SpaceNode::key(extent), &[])?;
    } else {
        add_pages(stage, available, extent, -i64::from(pages))?;
    }
    Ok(Extent::starting(extent.first(), pages))
}

/// Grows or shrinks an available extent at its front, by a number of pages.
fn add_pages(
    stage: &mut Stage<'_>,
    available: &Tree,
    extent: Extent,
    pages: i64,
) -> Result<(), Halt> {
    let position = tree::seek(stage, available, &SpaceNode::key(extent), &[])?;
    let leaf = position.path.leaf;
    let (Ok(line), Ok(delta)) = (position.line, i32::try_from(pages)) else {
        let problem = "an available extent that is gone";
        return Err(Halt::Damaged { page: leaf, problem });
    };
    stage.edit(leaf, PageEdit::DeltaU32 { line, offset: 0, delta })
}

/// Makes an extent available, merged with the available extents it touches within `within`, the
/// owned extent that contains it. So neither an available extent nor any part of it given to a
/// child straddles two owned ones.
fn make_available(
    stage: &mut Stage<'_>,
    pool: &ExtentPool,
    freed: Extent,
    within: Extent,
) -> Result<(), Halt> {
    let available = pool.available();
    let mut extent = freed;
    let before = PageNumber(freed.first().0 - 1).0.to_be_bytes();
    let joined = tree::get(stage, &available, &before, |_, data| {
        SpaceNode::decode(&before, data).map(|node| node.extent)
    })?;
    if let Some(front) = joined
        .flatten()
        .filter(|front| within.contains(front.first()) && within.contains(front.last))
    {
        tree::remove(stage, &available, &SpaceNode::key(front), &[])?;
        extent = Extent::starting(front.first(), front.pages + freed.pages);
    }
    let mut following = None;
    let from = freed.first().0.to_be_bytes();
    tree::walk(stage, &available, (&from, &[]), false, |node| {
        following = SpaceNode::decode(&node.key(), node.data).map(|node| node.extent);
        false
    })?;
    if let Some(behind) = following.filter(|behind| behind.pages > 0) {
        if behind.first() <= freed.last {
            let problem = "a page that is freed while it is available";
            return Err(Halt::Damaged { page: freed.last, problem });
        }
        if behind.first().0 == freed.last.0 + 1 && within.contains(behind.last) {
            return add_pages(stage, &available, behind, i64::from(extent.pages));
        }
    }
    tree::insert(stage, &available, &SpaceNode::key(extent), &SpaceNode::data(extent))
}

/// Grows a pool by at least `wanted` contiguous pages.
fn grow(stage: &mut Stage<'_>, pool: &ExtentPool, wanted: u32) -> Result<(), Halt> {
    let extent = if pool.root == DATABASE_ROOT {
        end_of_file(stage, pool, wanted)?
    } else {
        let parent = ExtentPool::load(stage, pool.parent)?;
        let last = last_owned(stage, pool)?.map_or(pool.primary_pages, |extent| extent.pages);
        let usual = (last * 2).clamp(*GROWTH_PAGES.start(), *GROWTH_PAGES.end());
        take_extent(stage, &parent, wanted.max(usual))?
    };
    let rest = top_up_buffers(stage, pool, extent)?;
    tree::insert(stage, &pool.owned(), &SpaceNode::key(extent), &SpaceNode::data(extent))?;
    if rest.pages == 0 {
        return Ok(());
    }
    make_available(stage, pool, rest, extent)
}

/// Takes `pages` contiguous pages from a pool for one of its children.
fn take_extent(stage: &mut Stage<'_>, pool: &ExtentPool, pages: u32) -> Result<Extent, Halt> {
    let available = pool.available();
    for attempt in 0..2 {
        let (mut seen, mut found) = (0, None);
        tree::walk(stage, &available, (&[], &[]), false, |node| {
            seen += 1;
            found = SpaceNode::decode(&node.key(), node.data)
                .map(|node| node.extent)
                .filter(|extent| extent.pages >= pages);
            found.is_none() && seen < MOST_EXTENTS_SEEN
        })?;
        if let Some(extent) = found {
            return take_front(stage, &available, extent, pages);
        }
        if attempt == 0 {
            // Exactly this many, since leftovers of an owned extent cannot be merged with another.
            let spare =
                buffer_shortage(stage, &pool.owned())? + buffer_shortage(stage, &available)?;
            grow(stage, pool, pages + spare)?;
        }
    }
    take_extent_anywhere(stage, &available, pages)
}

/// Like [`take_extent`], but inspects all extents, in case many short ones hide the long one.
fn take_extent_anywhere(
    stage: &mut Stage<'_>,
    available: &Tree,
    pages: u32,
) -> Result<Extent, Halt> {
    let mut from = Vec::new();
    let mut found = None;
    while found.is_none() {
        let start = from.clone();
        let more = tree::walk(stage, available, (&start, &[]), true, |node| {
            node.key_into(&mut from);
            found = SpaceNode::decode(&from, node.data)
                .map(|node| node.extent)
                .filter(|extent| extent.pages >= pages);
            found.is_none()
        })?;
        if !more {
            break;
        }
    }
    match found {
        Some(extent) => take_front(stage, available, extent, pages),
        None => Err(Halt::Damaged { page: available.root, problem: "a pool that does not grow" }),
    }
}

/// The last page that the database owns, if its space trees name one.
pub(crate) fn last_page(stage: &mut Stage<'_>) -> Result<Option<PageNumber>, Halt> {
    let pool = ExtentPool::load(stage, DATABASE_ROOT)?;
    Ok(last_owned(stage, &pool)?.map(|extent| extent.last))
}

/// The pages after the last one that the database owns.
fn end_of_file(stage: &mut Stage<'_>, pool: &ExtentPool, wanted: u32) -> Result<Extent, Halt> {
    let owned = last_owned(stage, pool)?.map_or(PageNumber::NONE, |extent| extent.last);
    let pages = wanted.max(EXTENSION_PAGES);
    let last = PageNumber(owned.0 + pages);
    if stage.last_file_page() < last {
        return Err(Halt::Extend { last });
    }
    Ok(Extent::starting(PageNumber(owned.0 + 1), pages))
}

/// The owned extent with the highest page numbers.
fn last_owned(stage: &mut Stage<'_>, pool: &ExtentPool) -> Result<Option<Extent>, Halt> {
    let owned = pool.owned();
    let mut key = Vec::new();
    if !tree::last_key(stage, &owned, &mut key)? {
        return Ok(None);
    }
    let extent = tree::get(stage, &owned, &key, |_, data| SpaceNode::decode(&key, data))?;
    Ok(extent.flatten().map(|node| node.extent))
}

/// Refills split buffers that run low with pages from the front of a new extent; returns the rest.
fn top_up_buffers(
    stage: &mut Stage<'_>,
    pool: &ExtentPool,
    extent: Extent,
) -> Result<Extent, Halt> {
    let mut rest = extent;
    for space_tree in [pool.owned(), pool.available()] {
        let short = buffer_shortage(stage, &space_tree)?;
        if short == 0 || rest.pages < short + 1 {
            continue;
        }
        let part = Extent::starting(rest.first(), short);
        if put_into_buffer(stage, &space_tree, part)? {
            rest = Extent { pages: rest.pages - short, ..rest };
        }
    }
    Ok(rest)
}

/// Number of pages a space tree's buffer lacks; 0 while the tree is far from splitting.
fn buffer_shortage(stage: &mut Stage<'_>, tree: &Tree) -> Result<u32, Halt> {
    let page = stage.page(tree.root)?;
    let body = page.size().body_bytes();
    let far = page.is_leaf() && (body - page.free_bytes()) * 100 < body * AT_RISK_PERCENT;
    if far {
        return Ok(0);
    }
    let buffer = load_buffer(stage, tree)?;
    let held: u32 = buffer.extents.iter().map(|extent| extent.pages).sum();
    Ok(BUFFER_PAGES.saturating_sub(held))
}

fn load_buffer(stage: &mut Stage<'_>, tree: &Tree) -> Result<SplitBuffer, Halt> {
    let page = stage.page(tree.root)?;
    if !page.has(page_flags::SPACE_TREE) {
        let problem = "the root of a space tree that is not flagged as one";
        return Err(Halt::Damaged { page: tree.root, problem });
    }
    Ok(SplitBuffer::decode(page.external_header()).unwrap_or_default())
}

fn store_buffer(stage: &mut Stage<'_>, tree: &Tree, buffer: &SplitBuffer) -> Result<(), Halt> {
    stage.edit(tree.root, PageEdit::External(buffer.encode().to_vec()))
}

fn take_from_buffer(stage: &mut Stage<'_>, tree: &Tree) -> Result<Option<PageNumber>, Halt> {
    let mut buffer = load_buffer(stage, tree)?;
    let Some(extent) = buffer.extents.iter_mut().find(|extent| extent.pages > 0) else {
        return Ok(None);
    };
    let page = extent.first();
    extent.pages -= 1;
    if extent.pages == 0 {
        *extent = Extent::default();
    }
    store_buffer(stage, tree, &buffer)?;
    Ok(Some(page))
}

/// Keeps an extent in the buffer if one of its two slots accepts it.
fn put_into_buffer(stage: &mut Stage<'_>, tree: &Tree, kept: Extent) -> Result<bool, Halt> {
    let mut buffer = load_buffer(stage, tree)?;
    let touching = buffer
        .extents
        .iter()
        .position(|held| held.pages > 0 && held.first().0 == kept.last.0 + 1)
        .map(|place| (place, buffer.extents[place].pages));
    let empty = buffer.extents.iter().position(|held| held.pages == 0).map(|place| (place, 0));
    let Some((place, held)) = touching.or(empty) else {
        return Ok(false);
    };
    let joined = Extent::starting(kept.first(), held + kept.pages);
    buffer.extents[place] = joined;
    store_buffer(stage, tree, &buffer)?;
    Ok(true)
}
