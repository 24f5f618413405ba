//! State of the pages of a database file: reads them all, and tallies the damage.
//!
//! [`ese::page_state`] judges one page; here the pages of a file are judged together, so that zeros
//! to which a tree points are found as well. Forensics and the benchmark both use it, independently
//! of each other.

mod scan;
mod tally;

pub use scan::{BlockCopy, ReadShape, judge_database, judge_pages};
pub use tally::{Damage, DamagedPage, Tally};
