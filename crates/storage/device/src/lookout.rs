//! Polls memory that another program changes: a thread that is awake notices requests there sooner,
//! and at less cost, than through the system.

/// A place that a reactor polls in each turn.
pub trait Lookout {
    /// Whether anything new has arrived; if so, wakes the task that takes it.
    fn has_news(&self) -> bool;

    /// Called before the thread sleeps: from then on the other program must wake it. Then answers
    /// like [`Self::has_news`], for anything that arrived before the other program knew.
    fn before_sleep(&self) -> bool;
}
