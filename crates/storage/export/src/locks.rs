//! Decides which requests may access which bytes concurrently. Clients may overlap requests, and a
//! request that ends inside a sector reads and writes all of it; devices accept neither.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// A request that holds its bytes, or waits for them.
struct Occupant {
    number: u64,
    bytes: Range<u64>,
    is_change: bool,
    waker: Option<Waker>,
}

/// The requests on one volume, oldest first.
#[derive(Default)]
pub(crate) struct Occupancy {
    occupants: RefCell<Vec<Occupant>>,
    next: Cell<u64>,
}

/// Bytes held, until it is dropped.
pub(crate) struct HeldRange {
    occupancy: Rc<Occupancy>,
    number: u64,
}

impl Occupancy {
    /// Waits for every earlier request that overlaps `bytes`, if either of the two changes them.
    pub(crate) async fn hold(self: &Rc<Self>, bytes: Range<u64>, is_change: bool) -> HeldRange {
        let number = self.next.replace(self.next.get() + 1);
        self.occupants.borrow_mut().push(Occupant { number, bytes, is_change, waker: None });
        let held = HeldRange { occupancy: Rc::clone(self), number };
        std::future::poll_fn(|context| {
            let mut occupants = self.occupants.borrow_mut();
            let Some(at) = occupants.iter().position(|occupant| occupant.number == number) else {
                return Poll::Ready(());
            };
            let (earlier, own) = occupants.split_at_mut(at);
            let Some(own) = own.first_mut() else {
                return Poll::Ready(());
            };
            if !earlier.iter().any(|other| other.conflicts(own)) {
                return Poll::Ready(());
            }
            own.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
        held
    }
}

impl Occupant {
    fn conflicts(&self, other: &Self) -> bool {
        let overlap = self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end;
        overlap && (self.is_change || other.is_change)
    }
}

impl Drop for HeldRange {
    fn drop(&mut self) {
        let mut occupants = self.occupancy.occupants.borrow_mut();
        occupants.retain(|occupant| occupant.number != self.number);
        for occupant in occupants.iter_mut() {
            if let Some(waker) = occupant.waker.take() {
                waker.wake();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use device::{Executor, VirtualReactor};
    use units::Nanos;

    use super::Occupancy;

    #[test]
    fn reads_share_and_changes_wait_their_turn() {
        let executor = Executor::new(VirtualReactor::new());
        let runtime = executor.runtime();
        let (occupancy, seen) = (Rc::<Occupancy>::default(), Rc::<RefCell<Vec<_>>>::default());
        let wanted = [
            (0..8, false, 0),
            (4..12, false, 0),
            (6..7, true, 10),
            (0..6, false, 0),
            (6..9, false, 20),
            (8..9, true, 30),
            (100..101, true, 0),
        ];
        for (bytes, is_change, expected) in wanted {
            let (occupancy, seen) = (Rc::clone(&occupancy), Rc::clone(&seen));
            let clock = runtime.clone();
            drop(runtime.spawn(async move {
                let _held = occupancy.hold(bytes, is_change).await;
                seen.borrow_mut().push((clock.now(), Nanos(expected)));
                clock.sleep(Nanos(10)).await;
            }));
        }
        executor.block_on(async move { runtime.sleep(Nanos(100)).await });
        assert_eq!(seen.borrow().len(), 7);
        assert!(seen.borrow().iter().all(|(at, expected)| at == expected), "{seen:?}");
        assert!(occupancy.occupants.borrow().is_empty());
    }
}
