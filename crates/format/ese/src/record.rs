//! Records: one row in the bytes of one node.
//!
//! Fixed columns have fixed offsets, variable ones follow a table of their ends, and tagged ones
//! exist only if they have a value. [`RecordBuilder`] writes, [`RecordRef`] reads.

mod builder;
mod error;
mod reference;
mod tagged;
#[cfg(test)]
mod tests;
mod value;

pub use builder::RecordBuilder;
pub use error::RecordError;
pub use reference::RecordRef;
pub use tagged::TaggedField;
pub(crate) use tagged::tag_flags;
pub use value::{Element, Stored};
