//! Reads databases of the Extensible Storage Engine (ESE, "Jet Blue", `.edb`) on any system:
//! mail stores, directory and search databases, usage and update logs of Windows.
//!
//! The file is never written. Damage never causes a panic and is never hidden: every readable row
//! is returned, and everything else is reported as a [`Damage`] with its page.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut database = plimsoll_ese::Database::open("SRUDB.dat")?;
//! let table = database.table("SruDbIdMapTable").ok_or("no such table")?;
//! for row in database.rows(&table) {
//!     match row {
//!         Ok(row) => println!("{:?}", row.value("IdBlob")),
//!         Err(damage) => eprintln!("{damage}"),
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A database that was copied from a running system, or left by a crash, is *dirty*: part of it is
//! only in its log. It opens, with [`Header::state`] dirty, but rows may be missing or stale.

mod damage;
mod database;
mod file;
mod header;
mod rows;
mod space;
mod table;
mod value;
mod verification;

pub use damage::{Damage, OpenError};
pub use database::{CatalogCopy, Database};
pub use header::{Header, State};
pub use rows::{Row, RowWalk, Rows};
pub use space::TreeSpace;
pub use table::{Column, ColumnKind, Index, Table};
pub use value::{DateTime, Guid, Incomplete, Value};
pub use verification::{Finding, Verification};
