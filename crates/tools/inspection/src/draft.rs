//! Builds a finding: first the check and its subject, then the observation and its consequence.

use record::{StorageFinding, StorageRuling};

/// A check of one subject that has not been decided.
#[derive(Clone, Debug)]
pub(crate) struct FindingDraft {
    name: &'static str,
    title: &'static str,
    subject: String,
}

impl FindingDraft {
    pub(crate) fn new(
        (name, title): (&'static str, &'static str),
        subject: impl Into<String>,
    ) -> Self {
        Self { name, title, subject: subject.into() }
    }

    pub(crate) fn pass(self, seen: impl Into<String>, reason: &str) -> StorageFinding {
        self.decided(StorageRuling::Pass, seen.into(), reason)
    }

    pub(crate) fn warn(self, seen: impl Into<String>, reason: &str) -> StorageFinding {
        self.decided(StorageRuling::Warn, seen.into(), reason)
    }

    pub(crate) fn fail(self, seen: impl Into<String>, reason: &str) -> StorageFinding {
        self.decided(StorageRuling::Fail, seen.into(), reason)
    }

    pub(crate) fn unknown(self, seen: impl Into<String>, reason: &str) -> StorageFinding {
        self.decided(StorageRuling::CannotJudge, seen.into(), reason)
    }

    pub(crate) fn decided(
        self,
        outcome: StorageRuling,
        seen: String,
        reason: &str,
    ) -> StorageFinding {
        StorageFinding {
            check: self.name.to_owned(),
            title: self.title.to_owned(),
            subject: self.subject,
            outcome,
            seen,
            reason: reason.to_owned(),
            remedy: None,
        }
    }
}

/// The finding with its remedy.
pub(crate) fn mended_by(finding: StorageFinding, remedy: impl Into<String>) -> StorageFinding {
    StorageFinding { remedy: Some(remedy.into()), ..finding }
}
