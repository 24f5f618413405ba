//! Logs that the real engine wrote, and forged ones: read, replayed, damaged.

mod forged;
mod instants;
mod logs;
mod memory;
mod mutants;
mod operations;
mod replay;
mod story;
mod unfinished;
