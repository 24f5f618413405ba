//! Judges storage for mail stores before anything is measured on it: runs fail for reasons that an
//! inspection would have shown.
//!
//! Facts in, findings out: other crates read the facts from systems and tools, and nothing here
//! changes anything.

mod behaviour;
pub mod controller;
mod draft;
pub mod layout;
pub mod lun;
mod volume;

pub use behaviour::{finding_of, is_settled};
pub use volume::{StoragePlace, together};
