//! Runs programs and reports their failures, for every command that automates the project and for
//! tests that need networks.

pub mod command;
pub mod failure;
pub mod network;
pub mod shell;
pub mod usage;
