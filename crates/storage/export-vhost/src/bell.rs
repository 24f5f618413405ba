//! How a guest and its server tell each other of requests and answers: counters of events that they
//! share.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::rc::Rc;
use std::task::{Context, Poll};

/// A counter that a guest rings after it has offered requests.
pub trait GuestKick {
    /// Ready if it was rung since the last time; else its ringing wakes the task.
    fn poll_rung(&self, context: &mut Context<'_>) -> Poll<()>;
}

/// Makes one of a file that a hypervisor has sent.
pub type KickMaker = Box<dyn Fn(File) -> io::Result<Rc<dyn GuestKick>>>;

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
