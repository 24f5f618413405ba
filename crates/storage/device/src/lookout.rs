//! Polls memory that another program changes: a thread that is awake notices requests there sooner,
//! and at less cost, than through the system.

/// A place that a reactor polls in each turn.
pub trait Lookout {
    /// Whether anything has arrived since the last time it was taken; wakes the task that takes it.
    fn has_news(&self) -> bool;

    /// The thread is about to sleep: from now on the other program must wake it. Then the same as
    /// [`Self::has_news`], for what came before it knew.
    fn before_sleep(&self) -> bool;
}
