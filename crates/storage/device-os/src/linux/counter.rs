//! An event counter that another program, such as a hypervisor, rings.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::task::{Context, Poll};

use super::sys;
use super::watch::{Readiness, Watch, Watcher};

/// See the module. Dropping it rings it, so that nothing waits for it any longer.
pub struct EventCounter {
    file: File,
    watch: Watch,
}

impl Watcher {
    /// Watches the counter `file`, an eventfd received from elsewhere.
    pub fn watch_counter(&self, file: File) -> io::Result<EventCounter> {
        sys::set_nonblocking(&file)?;
        let watch = self.watch(OwnedFd::from(file.try_clone()?));
        Ok(EventCounter { file, watch })
    }
}

impl EventCounter {
    /// Ready if it was rung since the last poll; otherwise ringing it wakes the task.
    pub fn poll_rung(&self, context: &Context<'_>) -> Poll<()> {
        if self.watch.still_waits(Readiness::Readable, context) {
            return Poll::Pending;
        }
        loop {
            match (&self.file).read(&mut [0; 8]) {
                Ok(8) => return Poll::Ready(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.watch.wake_when(Readiness::Readable, context);
                    return Poll::Pending;
                }
                // Not a counter: nothing will ever ring it.
                Ok(_) | Err(_) => return Poll::Pending,
            }
        }
    }
}

impl Drop for EventCounter {
    fn drop(&mut self) {
        // Any nonzero number rings it; a full counter has already been rung.
        let _ = (&self.file).write(&1_u64.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::io::Write as _;
    use std::rc::Rc;

    use units::Nanos;

    use crate::World;

    #[test]
    fn a_task_wakes_at_a_ring_and_no_earlier() {
        let world = World::new(crate::Backend::Auto).unwrap();
        let shared = crate::linux::sys::event_counter().unwrap();
        let counter = Rc::new(world.watcher().watch_counter(shared.try_clone().unwrap()).unwrap());
        let runtime = world.executor().runtime();
        let ringing = runtime.clone();
        let begun = runtime.now();
        drop(runtime.spawn(async move {
            ringing.sleep(Nanos::from_millis(20)).await;
            (&shared).write_all(&1_u64.to_le_bytes()).unwrap();
        }));
        let waiting = Rc::clone(&counter);
        let waited = world.executor().block_on(async move {
            poll_fn(|context| waiting.poll_rung(context)).await;
            runtime.now().since(begun)
        });
        assert!(waited >= Nanos::from_millis(20), "{waited:?}");
    }
}
