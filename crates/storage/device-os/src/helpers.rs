//! Threads that make blocking calls, so that the reactor never does.
//!
//! A job runs on a thread; its continuation runs on the reactor's thread when the reactor next
//! delivers. Threads are started as jobs queue up, to a maximum, and end with their owner.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::thread::JoinHandle;
#[cfg(target_os = "linux")]
use std::time::Duration;

type HelperJob = Box<dyn FnOnce() + Send>;

/// Wakes a reactor that is waiting for something other than the helpers.
pub(crate) type Bell = Box<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct Queues {
    jobs: VecDeque<(u64, HelperJob)>,
    done: Vec<u64>,
    idle: usize,
    closed: bool,
}

#[derive(Default)]
struct HelperQueue {
    queues: Mutex<Queues>,
    job_arrived: Condvar,
    job_done: Condvar,
    /// Rung when a job is done.
    bell: Option<Bell>,
}

impl HelperQueue {
    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loop of each thread until its owner closes the queue.
    fn work(&self) {
        let mut queues = self.lock();
        loop {
            if let Some((ticket, job)) = queues.jobs.pop_front() {
                drop(queues);
                job();
                queues = self.lock();
                queues.done.push(ticket);
                self.ring();
            } else if queues.closed {
                return;
            } else {
                queues.idle += 1;
                queues = self.job_arrived.wait(queues).unwrap_or_else(PoisonError::into_inner);
                queues.idle -= 1;
            }
        }
    }

    /// Runs one job on this thread, if no other could be started: slow is better than not at all.
    fn work_here(&self) {
        let job = self.lock().jobs.pop_front();
        if let Some((ticket, job)) = job {
            job();
            self.lock().done.push(ticket);
            self.ring();
        }
    }

    fn ring(&self) {
        self.job_done.notify_one();
        if let Some(bell) = &self.bell {
            bell();
        }
    }
}

/// See the module.
pub(crate) struct Helpers {
    shared: Arc<HelperQueue>,
    threads: RefCell<Vec<JoinHandle<()>>>,
    most_threads: usize,
    continuations: RefCell<HashMap<u64, Box<dyn FnOnce()>>>,
    next_ticket: Cell<u64>,
}

impl Helpers {
    /// A pool without threads yet; at most `most_threads`.
    pub(crate) fn new(most_threads: usize, bell: Option<Bell>) -> Self {
        Self {
            shared: Arc::new(HelperQueue { bell, ..HelperQueue::default() }),
            threads: RefCell::default(),
            most_threads,
            continuations: RefCell::default(),
            next_ticket: Cell::new(0),
        }
    }

    /// Runs `work` on a thread and then `then` with its result on this one.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
        then: impl FnOnce(T) + 'static,
    ) {
        let (ticket, slot) = self.announce(then);
        let job: HelperJob = Box::new(move || {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(work());
        });
        self.enqueue(ticket, job);
    }

    /// Announces a result from a foreign thread, which delivers it by calling the returned closure;
    /// `then` runs with it on this thread.
    pub(crate) fn expect<T: Send + 'static>(
        &self,
        then: impl FnOnce(T) + 'static,
    ) -> impl FnOnce(T) + Send + 'static {
        let (ticket, slot) = self.announce(then);
        let shared = Arc::clone(&self.shared);
        move |value| {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            shared.lock().done.push(ticket);
            shared.ring();
        }
    }

    /// A ticket for the continuation of a result, and the slot for the result.
    fn announce<T: Send + 'static>(
        &self,
        then: impl FnOnce(T) + 'static,
    ) -> (u64, Arc<Mutex<Option<T>>>) {
        let ticket = self.next_ticket.get();
        self.next_ticket.set(ticket + 1);
        let result = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&result);
        self.continuations.borrow_mut().insert(
            ticket,
            Box::new(move || {
                let value = result.lock().unwrap_or_else(PoisonError::into_inner).take();
                then(value.expect("invariant: a job that is done has left its result"));
            }),
        );
        (ticket, slot)
    }

    fn enqueue(&self, ticket: u64, job: HelperJob) {
        let mut queues = self.shared.lock();
        queues.jobs.push_back((ticket, job));
        let mut threads = self.threads.borrow_mut();
        if queues.idle < queues.jobs.len() && threads.len() < self.most_threads {
            let shared = Arc::clone(&self.shared);
            let named = std::thread::Builder::new().name("helper".to_owned());
            match named.spawn(move || shared.work()) {
                Ok(thread) => threads.push(thread),
                Err(_) if threads.is_empty() => {
                    drop(queues);
                    return self.shared.work_here();
                }
                // The existing threads take the job when they can.
                Err(_) => {}
            }
        }
        self.shared.job_arrived.notify_one();
    }

    /// The awaitable form of [`Self::run`]. The work starts at once.
    pub(crate) fn call<T: Send + 'static, W: FnOnce() -> T + Send + 'static>(
        &self,
        work: W,
    ) -> impl Future<Output = T> + use<T, W> {
        let state: Rc<RefCell<(Option<T>, Option<Waker>)>> = Rc::new(RefCell::new((None, None)));
        let twin = Rc::clone(&state);
        self.run(work, move |value| {
            let waker = {
                let mut state = twin.borrow_mut();
                state.0 = Some(value);
                state.1.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        std::future::poll_fn(move |context| {
            let mut state = state.borrow_mut();
            if let Some(value) = state.0.take() {
                return Poll::Ready(value);
            }
            state.1 = Some(context.waker().clone());
            Poll::Pending
        })
    }

    /// Runs the continuations of finished jobs; returns whether there were any.
    pub(crate) fn deliver(&self) -> bool {
        if !self.busy() {
            return false;
        }
        let done = std::mem::take(&mut self.shared.lock().done);
        for ticket in &done {
            let continuation = self.continuations.borrow_mut().remove(ticket);
            continuation.expect("invariant: every job has a continuation")();
        }
        !done.is_empty()
    }

    /// Whether any job has not been delivered yet.
    pub(crate) fn busy(&self) -> bool {
        !self.continuations.borrow().is_empty()
    }

    /// Waits until a job is done, for at most `limit`.
    #[cfg(target_os = "linux")]
    pub(crate) fn wait(&self, limit: Duration) {
        let queues = self.shared.lock();
        let _ =
            self.shared.job_done.wait_timeout_while(queues, limit, |queues| queues.done.is_empty());
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.job_arrived.notify_all();
        for thread in self.threads.take() {
            // A panicked job has lost its result, and no task is left that waits for it.
            let _ = thread.join();
        }
    }
}
