//! Which pages a tree owns and which of them are free: space headers, extents and their trees.

mod extents;
mod header;

pub use extents::{Extent, ExtentSet, Pool, SpaceNode};
pub use header::{Extents, RootFields, SpaceHeader, SplitBuffer};
