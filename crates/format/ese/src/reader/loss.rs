//! The parts of a damaged tree that a walk could not read.

use units::PageNumber;

use crate::reader::{Entry, ReadDamage, ReadError};

/// An unreadable part of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Why, with the page.
    pub error: ReadDamage,
    /// Kind of the part.
    pub part: LostPart,
}

impl Loss {
    /// A node that cannot be read.
    pub(crate) const fn node(page: PageNumber, line: usize) -> Self {
        Self { error: ReadError::Node { page, line }, part: LostPart::Node }
    }
}

/// Extent of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostPart {
    /// A leaf with all its nodes.
    Leaf,
    /// An internal page.
    Branch {
        /// Leaves below it that were found without it.
        rescued: u32,
    },
    /// The unsound nodes of a page, each also reported as a separate loss.
    SomeNodes,
    /// One node of a page.
    Node,
}

/// Next result of a walk.
#[derive(Clone, Debug)]
pub enum SalvageStep<'a> {
    /// A node.
    Entry(Entry<'a>),
    /// Something that is lost.
    Loss(Loss),
}
