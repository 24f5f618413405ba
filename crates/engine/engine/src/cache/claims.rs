//! Keeps page writes and the maintenance scan's reads apart, because overlapping requests complete
//! in no defined order.

use std::cell::RefCell;
use std::ops::Range;

use device::Notify;
use units::PageNumber;

/// The pages covered by requests in flight.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    held: RefCell<Vec<Range<u32>>>,
    released: Notify,
}

/// Holds its pages until dropped.
#[derive(Debug)]
pub(crate) struct Claim<'a> {
    claims: &'a Claims,
    pages: Range<u32>,
}

impl Claims {
    /// Waits until no other claim holds any of the `count` pages from `first` on, then claims them.
    pub(crate) async fn claim(&self, first: PageNumber, count: u32) -> Claim<'_> {
        let pages = first.0..first.0.saturating_add(count);
        self.released
            .wait_until(|| {
                let held = self.held.borrow();
                held.iter().all(|held| held.end <= pages.start || pages.end <= held.start)
            })
            .await;
        self.held.borrow_mut().push(pages.clone());
        Claim { claims: self, pages }
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut held = self.claims.held.borrow_mut();
        let place = held.iter().position(|held| *held == self.pages);
        held.swap_remove(place.expect("invariant: a claim is held until it is dropped"));
        drop(held);
        self.claims.released.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future as _;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use units::PageNumber;

    use super::Claims;

    #[test]
    fn a_claim_waits_for_those_that_overlap_it() {
        let claims = Claims::default();
        let mut context = Context::from_waker(Waker::noop());
        let mut poll = |first, count| {
            let mut claim = Box::pin(claims.claim(PageNumber(first), count));
            match claim.as_mut().poll(&mut context) {
                std::task::Poll::Ready(claim) => Some(claim),
                std::task::Poll::Pending => None,
            }
        };
        let held = poll(10, 8).expect("nothing is held");
        assert!(poll(17, 1).is_none());
        assert!(poll(9, 2).is_none());
        let beside = [poll(18, 4), poll(1, 9)];
        assert!(beside.iter().all(Option::is_some));
        drop(held);
        assert!(poll(17, 1).is_some());
        assert!(poll(18, 1).is_none(), "the neighbour still holds it");
    }

    #[test]
    fn a_waiting_claim_gets_its_pages_when_they_are_released() {
        let claims = Claims::default();
        let mut context = Context::from_waker(Waker::noop());
        let mut first = Box::pin(claims.claim(PageNumber(1), 4));
        let held = first.as_mut().poll(&mut context);
        let mut second = pin!(claims.claim(PageNumber(4), 4));
        assert!(second.as_mut().poll(&mut context).is_pending());
        drop(held);
        drop(first);
        assert!(second.as_mut().poll(&mut context).is_ready());
    }
}
