//! What a walk over a damaged tree says it could not read.

use units::PageNumber;

use crate::reader::{Entry, ReadDamage, ReadError};

/// What of a tree could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Why, with the page.
    pub error: ReadDamage,
    /// What it was.
    pub part: LostPart,
}

impl Loss {
    /// A node that cannot be read.
    pub const fn node(page: PageNumber, line: usize) -> Self {
        Self { error: ReadError::Node { page, line }, part: LostPart::Node }
    }
}

/// What a loss takes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostPart {
    /// A leaf with all its nodes.
    Leaf,
    /// An internal page.
    Branch {
        /// Leaves below it that were found without it.
        rescued: u32,
    },
    /// The unsound nodes of a page, each of which is a loss too.
    SomeNodes,
    /// One node of a page.
    Node,
}

/// What a walk comes upon.
#[derive(Clone, Debug)]
pub enum SalvageStep<'a> {
    /// A node.
    Entry(Entry<'a>),
    /// Something that is lost.
    Loss(Loss),
}
