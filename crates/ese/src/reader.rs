//! Reading a whole database: catalog, trees, records, long values and space.
//!
//! [`Reader`] asks a [`PageSource`] for pages one at a time and trusts none of them: damage ends
//! in a [`ReadError`] that names page and line, never in a panic or an endless walk. [`Salvage`]
//! goes on behind it.

mod cursor;
mod database;
mod error;
mod orphans;
mod page_set;
mod salvage;
mod salvaged;
mod source;
mod space;

pub(crate) use cursor::load;
pub use cursor::{Cursor, Entry};
pub use database::{FieldValue, Reader};
pub use error::{ReadDamage, ReadError};
pub(crate) use page_set::PageSet;
pub use salvage::{Loss, LostPart, Salvage, Step};
pub use salvaged::{Chunk, ChunkContent, PartialValue, Salvaged};
pub use source::{FileImage, PageLoss, PageSource};
pub(crate) use space::{DATABASE, salvage_space};
pub use space::{SalvagedSpace, TreeKind, TreeSpace, database_space};
