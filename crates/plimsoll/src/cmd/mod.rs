//! One short file per verb.

pub mod check;
pub mod completions;
pub mod header;
pub mod inspect;
pub mod plan;
