//! The files of Jetstress: its configuration becomes a plan, with every element converted or named;
//! a published result becomes the data of a record; and the arithmetic derives published figures
//! from the rows of their instances.
//!
//! Text in, values out. The input is foreign and may contain anything.

mod config;
mod result;
mod summary;

pub use config::{ConversionError, ConversionProblem, PlanDraft, plan_of_config};
pub use result::{JetstressFile, PublishedResult, ResultError, kind_of, parse_result};
pub use summary::{InstanceRow, PublishedSummary};
