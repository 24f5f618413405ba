//! The lookouts that a ring's thread polls in each turn.

use std::cell::RefCell;
use std::rc::Weak;

use device::Lookout;

/// See the module. A dropped lookout is removed.
#[derive(Default)]
pub(super) struct Lookouts(RefCell<Vec<Weak<dyn Lookout>>>);

impl Lookouts {
    pub(super) fn add(&self, lookout: Weak<dyn Lookout>) {
        let mut all = self.0.borrow_mut();
        all.retain(|one| one.strong_count() > 0);
        all.push(lookout);
    }

    /// Whether any has news; each one that does wakes its task.
    pub(super) fn have_news(&self) -> bool {
        self.any(|one| one.has_news())
    }

    /// Prepares all of them to wake this thread; `true` if one has news already.
    pub(super) fn before_sleep(&self) -> bool {
        self.any(|one| one.before_sleep())
    }

    /// Asks every lookout, even after one has answered yes.
    fn any(&self, question: impl Fn(&dyn Lookout) -> bool) -> bool {
        let all = self.0.borrow();
        let answers = all.iter().filter_map(Weak::upgrade).map(|one| question(&*one));
        answers.fold(false, |any, answer| any | answer)
    }
}
