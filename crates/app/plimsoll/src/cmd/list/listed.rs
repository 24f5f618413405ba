//! A run of a list, found in its folder.

use std::path::PathBuf;

use record::RunRecord;
use report::started_ns;
use verdict::Verdict;

/// A run that was found.
pub(super) struct ListedRun {
    pub folder: PathBuf,
    /// `folder` relative to the searched folder, with `/` between its parts.
    pub id: String,
    pub record: RunRecord,
    pub verdict: Verdict,
    pub is_live: bool,
    /// Whether a later run took its place in a set of tests.
    pub is_replaced: bool,
    pub cut: Option<CutOff>,
    /// Last write time of its journal, since 1970.
    pub written_ns: Option<u64>,
}

/// A run that was interrupted by the end of its program or machine, or by the user.
pub(super) enum CutOff {
    /// This command completes it.
    Resumable(String),
    /// No command can complete it, for this reason.
    Lost(String),
}

impl ListedRun {
    /// A run in `folder` that ended.
    #[cfg(test)]
    pub(super) fn made(folder: &str, record: RunRecord) -> Self {
        Self {
            folder: PathBuf::from(folder),
            id: folder.to_owned(),
            verdict: verdict::judge(&record),
            record,
            is_live: false,
            is_replaced: false,
            cut: None,
            written_ns: None,
        }
    }

    /// Start time; for a simulation, whose virtual clock always starts the same, its creation time.
    pub(super) fn began_ns(&self) -> Option<u64> {
        let made_ns = self.written_ns.filter(|_| self.record.simulated().is_some());
        started_ns(&self.record).or(made_ns)
    }

    pub(super) fn verdict_word(&self) -> String {
        match self.is_live {
            true => "live".to_owned(),
            false if report::is_cut_off(&self.record) => "Cut off".to_owned(),
            false => report::verdict_name(&self.record, &self.verdict),
        }
    }
}
