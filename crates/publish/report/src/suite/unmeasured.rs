//! Why a test of a set has no record: some tests are still to come, others never will.

use verdict::Ruling;

/// Why a test of a set has no record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmeasured {
    /// It is running.
    Running,
    /// Its turn has not come.
    Waiting,
    /// The set is over and left no record of it.
    Unrecorded,
    /// The storage has not yet answered every request of the test before it.
    StorageOwes,
    /// It was not run or its record is not readable, with the ruling and the reason.
    Because(Ruling, String),
}

impl Unmeasured {
    /// Whether its record is still to come.
    pub(super) const fn is_to_come(&self) -> bool {
        matches!(self, Self::Running | Self::Waiting)
    }

    /// The ruling that the set gets from it.
    pub(super) const fn ruling(&self) -> Ruling {
        match self {
            Self::Because(ruling, _) => *ruling,
            Self::Running | Self::Waiting | Self::Unrecorded | Self::StorageOwes => {
                Ruling::CannotJudge
            }
        }
    }

    /// The reason, as a clause.
    pub(super) fn words(&self) -> &str {
        match self {
            Self::Running => "it is still running",
            Self::Waiting => "it is still waiting for its turn",
            Self::Unrecorded => "no record of it is there",
            Self::StorageOwes => "the storage owed answers to the test before",
            Self::Because(_, why) => why,
        }
    }
}
