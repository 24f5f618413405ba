//! One short file per verb.

pub(crate) mod builds;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod dirty;
pub(crate) mod dump;
pub(crate) mod export;
pub(crate) mod header;
pub(crate) mod import;
pub(crate) mod inspect;
pub(crate) mod limits;
pub(crate) mod line;
pub(crate) mod plan;
pub(crate) mod prepare;
pub(crate) mod profile;
pub(crate) mod quick;
pub(crate) mod recover;
pub(crate) mod report;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod scan;
pub(crate) mod schema;
pub(crate) mod size;
pub(crate) mod space;
pub(crate) mod suite;
pub(crate) mod verify;
