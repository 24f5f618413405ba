//! Work that ends by itself, or is left behind where the storage does not answer.

use std::future::Future as _;
use std::pin::Pin;
use std::task::Poll;

use device::{JoinHandle, Runtime};
use units::Nanos;

use crate::coordinator::Coordinator;
use crate::patience::{self, Patience};

/// How often it is looked at what waits.
const LOOK: Nanos = Nanos::from_millis(50);

/// Waits for the value of `task`, or until `late` names what the storage was asked before a moment
/// and has not answered: that is the error. `late` is called at every look, without a moment where
/// nothing can be late.
pub(crate) async fn outlast<T, L>(
    runtime: &Runtime,
    coordinator: &Coordinator,
    give_up: Nanos,
    task: &mut JoinHandle<T>,
    late: impl Fn(Option<Nanos>) -> Vec<L>,
) -> Result<T, Vec<L>> {
    let mut patience = Patience::new(runtime.now());
    loop {
        if let Some(value) = value_within(runtime, task, LOOK).await {
            return Ok(value);
        }
        let limit = patience::limit(give_up, coordinator.stopped().is_some());
        let found = late(patience.look(runtime.now(), limit));
        if !found.is_empty() {
            return Err(found);
        }
    }
}

/// The value of `task`, where it comes within `span`.
pub(crate) async fn value_within<T>(
    runtime: &Runtime,
    task: &mut JoinHandle<T>,
    span: Nanos,
) -> Option<T> {
    let mut timer = runtime.sleep(span);
    std::future::poll_fn(move |context| {
        if let Poll::Ready(value) = Pin::new(&mut *task).poll(context) {
            return Poll::Ready(Some(value));
        }
        Pin::new(&mut timer).poll(context).map(|()| None)
    })
    .await
}
