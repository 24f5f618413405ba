//! Decides which requests may use which blocks concurrently. A cache block may be larger than a
//! request, so two requests that do not overlap for their callers can still meet in one block.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use crate::signal::Signal;

/// A request's effect on its blocks. Requests of the same mode share them, except updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClaimMode {
    /// Reads them, or fills the cache from the backing volume.
    Read,
    /// Changes them on the backing volume; the cache forgets them.
    Invalidate,
    /// Changes them on the backing volume and in the cache.
    Update,
}

#[derive(Clone, Debug)]
struct RangeClaim {
    number: u64,
    blocks: Range<u64>,
    mode: ClaimMode,
}

impl RangeClaim {
    fn conflicts(&self, other: &Self) -> bool {
        let overlap = self.blocks.start < other.blocks.end && other.blocks.start < self.blocks.end;
        overlap && (self.mode != other.mode || self.mode == ClaimMode::Update)
    }
}

/// The claims on one volume, in the order in which they were made.
#[derive(Default)]
pub(super) struct RangeLocks {
    claims: RefCell<Vec<RangeClaim>>,
    next: Cell<u64>,
    released: Signal,
}

/// A claim that was granted, until it is dropped.
pub(super) struct Claimed {
    locks: Rc<RangeLocks>,
    number: u64,
}

impl RangeLocks {
    /// Waits for the blocks. Claims that conflict are granted in the order of their arrival.
    pub(super) async fn claim(self: &Rc<Self>, blocks: Range<u64>, mode: ClaimMode) -> Claimed {
        let number = self.next.replace(self.next.get() + 1);
        let claim = RangeClaim { number, blocks, mode };
        self.claims.borrow_mut().push(claim.clone());
        let claimed = Claimed { locks: Rc::clone(self), number };
        self.released.until(|| self.is_first(&claim)).await;
        claimed
    }

    fn is_first(&self, claim: &RangeClaim) -> bool {
        let claims = self.claims.borrow();
        let mut earlier = claims.iter().take_while(|other| other.number < claim.number);
        !earlier.any(|other| other.conflicts(claim))
    }
}

impl Drop for Claimed {
    fn drop(&mut self) {
        self.locks.claims.borrow_mut().retain(|claim| claim.number != self.number);
        self.locks.released.notify();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use device::{Executor, VirtualReactor};
    use units::Nanos;

    use super::{ClaimMode, RangeLocks};

    #[test]
    fn claims_that_conflict_wait_in_their_order() {
        let executor = Executor::new(VirtualReactor::new());
        let runtime = executor.runtime();
        let (locks, seen) = (Rc::<RangeLocks>::default(), Rc::<RefCell<Vec<_>>>::default());
        let wanted = [
            (0..4, ClaimMode::Read, 0),
            (2..3, ClaimMode::Read, 0),
            (3..5, ClaimMode::Invalidate, 10),
            (4..6, ClaimMode::Invalidate, 0),
            (0..9, ClaimMode::Read, 20),
            (8..9, ClaimMode::Update, 30),
            (8..9, ClaimMode::Update, 40),
            (100..101, ClaimMode::Update, 0),
        ];
        for (blocks, mode, expected) in wanted {
            let (locks, seen, clock) = (Rc::clone(&locks), Rc::clone(&seen), runtime.clone());
            drop(runtime.spawn(async move {
                let _claimed = locks.claim(blocks, mode).await;
                seen.borrow_mut().push((clock.now(), Nanos(expected)));
                clock.sleep(Nanos(10)).await;
            }));
        }
        let clock = runtime.clone();
        executor.block_on(async move { clock.sleep(Nanos(100)).await });
        assert_eq!(seen.borrow().len(), 8);
        for (at, expected) in seen.borrow().iter() {
            assert_eq!(at, expected);
        }
    }
}
