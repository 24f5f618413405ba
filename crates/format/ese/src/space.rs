//! The pages a tree owns and the free ones among them: space headers, extents and their trees.

mod extents;
mod header;

pub(crate) use extents::Pool;
pub use extents::{Extent, ExtentSet, SpaceNode};
pub use header::{Extents, RootFields, SpaceHeader, SplitBuffer};
