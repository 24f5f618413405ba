//! Memory for requests in progress, shared by all connections: one that finds none left
//! reads no more from its client until other requests are done.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Poll, Waker};

struct BudgetState {
    left: Cell<u64>,
    total: u64,
    next: Cell<u64>,
    /// Waiting requests, in order of arrival.
    queue: RefCell<VecDeque<(u64, Option<Waker>)>>,
}

/// Total bytes that requests may hold. Cheap to clone: clones share the budget.
#[derive(Clone)]
pub struct MemoryBudget {
    state: Rc<BudgetState>,
}

/// Bytes taken from a budget, until it is dropped.
pub struct Reserved {
    state: Rc<BudgetState>,
    bytes: u64,
}

impl MemoryBudget {
    /// A budget of `bytes`; a request for more is granted all of it.
    pub fn new(bytes: u64) -> Self {
        let state = BudgetState {
            left: Cell::new(bytes),
            total: bytes,
            next: Cell::new(0),
            queue: RefCell::default(),
        };
        Self { state: Rc::new(state) }
    }

    /// Bytes in use.
    pub fn used(&self) -> u64 {
        self.state.total - self.state.left.get()
    }

    /// Waits for `bytes`, after earlier callers.
    pub async fn reserve(&self, bytes: u64) -> Reserved {
        let state = &self.state;
        let bytes = bytes.min(state.total);
        let place = BudgetTurn { state, number: state.next.replace(state.next.get() + 1) };
        state.queue.borrow_mut().push_back((place.number, None));
        std::future::poll_fn(|context| {
            let mut queue = state.queue.borrow_mut();
            let is_first = queue.front().is_some_and(|(first, _)| *first == place.number);
            if is_first && state.left.get() >= bytes {
                return Poll::Ready(());
            }
            if let Some(own) = queue.iter_mut().find(|(number, _)| *number == place.number) {
                own.1 = Some(context.waker().clone());
            }
            Poll::Pending
        })
        .await;
        state.left.set(state.left.get() - bytes);
        Reserved { state: Rc::clone(state), bytes }
    }
}

/// A place in the queue, given up when it is dropped.
struct BudgetTurn<'a> {
    state: &'a BudgetState,
    number: u64,
}

impl BudgetState {
    fn wake_first(&self) {
        let waker = self.queue.borrow_mut().front_mut().and_then(|(_, waker)| waker.take());
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Drop for BudgetTurn<'_> {
    fn drop(&mut self) {
        self.state.queue.borrow_mut().retain(|(number, _)| *number != self.number);
        self.state.wake_first();
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.state.left.set(self.state.left.get() + self.bytes);
        self.state.wake_first();
    }
}

#[cfg(test)]
mod tests {
    use device::{Executor, VirtualReactor};
    use units::Nanos;

    use super::MemoryBudget;

    #[test]
    fn no_more_than_the_budget_is_in_use_and_none_is_overtaken() {
        let executor = Executor::new(VirtualReactor::new());
        let runtime = executor.runtime();
        let budget = MemoryBudget::new(100);
        let mut tasks = Vec::new();
        for bytes in [60, 60, 10, 1_000] {
            let (budget, clock) = (budget.clone(), runtime.clone());
            tasks.push(runtime.spawn(async move {
                let _reserved = budget.reserve(bytes).await;
                assert!(budget.used() <= 100);
                let granted = clock.now();
                clock.sleep(Nanos(10)).await;
                granted.0
            }));
        }
        let granted = executor.block_on(async move {
            let mut granted = Vec::new();
            for task in tasks {
                granted.push(task.await);
            }
            granted
        });
        assert_eq!(granted, [0, 10, 10, 20]);
        assert_eq!(budget.used(), 0);
    }
}
