//! Runs programs and reports their failures. Shared by the commands that automate the project and
//! by tests that need networks.

pub mod command;
pub mod failure;
pub mod network;
pub mod shell;
pub mod usage;
