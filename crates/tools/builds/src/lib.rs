//! Which release of Exchange a version number is: a table of builds with its date, the forms that
//! version numbers come in, and what lies between two builds.
//!
//! The table is data of a day. What it does not hold is said to be unknown or near a build that it
//! holds, never guessed.

mod engine;
mod identify;
mod mention;
mod number;
mod release;
mod resource;
mod table;
mod upgrade;

pub use engine::engine_of;
pub use identify::Identity;
pub use mention::{Mention, mentions};
pub use number::BuildNumber;
pub use release::{Release, ReleaseKind};
pub use resource::file_version;
pub use table::{BuildTable, BuildTableError};
pub use upgrade::{Preparation, Upgrade};
