//! Identifies the Exchange release of a version number: a dated table of builds, the notations of
//! version numbers, and the upgrade steps between two builds.
//!
//! The table is a snapshot of one day. A build missing from it is reported as unknown or as near
//! another build, never guessed.

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
