//! How a database ends a run early.

/// Why a database could not continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Text of the record's issue.
    pub text: String,
    /// Whether it could not even be opened, so that nothing is known about its storage.
    pub at_open: bool,
}
