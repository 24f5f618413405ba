//! Outcome of a command, and its exit status.

/// Outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No problem was found.
    Pass,
    /// The storage or a file is at fault.
    Fail,
    /// Inconclusive; the reason has already been printed.
    CannotJudge,
}

impl Outcome {
    /// The outcome of a verdict.
    pub const fn of(verdict: &verdict::Verdict) -> Self {
        Self::of_ruling(verdict.outcome)
    }

    /// Converts the exit status stated by an answer.
    pub const fn of_exit_code(code: u8) -> Self {
        match code {
            0 => Self::Pass,
            1 => Self::Fail,
            _ => Self::CannotJudge,
        }
    }

    /// The worse of two: a fault outweighs an inconclusive result.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        if other.badness() > self.badness() { other } else { self }
    }

    const fn badness(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::CannotJudge => 1,
            Self::Fail => 2,
        }
    }

    /// Exit status of the program: 0, 1 or 2.
    pub const fn exit_status(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Fail => 1,
            Self::CannotJudge => 2,
        }
    }

    /// One-word form for programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::CannotJudge => "cannot_judge",
        }
    }

    /// The outcome of a ruling.
    pub const fn of_ruling(ruling: verdict::Ruling) -> Self {
        match ruling.exit_code() {
            0 => Self::Pass,
            1 => Self::Fail,
            _ => Self::CannotJudge,
        }
    }
}
