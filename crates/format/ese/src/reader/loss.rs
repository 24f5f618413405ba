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

    /// Whether it hides pages that were found nowhere else, so that the number of lost nodes is
    /// unknown.
    pub const fn is_of_unknown_extent(&self) -> bool {
        match self.part {
            LostPart::Branch { rescued } => {
                rescued == 0 || matches!(self.error, ReadError::BeyondFile { .. })
            }
            LostPart::Leaf | LostPart::SomeNodes | LostPart::Node => false,
        }
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

#[cfg(test)]
mod tests {
    use units::PageNumber;

    use super::{Loss, LostPart};
    use crate::reader::ReadError;

    #[test]
    fn a_lost_branch_is_counted_only_if_all_below_it_was_found() {
        let page = PageNumber(7);
        let beyond = ReadError::BeyondFile { page };
        let node = ReadError::Node { page, line: 0 };
        for (error, part, is_unknown) in [
            (node.clone(), LostPart::Branch { rescued: 0 }, true),
            (node.clone(), LostPart::Branch { rescued: 3 }, false),
            (beyond.clone(), LostPart::Branch { rescued: 3 }, true),
            (beyond, LostPart::Leaf, false),
            (node, LostPart::Node, false),
        ] {
            let loss = Loss { error, part };
            assert_eq!(loss.is_of_unknown_extent(), is_unknown, "{loss:?}");
        }
    }
}
