//! The engine through its public interface, on memory in virtual time. One program, because each
//! links the engine and everything below it.

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
