//! The engine through its public interface, on memory in virtual time. One program, because each
//! links the engine and everything below it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod abandoned;
mod free_pool;
mod integrity;
mod lost_writes;
mod model;
mod page_states;
mod repeated_reads;
mod scan_position;
mod sessions;
mod world;
