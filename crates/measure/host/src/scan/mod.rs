//! Scans of database files on all processors: parts of files are dealt out to threads, each with
//! its own executor and ring. Nothing is ever written.

mod fault;
mod reach;
mod target;
mod threads;

pub use fault::FileFault;
pub use reach::truncations;
pub use target::ScanTarget;
pub use threads::{Scanned, scan};
