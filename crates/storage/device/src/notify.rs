//! Lets tasks on one thread wait for a change.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Wakes all tasks that wait for a change. A change between two checks is never missed: a wait ends
/// with the first [`Notify::notify_all`] after [`Notify::notified`] was called.
#[derive(Debug, Default)]
pub struct Notify {
    state: RefCell<NotifyState>,
}

#[derive(Debug, Default)]
struct NotifyState {
    changes: u64,
    wakers: Vec<Waker>,
}

/// Resolves at the next change.
#[derive(Debug)]
pub struct Notified<'a> {
    notify: &'a Notify,
    seen: u64,
}

impl Notify {
    /// Wakes every waiting task.
    pub fn notify_all(&self) {
        let wakers = {
            let mut state = self.state.borrow_mut();
            state.changes += 1;
            std::mem::take(&mut state.wakers)
        };
        for waker in wakers {
            waker.wake();
        }
    }

    /// Waits for the next change after this call.
    pub fn notified(&self) -> Notified<'_> {
        Notified { notify: self, seen: self.state.borrow().changes }
    }

    /// Waits until `condition` holds; checks at once and after every change.
    pub async fn wait_until(&self, mut condition: impl FnMut() -> bool) {
        loop {
            let changed = self.notified();
            if condition() {
                return;
            }
            changed.await;
        }
    }
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.notify.state.borrow_mut();
        if state.changes != self.seen {
            return Poll::Ready(());
        }
        if !state.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            state.wakers.push(context.waker().clone());
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::Notify;

    #[test]
    fn a_wait_ends_with_the_first_change_after_it_began() {
        let notify = Notify::default();
        notify.notify_all();
        let mut waiting = pin!(notify.notified());
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(waiting.as_mut().poll(&mut context), Poll::Pending);
        notify.notify_all();
        assert_eq!(waiting.as_mut().poll(&mut context), Poll::Ready(()));
    }

    #[test]
    fn a_condition_is_looked_at_after_every_change() {
        let (notify, level) = (Notify::default(), Cell::new(0));
        let mut waiting = pin!(notify.wait_until(|| level.get() == 2));
        let mut context = Context::from_waker(Waker::noop());
        for reached in 1..=2 {
            assert!(waiting.as_mut().poll(&mut context).is_pending());
            level.set(reached);
            notify.notify_all();
        }
        assert!(waiting.as_mut().poll(&mut context).is_ready());
    }

    use std::future::Future;
}
