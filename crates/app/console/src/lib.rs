//! Shared by all verbs of the command line: the terminal, common arguments, files named by the
//! user, signals and exit statuses. The only crate that prints.

pub mod args;
pub mod conclusion;
pub mod documents;
pub mod error;
pub mod events;
pub mod live;
pub mod notify;
mod outcome;
mod output;
pub mod shell;
pub mod shown;
pub mod signals;
pub mod system;
pub mod term;

pub use outcome::Outcome;
pub use output::{
    Concluded, Console, TRIAL_THREAD, complain, explain_panics, fail, is_for_programs, panic_text,
    say, speak_to_programs,
};
