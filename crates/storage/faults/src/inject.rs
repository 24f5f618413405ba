//! Makes requests fail, lie or stall according to a plan.
//!
//! Each file's requests pass through a queue that runs a misdirected or torn write alone: it
//! touches bytes outside its caller's request, which would otherwise overlap other requests in
//! flight.

mod plan;
mod queue;

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use device::{
    Completion, Device, DeviceError, FileEntry, OpenMode, Pending, Request, Runtime, Volume,
};

pub use plan::{Call, Effect, Fault, FaultPlan, Injection, Matching, Occurrence};

use plan::PlanProgress;
use queue::Queue;

/// A volume that follows a [`FaultPlan`]. Cheap to clone: clones are the same volume.
#[derive(Clone)]
pub struct FaultyVolume {
    state: Rc<InjectState>,
}

struct InjectState {
    inner: Rc<dyn Volume>,
    runtime: Runtime,
    progress: RefCell<PlanProgress>,
}

impl FaultyVolume {
    /// Wraps `inner`. Stalls sleep on `runtime`.
    pub fn new(inner: Rc<dyn Volume>, plan: FaultPlan, runtime: Runtime) -> Self {
        let state = InjectState { inner, runtime, progress: RefCell::new(PlanProgress::new(plan)) };
        Self { state: Rc::new(state) }
    }

    /// Switches to `plan`, which counts requests from now on.
    pub fn follow(&self, plan: FaultPlan) {
        *self.state.progress.borrow_mut() = PlanProgress::new(plan);
    }

    /// Faults injected so far, in order, for a test to compare with the detected ones.
    pub fn injections(&self) -> Vec<Injection> {
        self.state.progress.borrow().injections().to_vec()
    }

    /// Performs a directory operation, subject to the plan's faults.
    fn names<T: 'static>(
        &self,
        call: Call,
        file: &str,
        growth: u64,
        work: impl Future<Output = Result<T, DeviceError>> + 'static,
    ) -> Pending<T> {
        let (state, file) = (Rc::clone(&self.state), file.to_owned());
        Box::pin(async move {
            let effect = state.progress.borrow_mut().decide_names(call, &file);
            let path = format!("{}/{file}", state.inner.name());
            match effect {
                Some(Effect::Fail { done }) => {
                    if done {
                        work.await?;
                    }
                    Err(plan::injected_error(&path, call, 0))
                }
                Some(Effect::Full) => Err(DeviceError::Full { file: path, offset: growth }),
                Some(Effect::Stall(span)) => {
                    state.runtime.sleep(span).await;
                    work.await
                }
                _ => work.await,
            }
        })
    }
}

impl Volume for FaultyVolume {
    fn open(&self, file: &str, mode: OpenMode) -> Pending<Rc<dyn Device>> {
        let (call, growth) = match mode.new_length() {
            Some(length) => (Call::Create, length),
            None => (Call::Open, 0),
        };
        let opening = self.names(call, file, growth, self.state.inner.open(file, mode));
        let (state, file) = (Rc::clone(&self.state), file.to_owned());
        Box::pin(async move {
            let inner = opening.await?;
            let queue = Queue::new(Rc::clone(&inner), state.runtime.clone());
            Ok(Rc::new(FaultyDevice { inner, state, file, queue }) as Rc<dyn Device>)
        })
    }

    fn rename(&self, from: &str, to: &str) -> Pending<()> {
        self.names(Call::Rename, from, 0, self.state.inner.rename(from, to))
    }

    fn remove(&self, file: &str) -> Pending<()> {
        self.names(Call::Remove, file, 0, self.state.inner.remove(file))
    }

    fn list(&self) -> Pending<Vec<FileEntry>> {
        self.state.inner.list()
    }

    fn free_bytes(&self) -> Pending<u64> {
        self.state.inner.free_bytes()
    }

    fn name(&self) -> &str {
        self.state.inner.name()
    }
}

struct FaultyDevice {
    inner: Rc<dyn Device>,
    state: Rc<InjectState>,
    /// The name under which it was opened, which faults are matched against.
    file: String,
    queue: Rc<Queue>,
}

impl Device for FaultyDevice {
    fn submit(&self, request: Request) -> Completion {
        let mut progress = self.state.progress.borrow_mut();
        let decision = progress.decide(&self.file, &request, self.inner.length());
        drop(progress);
        self.queue.submit(request, decision)
    }

    device::same_as_inner!();
}

#[cfg(test)]
mod tests;
