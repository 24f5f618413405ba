//! Logs of the real engine: checked as a set, printed record by record, and replayed into a copy of
//! their database or in front of it.

pub(crate) mod check;
mod copied_header;
pub(crate) mod dump;
mod endings;
mod files;
mod filter;
mod overlay;
pub(crate) mod recover;
mod recovery_report;
mod replay;
mod scratch;
mod store;

pub(crate) use files::holds_logs;
pub(crate) use overlay::Overlay;
