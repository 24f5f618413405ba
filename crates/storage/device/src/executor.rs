//! Tasks on one thread, driven by a reactor: the kernel's completions or virtual time.
//!
//! Tasks are woken through a queue behind a mutex that is hardly ever contended: `Waker` demands
//! `Send`, and the safe way to build one is an `Arc`. The cost is about 20 ns per wake-up.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use units::Nanos;

use crate::Clock;

/// Source of completions.
pub trait Reactor {
    /// The reactor's clock.
    fn clock(&self) -> Rc<dyn Clock>;

    /// Submits queued requests and delivers completions. With `until` `None` or in the past, it
    /// only polls; otherwise it waits until a completion arrives or the clock reaches `until`
    /// ([`Nanos::MAX`] for no timer). Returns false if nothing is in flight and no timer could ever
    /// end the wait.
    fn turn(&self, until: Option<Nanos>) -> bool;

    /// Drops deliveries that no task waits for any more: they may hold a reference to this reactor
    /// and thus keep it alive forever. A reactor of real storage need not do anything.
    fn retire(&self) {}
}

/// Work of a function that is rarely called, in a box. The body of an `async fn` is compiled by
/// every crate that awaits it, with all that it awaits itself; a boxed one by its own crate alone.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

type LocalTask = Boxed<'static, ()>;

struct ReadyQueue(Mutex<VecDeque<usize>>);

impl ReadyQueue {
    fn push(&self, task: usize) {
        self.queue().push_back(task);
    }

    fn pop(&self) -> Option<usize> {
        self.queue().pop_front()
    }

    fn is_empty(&self) -> bool {
        self.queue().is_empty()
    }

    fn len(&self) -> usize {
        self.queue().len()
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct TaskWaker {
    task: usize,
    ready: Arc<ReadyQueue>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.ready.push(self.task);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ready.push(self.task);
    }
}

struct TaskSlot {
    task: Option<LocalTask>,
    waker: Waker,
}

/// Timers by instant, then by order of registration.
type Timers = BTreeMap<(Nanos, u64), Waker>;

/// Time limit of a round of polls, even if tasks are still ready, so that completions are noticed
/// at most this long plus one poll late.
const ROUND_BUDGET: Nanos = Nanos::from_micros(500);

struct ExecutorCore {
    slots: RefCell<Vec<Option<TaskSlot>>>,
    free: RefCell<Vec<usize>>,
    spawned: RefCell<Vec<LocalTask>>,
    ready: Arc<ReadyQueue>,
    timers: RefCell<Timers>,
    sequence: Cell<u64>,
    clock: Rc<dyn Clock>,
    longest_round: Cell<Nanos>,
}

/// Services for a task: time, sleep and spawning. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    core: Rc<ExecutorCore>,
}

/// Resolves when the clock reaches an instant. Dropping it cancels the timer.
pub struct Sleep {
    core: Rc<ExecutorCore>,
    at: Nanos,
    timer: Option<u64>,
}

/// Resolves to the value of a spawned task. Dropping it detaches the task.
pub struct JoinHandle<T> {
    state: Rc<RefCell<JoinState<T>>>,
}

struct JoinState<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

/// Runs tasks on the calling thread.
pub struct Executor {
    runtime: Runtime,
    reactor: Rc<dyn Reactor>,
}

/// Tasks hold the runtime and, through it, themselves, so dropping the executor must end them.
impl Drop for Executor {
    fn drop(&mut self) {
        self.abandon();
        self.reactor.retire();
    }
}

impl Executor {
    /// An executor driven by `reactor`.
    pub fn new(reactor: Rc<dyn Reactor>) -> Self {
        let core = Rc::new(ExecutorCore {
            slots: RefCell::default(),
            free: RefCell::default(),
            spawned: RefCell::default(),
            ready: Arc::new(ReadyQueue(Mutex::default())),
            timers: RefCell::default(),
            sequence: Cell::new(0),
            clock: reactor.clock(),
            longest_round: Cell::new(Nanos::ZERO),
        });
        Self { runtime: Runtime { core }, reactor }
    }

    /// The handle that tasks use.
    pub fn runtime(&self) -> Runtime {
        self.runtime.clone()
    }

    /// Runs until `future` resolves; tasks it spawned may still be pending then and continue at the
    /// next call. Panics when every task waits for something that cannot happen.
    pub fn block_on<T: 'static>(&self, future: impl Future<Output = T> + 'static) -> T {
        let handle = self.runtime.spawn(future);
        loop {
            self.run_ready();
            if let Some(value) = handle.take() {
                return value;
            }
            let more = self.reactor.turn(self.next_wait());
            self.fire_timers();
            let idle =
                self.runtime.core.ready.is_empty() && self.runtime.core.timers.borrow().is_empty();
            assert!(more || !idle, "every task waits and nothing is in flight");
        }
    }

    /// Drops every task that has not finished, as a crash would.
    pub fn abandon(&self) {
        let slots = std::mem::take(&mut *self.runtime.core.slots.borrow_mut());
        self.runtime.core.free.borrow_mut().clear();
        drop(slots); // May drop timers and wake other tasks, so the rest comes after.
        self.runtime.core.spawned.borrow_mut().clear();
        while self.runtime.core.ready.pop().is_some() {}
    }

    fn next_wait(&self) -> Option<Nanos> {
        if !self.runtime.core.ready.is_empty() {
            return None;
        }
        let timers = self.runtime.core.timers.borrow();
        Some(timers.keys().next().map_or(Nanos::MAX, |&(at, _)| at))
    }

    fn fire_timers(&self) {
        let core = &self.runtime.core;
        let mut timers = core.timers.borrow_mut();
        if timers.is_empty() {
            return; // Saves reading the clock for every I/O.
        }
        let now = core.clock.now();
        while let Some(timer) = timers.first_entry()
            && timer.key().0 <= now
        {
            timer.remove().wake();
        }
    }

    /// Polls the tasks that were ready when it was called; tasks woken meanwhile wait for the next
    /// round, so that completions are seen between rounds.
    fn run_ready(&self) {
        let core = &self.runtime.core;
        core.admit();
        let started = core.clock.now();
        let mut spent = Nanos::ZERO;
        for _ in 0..core.ready.len() {
            let Some(task) = core.ready.pop() else {
                break;
            };
            core.poll(task);
            core.admit();
            spent = core.clock.now().since(started);
            if spent > ROUND_BUDGET {
                break;
            }
        }
        core.longest_round.set(core.longest_round.get().max(spent));
    }
}

impl ExecutorCore {
    /// Gives tasks spawned since the last call a slot and marks them ready.
    fn admit(&self) {
        let spawned = std::mem::take(&mut *self.spawned.borrow_mut());
        for task in spawned {
            let mut slots = self.slots.borrow_mut();
            let index = self.free.borrow_mut().pop().unwrap_or_else(|| {
                slots.push(None);
                slots.len() - 1
            });
            let waker =
                Waker::from(Arc::new(TaskWaker { task: index, ready: Arc::clone(&self.ready) }));
            slots[index] = Some(TaskSlot { task: Some(task), waker });
            self.ready.push(index);
        }
    }

    fn poll(&self, index: usize) {
        let Some((mut task, waker)) = self.slots.borrow_mut().get_mut(index).and_then(|slot| {
            let slot = slot.as_mut()?;
            Some((slot.task.take()?, slot.waker.clone()))
        }) else {
            return; // Woken after it had finished.
        };
        let poll = task.as_mut().poll(&mut Context::from_waker(&waker));
        if poll.is_ready() {
            self.slots.borrow_mut()[index] = None;
            self.free.borrow_mut().push(index);
        } else if let Some(slot) = self.slots.borrow_mut()[index].as_mut() {
            slot.task = Some(task);
        }
    }
}

impl Runtime {
    /// The clock.
    pub fn clock(&self) -> Rc<dyn Clock> {
        Rc::clone(&self.core.clock)
    }

    /// The time now.
    pub fn now(&self) -> Nanos {
        self.core.clock.now()
    }

    /// Waits for a span.
    pub fn sleep(&self, span: Nanos) -> Sleep {
        self.sleep_until(self.now() + span)
    }

    /// Waits for an instant.
    pub fn sleep_until(&self, at: Nanos) -> Sleep {
        Sleep { core: Rc::clone(&self.core), at, timer: None }
    }

    /// Lets other tasks and completions proceed. Long computations call this about every
    /// millisecond, since a late reactor falsifies latencies.
    pub fn yield_now(&self) -> impl Future<Output = ()> + use<> {
        let mut yielded = false;
        std::future::poll_fn(move |context| {
            if yielded {
                return Poll::Ready(());
            }
            yielded = true;
            context.waker().wake_by_ref();
            Poll::Pending
        })
    }

    /// Starts a task on this thread.
    pub fn spawn<T: 'static>(&self, future: impl Future<Output = T> + 'static) -> JoinHandle<T> {
        let state = Rc::new(RefCell::new(JoinState { value: None, waker: None }));
        let shared = Rc::clone(&state);
        let task = async move {
            let value = future.await;
            let waker = {
                let mut shared = shared.borrow_mut();
                shared.value = Some(value);
                shared.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        };
        self.core.spawned.borrow_mut().push(Box::pin(task));
        JoinHandle { state }
    }

    /// The longest time between two turns of the reactor since the last call: completions may have
    /// been noticed this late.
    pub fn take_longest_poll(&self) -> Nanos {
        self.core.longest_round.replace(Nanos::ZERO)
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.core.clock.now() >= self.at {
            return Poll::Ready(());
        }
        let number = self.timer.unwrap_or_else(|| {
            let number = self.core.sequence.get();
            self.core.sequence.set(number + 1);
            number
        });
        self.timer = Some(number);
        self.core.timers.borrow_mut().insert((self.at, number), context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(number) = self.timer {
            self.core.timers.borrow_mut().remove(&(self.at, number));
        }
    }
}

impl<T> JoinHandle<T> {
    /// The value, if the task has finished.
    pub fn take(&self) -> Option<T> {
        self.state.borrow_mut().value.take()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut state = self.state.borrow_mut();
        if let Some(value) = state.value.take() {
            return Poll::Ready(value);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests;
