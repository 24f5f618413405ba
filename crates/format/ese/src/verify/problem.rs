//! Problems of a database, in words an operator can use.

use std::fmt;

use units::{ObjectId, PageNumber};

use crate::long_value::LongValueId;
use crate::page_check::PageFault;
use crate::reader::ReadDamage;
use crate::space::Extent;

/// A contradiction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Something could not be read at all.
    Unreadable(ReadDamage),
    /// A page is inconsistent.
    Page(PageFault),
    /// A page is reached a second time.
    ReachedTwice,
    /// A page of the tree is outside the space that the tree owns.
    OutsideSpace,
    /// A page carries the object identifier of another tree.
    WrongObject {
        /// The one that it carries.
        stated: ObjectId,
    },
    /// A page carries flags that its place in the tree does not allow.
    WrongFlags {
        /// The flags.
        stated: u32,
    },
    /// A leaf's link to the previous leaf is wrong.
    PreviousLink {
        /// The stated page.
        stated: PageNumber,
        /// The leaf before it.
        expected: PageNumber,
    },
    /// A leaf's link to the next leaf is wrong.
    NextLink {
        /// The stated page.
        stated: PageNumber,
        /// The leaf after it.
        expected: PageNumber,
    },
    /// A leaf is not as deep as the others.
    Depth,
    /// A leaf without nodes that is not the root.
    EmptyLeaf,
    /// An internal page has no children, or the key or page number of a child is invalid.
    Branch,
    /// The last key of an internal page is not the one by which its parent points to it. Only the
    /// last page of a level ends with an empty key.
    LastKey,
    /// Pages have a database time later than the latest in the header of the closed database.
    Dbtime {
        /// Number of pages.
        pages: u64,
        /// The latest database time of a page.
        stated: u64,
        /// That of the header.
        highest: u64,
    },
    /// A tree names a parent (the source of its space) other than the tree it is part of.
    Parent {
        /// The root page of the named parent.
        stated: PageNumber,
        /// The root page of the tree it is part of.
        expected: PageNumber,
    },
    /// A tree and the catalog differ on whether its keys may repeat.
    Uniqueness,
    /// The first node of a leaf does not sort after the last node of the previous leaf.
    KeyOrder,
    /// A node is outside the separators above its page.
    Separator,
    /// Two extents overlap but must not, or one is outside its owner's space.
    Extent {
        /// The extent.
        extent: Extent,
    },
    /// An extent straddles two owned extents of the tree it is part of: it must be within one.
    Straddles {
        /// The extent.
        extent: Extent,
    },
    /// The file ends inside the space that the database owns.
    FileTooShort {
        /// The last page of the file.
        last: PageNumber,
        /// The last page owned.
        owned: PageNumber,
    },
    /// A page is in use and available at once, or available twice.
    AvailableAndUsed,
    /// The row's key differs from the one derived from its columns.
    PrimaryKey,
    /// An index has an entry whose row is missing or has another key.
    StrayEntry,
    /// An index lacks the entry of a row.
    MissingEntry,
    /// A record refers to a missing long value.
    LongValueMissing {
        /// The value.
        id: LongValueId,
    },
    /// A long value is referenced more or less often than it claims.
    LongValueReferences {
        /// The value.
        id: LongValueId,
        /// The stated number of references.
        stated: u32,
        /// Number of records that hold the value.
        counted: u32,
    },
    /// A long value's chunks do not add up to its size.
    LongValueChunks {
        /// The value.
        id: LongValueId,
    },
    /// A chunk of a long value does not decompress to the size expected at its position.
    LongValueChunk {
        /// The value.
        id: LongValueId,
        /// Offset of the chunk in the value, in bytes.
        offset: u32,
    },
    /// The two copies of the catalog differ.
    CatalogCopies,
    /// The table of objects lacks an object of the catalog.
    UnlistedObject {
        /// The object.
        object: ObjectId,
    },
    /// The table of objects lists an object that is missing from the catalog or different there.
    StrayObject {
        /// The object.
        object: ObjectId,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(damage) => damage.fmt(f),
            Self::Page(fault) => fault.fmt(f),
            Self::ReachedTwice => f.write_str("the page is reached a second time"),
            Self::OutsideSpace => f.write_str("the page is not among those that the tree owns"),
            Self::WrongObject { stated } => write!(f, "the page belongs to object {stated}"),
            Self::WrongFlags { stated } => write!(f, "flags {stated:#x} do not fit its place"),
            Self::PreviousLink { stated, expected } => {
                write!(f, "its link back is {stated}, should be {expected}")
            }
            Self::NextLink { stated, expected } => {
                write!(f, "its link forward is {stated}, should be {expected}")
            }
            Self::Depth => f.write_str("the leaf is not as deep as the others"),
            Self::EmptyLeaf => f.write_str("the leaf has no nodes"),
            Self::Branch => f.write_str("the internal page lacks a child, or has a bad node"),
            Self::LastKey => f.write_str("its last key is not the one that its parent has of it"),
            Self::Dbtime { pages, stated, highest } => write_times(f, *pages, *stated, *highest),
            Self::Parent { stated, expected } => write!(
                f,
                "the tree takes its space from the one at page {stated}, should be {expected}"
            ),
            Self::Uniqueness => {
                f.write_str("the tree and the catalog differ on whether keys may repeat")
            }
            Self::KeyOrder => f.write_str("its first node does not come behind the leaf before"),
            Self::Separator => f.write_str("a node lies outside the separators above it"),
            Self::Extent { extent } => {
                write_extent(f, *extent, "overlaps another or leaves its owner's space")
            }
            Self::Straddles { extent } => {
                write_extent(f, *extent, "straddles extents that its tree owns")
            }
            Self::FileTooShort { last, owned } => write!(
                f,
                "the file ends with page {last}, and the database owns pages up to {owned}"
            ),
            Self::AvailableAndUsed => f.write_str("the page is available though something uses it"),
            Self::PrimaryKey => f.write_str("the row's key is not the one its columns make"),
            Self::StrayEntry => f.write_str("the index entry's row is missing or has another key"),
            Self::MissingEntry => f.write_str("the index lacks the entry of this row"),
            Self::LongValueMissing { id } => write!(f, "long value {id} is missing"),
            Self::LongValueReferences { id, stated, counted } => {
                write!(f, "long value {id} claims {stated} references and has {counted}")
            }
            Self::LongValueChunks { id } => {
                write!(f, "the chunks of long value {id} do not make up its size")
            }
            Self::LongValueChunk { id, offset } => {
                write!(f, "the chunk at byte {offset} of long value {id} does not unpack")
            }
            Self::CatalogCopies => f.write_str("the two copies of the catalog differ"),
            Self::UnlistedObject { object } => {
                write!(f, "object {object} of the catalog is not listed")
            }
            Self::StrayObject { object } => {
                write!(f, "object {object} is listed and not in the catalog as such")
            }
        }
    }
}

fn write_times(f: &mut fmt::Formatter<'_>, pages: u64, stated: u64, highest: u64) -> fmt::Result {
    let are = if pages == 1 { "page is" } else { "pages are" };
    write!(
        f,
        "{pages} {are} later than the header: database times up to {stated}, the header's is \
         {highest}"
    )
}

fn write_extent(f: &mut fmt::Formatter<'_>, extent: Extent, what: &str) -> fmt::Result {
    write!(f, "the extent {}..={} {what}", extent.first(), extent.last)
}
