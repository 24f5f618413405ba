use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use units::Nanos;

use crate::{Clock, Executor, Reactor, Runtime, VirtualReactor, completion};

fn world() -> (Executor, Runtime) {
    let executor = Executor::new(VirtualReactor::new());
    let runtime = executor.runtime();
    (executor, runtime)
}

fn log() -> (Rc<RefCell<Vec<u32>>>, impl Fn(u32) + Clone) {
    let entries = Rc::new(RefCell::new(Vec::new()));
    let twin = Rc::clone(&entries);
    (entries, move |entry| twin.borrow_mut().push(entry))
}

#[test]
fn timers_fire_in_order_at_their_instants() {
    let (executor, runtime) = world();
    let (entries, note) = log();
    let task = runtime.clone();
    executor.block_on(async move {
        let handles = [30, 10, 20].map(|delay| {
            let (runtime, note) = (task.clone(), note.clone());
            task.spawn(async move {
                runtime.sleep(Nanos(u64::from(delay))).await;
                assert_eq!(runtime.now(), Nanos(u64::from(delay)));
                note(delay);
            })
        });
        for handle in handles {
            handle.await;
        }
    });
    assert_eq!(*entries.borrow(), [10, 20, 30]);
    assert_eq!(runtime.now(), Nanos(30));
}

#[test]
fn a_dropped_sleep_holds_nothing_up() {
    let (executor, runtime) = world();
    let task = runtime.clone();
    executor.block_on(async move {
        let mut forgotten = Box::pin(task.sleep(Nanos::from_secs(3600)));
        std::future::poll_fn(|context| {
            assert!(forgotten.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
        drop(forgotten);
        task.sleep(Nanos(5)).await;
    });
    assert!(runtime.core.timers.borrow().is_empty());
    assert_eq!(runtime.now(), Nanos(5));
}

#[test]
fn tasks_run_in_the_order_they_were_spawned_and_yields_take_turns() {
    let (executor, runtime) = world();
    let (entries, note) = log();
    executor.block_on(async move {
        let handles = [1, 2, 3].map(|name| {
            let (twin, note) = (runtime.clone(), note.clone());
            runtime.spawn(async move {
                note(name);
                twin.yield_now().await;
                note(name + 10);
            })
        });
        for handle in handles {
            handle.await;
        }
    });
    assert_eq!(*entries.borrow(), [1, 2, 3, 11, 12, 13]);
}

#[test]
fn join_gives_the_value_and_a_dropped_handle_lets_the_task_go_on() {
    let (executor, runtime) = world();
    let done = Rc::new(Cell::new(false));
    let twin = Rc::clone(&done);
    let value = executor.block_on(async move {
        let other = runtime.clone();
        drop(runtime.spawn(async move {
            other.sleep(Nanos(1)).await;
            twin.set(true);
        }));
        let value = runtime.spawn(async { 42 }).await;
        runtime.sleep(Nanos(2)).await;
        value
    });
    assert_eq!(value, 42);
    assert!(done.get());
}

#[test]
fn abandoned_tasks_are_dropped_and_the_executor_goes_on() {
    struct Noisy(Rc<Cell<u32>>);
    impl Drop for Noisy {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let (executor, runtime) = world();
    let dropped = Rc::new(Cell::new(0));
    for _ in 0..3 {
        let (noisy, twin) = (Noisy(Rc::clone(&dropped)), runtime.clone());
        drop(runtime.spawn(async move {
            twin.sleep(Nanos::from_secs(9)).await;
            drop(noisy);
        }));
    }
    let twin = runtime.clone();
    executor.block_on(async move { twin.sleep(Nanos(1)).await });
    executor.abandon();
    assert_eq!(dropped.get(), 3);
    assert!(runtime.core.timers.borrow().is_empty());
    assert_eq!(executor.block_on(async { 7 }), 7);
}

#[test]
#[should_panic(expected = "every task waits and nothing is in flight")]
fn waiting_for_what_cannot_happen_is_an_error() {
    let (executor, _) = world();
    let (completer, completion) = completion();
    executor.block_on(async move {
        let outcome = completion.await;
        drop(outcome);
    });
    drop(completer);
}

/// A clock that advances by 300 us at every reading, as if each poll took that long.
#[derive(Default)]
struct BusyClock(Cell<u64>);

impl Clock for BusyClock {
    fn now(&self) -> Nanos {
        self.0.set(self.0.get() + 300_000);
        Nanos(self.0.get())
    }
    fn epoch(&self) -> Nanos {
        Nanos::ZERO
    }
}

#[derive(Default)]
struct BusyReactor {
    clock: Rc<BusyClock>,
    turns: Cell<u32>,
}

impl Reactor for BusyReactor {
    fn clock(&self) -> Rc<dyn Clock> {
        Rc::<BusyClock>::clone(&self.clock)
    }
    fn turn(&self, _: Option<Nanos>) -> bool {
        self.turns.set(self.turns.get() + 1);
        true
    }
}

/// Wakes itself at every poll until it resolves.
struct Spin(u32);

impl Future for Spin {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

#[test]
fn a_long_round_is_cut_so_that_completions_are_seen() {
    let reactor = Rc::new(BusyReactor::default());
    let executor = Executor::new(Rc::<BusyReactor>::clone(&reactor));
    let runtime = executor.runtime();
    let twin = runtime.clone();
    executor.block_on(async move {
        let handles = [(); 10].map(|()| twin.spawn(Spin(1)));
        for handle in handles {
            handle.await;
        }
    });
    // Twenty polls of 300 us with a budget of 500 us: two polls per round.
    assert!(reactor.turns.get() >= 10, "{} turns", reactor.turns.get());
    assert_eq!(runtime.take_longest_poll(), Nanos::from_micros(600));
    assert_eq!(runtime.take_longest_poll(), Nanos::ZERO);
}

#[test]
fn an_executor_that_ends_takes_its_tasks_and_events_along() {
    let held = Rc::new(());
    let reactor = VirtualReactor::new();
    let executor = Executor::new(Rc::<VirtualReactor>::clone(&reactor));
    let runtime = executor.runtime();
    let (mine, twin) = (Rc::clone(&held), runtime.clone());
    drop(runtime.spawn(async move {
        twin.sleep(Nanos::from_secs(1)).await;
        drop(mine);
    }));
    let (mine, itself) = (Rc::clone(&held), Rc::clone(&reactor));
    reactor.after(Nanos::from_secs(1), move || drop((mine, itself)));
    executor.block_on(async {});
    assert_eq!(Rc::strong_count(&held), 3);
    drop((runtime, executor, reactor));
    assert_eq!(Rc::strong_count(&held), 1);
}
