//! Tools for the tests of several crates: independent readers of this project's files, files of
//! real systems, golden files, the crash loop, and a volume with faults.
//!
//! Development only: no crate of the product depends on this one.

pub mod crash;
pub mod damage;
pub mod fault_volume;
pub mod forged_log;
pub mod fuzz;
pub mod guest_ring;
pub mod log_mutants;
pub mod messages;
mod pages;
pub mod peers;
pub mod samples;
#[cfg(test)]
mod tests;
pub mod tgt;
mod world;
