//! How a guest and its server tell each other of requests and answers: counters of events that they
//! share.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use device::Lookout;

/// A counter that a guest rings after it has offered requests.
pub trait GuestKick {
    /// Ready if it was rung since the last time; else its ringing wakes the task.
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

    /// Looks at a ring for as long as the server is awake, so that its guest need not ring; `false`
    /// if it never does.
    fn look_at(&self, ring: Weak<dyn Lookout>) -> bool;
}

/// A counter that the server rings after answers.
pub(crate) trait GuestCall {
    fn ring(&self);
}

/// Nothing of the hypervisor's file is changed: it may wait for it.
impl GuestCall for File {
    fn ring(&self) {
        // The counter has room for more events than a guest lives to see.
        let _ = (&*self).write(&1_u64.to_le_bytes());
    }
}

/// Whether a file is a counter of events: writing to anything else may take for ever.
pub(crate) fn is_counter(file: &File) -> bool {
    let link = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
    link.is_ok_and(|target| target.as_os_str() == "anon_inode:[eventfd]")
}
