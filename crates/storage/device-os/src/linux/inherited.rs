//! Sockets that the service manager opened for this process.
#![expect(unsafe_code, reason = "takes descriptors over; the block has its argument")]

use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// The first inherited descriptor (`sd_listen_fds(3)`).
const FIRST: RawFd = 3;

/// Maximum number of descriptors taken, more than any unit lists.
const MOST: RawFd = 64;

/// The listening sockets handed over through `LISTEN_PID` and `LISTEN_FDS` in the environment;
/// empty after the first call, or if the sockets are meant for another process.
pub fn inherited_sockets() -> Vec<OwnedFd> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    let is_ours = number("LISTEN_PID") == Some(std::process::id());
    if !is_ours || TAKEN.swap(true, Ordering::Relaxed) {
        return Vec::new();
    }
    let count = number("LISTEN_FDS").and_then(|count| RawFd::try_from(count).ok()).unwrap_or(0);
    // SAFETY: the service manager opened these descriptors for this process alone, as the two
    // variables say, and nothing else takes them: this happens once.
    (FIRST..FIRST + count.min(MOST)).map(|one| unsafe { OwnedFd::from_raw_fd(one) }).collect()
}

/// The number that an environment variable holds.
fn number(variable: &str) -> Option<u32> {
    std::env::var(variable).ok()?.parse().ok()
}
