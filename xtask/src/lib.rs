//! Running programs and saying why one failed, for every command that automates the project.

pub mod command;
pub mod failure;
pub mod shell;
pub mod usage;
