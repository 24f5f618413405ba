//! What the command line does in another way on each system: words of its shell, its requests to
//! stop, its terminals. What the machine itself does in another way is `host::system`.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub(crate) use unix::serve_on_request;
#[cfg(unix)]
pub(crate) use unix::{
    PLAIN_CHARACTERS, kill, quoted_word, redraws, shell, stop_on_request, terminate, words_of,
};
#[cfg(windows)]
pub(crate) use windows::{
    PLAIN_CHARACTERS, kill, quoted_word, redraws, shell, stop_on_request, terminate, words_of,
};
