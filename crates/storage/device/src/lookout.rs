//! Memory that another program changes: a thread that is awake sees its requests there sooner, and
//! cheaper, than the system reports them.

/// A place that a reactor looks at in each turn.
pub trait Lookout {
    /// Whether something has come since it was last taken; wakes the task that takes it.
    fn has_news(&self) -> bool;

    /// The thread is about to sleep: from now on the other program must wake it. Then the same as
    /// [`Self::has_news`], for what came before it knew.
    fn before_sleep(&self) -> bool;
}
