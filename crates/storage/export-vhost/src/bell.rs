//! How a guest and its server tell each other of requests and answers.

use std::fs::File;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};

/// A counter of events that a guest and its server share.
pub trait RingBell {
    /// Ready if it was rung since the last time; else its ringing wakes the task.
    fn poll_rung(&self, context: &mut Context<'_>) -> Poll<()>;

    /// Rings it. Never waits.
    fn ring(&self);
}

/// Makes a bell of a file that a hypervisor has sent.
pub type BellMaker = Box<dyn Fn(File) -> io::Result<Rc<dyn RingBell>>>;
