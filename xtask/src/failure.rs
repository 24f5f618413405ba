//! The only error type of this program: a text with the remedy.

use std::fmt;

/// Why a command failed, in full sentences.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    /// A failure that prints `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A failure with the message of `error`.
    pub fn of(error: impl fmt::Display) -> Self {
        Self(error.to_string())
    }

    /// A failure that lists complaints under a headline.
    pub fn list(headline: &str, complaints: &[String]) -> Self {
        Self(format!("{headline}\n  {}", complaints.join("\n  ")))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}
