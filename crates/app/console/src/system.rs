//! Parts of the command line that differ between systems: shell words, stop requests, terminals.
//! `host::system` covers differences of the machine itself.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub use unix::serve_on_request;
#[cfg(unix)]
pub(crate) use unix::{PLAIN_CHARACTERS, quoted_word, redraws, shell, stop_on_request};
#[cfg(unix)]
pub use unix::{kill, terminate, words_of};
#[cfg(windows)]
pub(crate) use windows::{PLAIN_CHARACTERS, quoted_word, redraws, shell, stop_on_request};
#[cfg(windows)]
pub use windows::{kill, terminate, words_of};
