//! Work that completes, or is abandoned if the storage does not answer.

use std::future::Future as _;
use std::pin::Pin;
use std::task::Poll;

use device::{JoinHandle, Runtime};
use units::Nanos;

use crate::coordinator::Coordinator;
use crate::patience::{self, Patience};

/// Interval between checks of waiting requests.
const LOOK: Nanos = Nanos::from_millis(50);

/// Waits for the value of `task`, or until `look` returns an error that ends the wait. `look`
/// receives the moment before which a waiting request is overdue, or `None` if nothing can be
/// overdue.
pub(crate) async fn outlast<T, E>(
    runtime: &Runtime,
    coordinator: &Coordinator,
    give_up: Nanos,
    task: &mut JoinHandle<T>,
    look: impl Fn(Option<Nanos>) -> Option<E>,
) -> Result<T, E> {
    let mut patience = Patience::new(runtime.now());
    loop {
        if let Some(value) = value_within(runtime, task, LOOK).await {
            return Ok(value);
        }
        let limit = patience::limit(give_up, coordinator.stopped().is_some());
        if let Some(why) = look(patience.look(runtime.now(), limit)) {
            return Err(why);
        }
    }
}

/// The value of `task`, if it arrives within `span`.
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
