//! One short file per verb.

pub mod builds;
pub mod check;
pub mod completions;
pub mod dirty;
pub mod dump;
pub mod export;
pub mod header;
pub mod inspect;
pub mod limits;
pub mod plan;
pub mod prepare;
pub mod profile;
pub mod quick;
pub mod recover;
pub mod report;
pub mod run;
pub mod scan;
pub mod size;
pub mod space;
pub mod verify;
