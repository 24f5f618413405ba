//! Reading a whole database: catalog, trees, records, long values and space.
//!
//! [`Reader`] asks a [`PageSource`] for pages one at a time and trusts none of them: damage ends in
//! a [`ReadError`] that names page and line, never in a panic or an endless walk. [`Salvage`]
//! continues past it.

mod cursor;
mod database;
mod error;
mod extents;
mod in_use;
mod loss;
mod orphans;
mod salvage;
mod salvaged;
mod source;
mod space;

pub(crate) use cursor::load;
pub use cursor::{Cursor, Entry};
pub use database::{FieldValue, Reader};
pub use error::{ReadDamage, ReadError};
pub use in_use::InUseWalk;
pub use loss::{Loss, LostPart, SalvageStep};
pub use salvage::Salvage;
pub use salvaged::{ChunkContent, PartialValue, Salvaged, ValuePart};
pub use source::{FileImage, PageLoss, PageSource};
pub(crate) use space::{DATABASE, salvage_space};
pub use space::{SalvagedSpace, TreeKind, TreeSpace, database_reach, database_space};
