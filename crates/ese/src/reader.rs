//! Reading a whole database: catalog, trees, records, long values and space.
//!
//! [`Reader`] asks a [`PageSource`] for pages one at a time and trusts none of them: damage ends
//! in a [`ReadError`] that names page and line, never in a panic or an endless walk.

mod cursor;
mod database;
mod error;
mod source;
mod space;

pub(crate) use cursor::load;
pub use cursor::{Cursor, Entry};
pub use database::{FieldValue, Reader};
pub use error::ReadError;
pub use source::{FileImage, PageSource};
pub(crate) use space::tree_space;
pub use space::{TreeKind, TreeSpace, database_space};
