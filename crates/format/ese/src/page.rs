//! One database page: header, tag array and nodes, read and changed in place.
//!
//! A page is a heap of nodes after a header, and an array of tags growing down from the page's end
//! that gives the nodes their order. The first tags are *reserved*: usually one, up to seven in
//! files of later engines. Tag 0 is the *external header*; nodes begin after the reserved tags.
//! Reading never trusts the bytes; changing a page keeps the identity `sum of tag sizes + free
//! bytes + 4 * tags == page size - header`.

mod change;
mod flags;
mod mark;
mod node;
mod parts;
mod reference;
mod search;
mod size;
#[cfg(test)]
mod tests;

pub use change::{PageError, PageMut};
use flags::{NODE_FLAG_NAMES, PAGE_FLAG_NAMES};
pub use flags::{node_flags, page_flags};
pub(crate) use mark::word_of_its_mark;
pub use node::{Node, encode_node};
pub use reference::PageRef;
pub(crate) use reference::Tag;
pub use size::PageSize;
