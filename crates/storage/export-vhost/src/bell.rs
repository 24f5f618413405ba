//! How a guest and its server notify each other of requests and answers: shared event counters.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use device::Lookout;

/// A counter that a guest rings after it has offered requests.
pub trait GuestKick {
    /// Ready if it was rung since the last poll; otherwise ringing it wakes the task.
    fn poll_rung(&self, context: &mut Context<'_>) -> Poll<()>;
}

/// How a server learns of its guests' requests.
pub trait GuestBells {
    /// Waits for a counter that a hypervisor has sent.
    ///
    /// # Errors
    ///
    /// It cannot be waited for.
    fn watch(&self, counter: File) -> io::Result<Rc<dyn GuestKick>>;

    /// Polls a ring for as long as the server is awake, so that its guest need not ring; `false` if
    /// it never does.
    fn look_at(&self, ring: Weak<dyn Lookout>) -> bool;
}

/// A counter that the server rings after it has answered requests.
pub(crate) trait GuestCall {
    fn ring(&self);
}

/// Does not make the file non-blocking, which would affect the hypervisor: it may block on the
/// file.
impl GuestCall for File {
    fn ring(&self) {
        // The counter has room for more events than a guest will ever cause.
        let _ = (&*self).write(&1_u64.to_le_bytes());
    }
}

/// Whether a file is an event counter: writing to anything else may block forever.
pub(crate) fn is_counter(file: &File) -> bool {
    let link = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
    link.is_ok_and(|target| target.as_os_str() == "anon_inode:[eventfd]")
}
