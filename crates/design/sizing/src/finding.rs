//! Problems found in a calculated deployment.

use std::borrow::Cow;

use crate::key::Key;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing when it is built.
    Remark,
    /// It can be built, but needs a second look.
    Warning,
    /// It cannot be built, or would be unsupported.
    Violation,
}

impl Severity {
    /// The word for people and programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Remark => "remark",
            Self::Warning => "warning",
            Self::Violation => "violation",
        }
    }
}

/// Weight and subject of a finding that is no remark.
pub(crate) type DesignProblem = (Severity, Key);

/// One thing wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesignFinding {
    /// How bad it is.
    pub severity: Severity,
    /// The result that shows it.
    pub key: Key,
    /// The problem and its remedy.
    pub text: String,
    /// What to change.
    pub remedy: Cow<'static, str>,
}
