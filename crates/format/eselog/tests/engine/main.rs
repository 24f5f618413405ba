//! Logs that the real engine wrote, and forged ones: read, replayed, damaged.

mod forge;
mod forged;
mod instants;
mod logs;
mod memory;
mod mutants;
mod operations;
mod replay;
