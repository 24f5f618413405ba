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

/// Waits for the value of `task`, or until `look` says why it is not to be waited for: that is the
/// error. `look` is called with the moment before which whatever waits has waited for too long,
/// without one where nothing can have.
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
