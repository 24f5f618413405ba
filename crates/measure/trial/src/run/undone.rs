//! Unfinished work of a database when a part of the run is out of time.

use units::thousands;

use crate::bounds::RunStage;

/// Progress of a pass over a database file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PassSoFar {
    pub done_bytes: u64,
    pub total_bytes: u64,
    /// Whether it has ended, complete or not.
    pub is_over: bool,
}

/// Progress of a database in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DatabaseProgress {
    pub is_open: bool,
    pub is_closed: bool,
    /// The last pass over its file.
    pub pass: Option<PassSoFar>,
}

/// The unfinished work of `part` for a database with this progress, and the purpose of the time
/// limit; `None` if all is done.
pub(super) fn left_undone(
    part: RunStage,
    so_far: DatabaseProgress,
) -> Option<(String, &'static str)> {
    let DatabaseProgress { is_open, is_closed, pass } = so_far;
    match part {
        RunStage::Opening if is_open || is_closed => None,
        RunStage::Opening => Some(("was not open yet".to_owned(), "opening it")),
        RunStage::Generating => Some(("not all logs were generated".to_owned(), "them")),
        RunStage::Replaying if is_open => None,
        RunStage::Replaying => Some(("its logs were not all replayed".to_owned(), "that")),
        RunStage::Passing => pass_left(pass).map(|left| (left, "the whole pass")),
        RunStage::Finishing => {
            let left = match (pass, is_open, is_closed) {
                (Some(_), ..) | (None, _, true) => pass_left(pass)?,
                (None, true, _) => format!("its sessions had not ended{RECOVERED}"),
                (None, false, _) => format!("it was not closed yet{RECOVERED}"),
            };
            Some((left, "the end of the run"))
        }
    }
}

/// The progress of a pass that did not finish, in words; `None` if it has ended.
fn pass_left(pass: Option<PassSoFar>) -> Option<String> {
    const MIB: u64 = 1 << 20;
    let Some(pass) = pass else {
        return Some("not one page was read back".to_owned());
    };
    let (done, total) = (thousands(pass.done_bytes / MIB), thousands(pass.total_bytes / MIB));
    (!pass.is_over).then(|| format!("check: {done} of {total} MiB read, then stopped"))
}

pub(super) const fn remedy(part: RunStage) -> &'static str {
    match part {
        RunStage::Finishing => "look at the storage, or give it longer with finish in [test]",
        _ => "look at the disk, its controller and cables, and the system log",
    }
}

const RECOVERED: &str = ", so that it is recovered when it is next opened";

#[cfg(test)]
mod tests {
    use super::{DatabaseProgress, PassSoFar, left_undone};
    use crate::bounds::RunStage;

    fn left(part: RunStage, so_far: DatabaseProgress) -> Option<String> {
        left_undone(part, so_far).map(|(left, _)| left)
    }

    #[test]
    fn a_check_that_was_cut_off_says_how_far_it_came() {
        let (done_bytes, total_bytes) = (12 << 20, 64 << 20);
        let cut = PassSoFar { done_bytes, total_bytes, is_over: false };
        let so_far =
            DatabaseProgress { is_closed: true, pass: Some(cut), ..DatabaseProgress::default() };
        let text = left(RunStage::Finishing, so_far);
        assert_eq!(text.as_deref(), Some("check: 12 of 64 MiB read, then stopped"));
        let over = DatabaseProgress { pass: Some(PassSoFar { is_over: true, ..cut }), ..so_far };
        assert_eq!(left(RunStage::Finishing, over), None);
    }

    #[test]
    fn a_database_that_is_not_closed_is_recovered_next_time() {
        for is_open in [false, true] {
            let so_far = DatabaseProgress { is_open, ..DatabaseProgress::default() };
            let text = left(RunStage::Finishing, so_far).unwrap_or_default();
            assert!(text.ends_with("recovered when it is next opened"), "{text}");
        }
    }

    #[test]
    fn what_is_open_or_replayed_has_left_nothing_undone() {
        let so_far = DatabaseProgress { is_open: true, ..DatabaseProgress::default() };
        for part in [RunStage::Opening, RunStage::Replaying] {
            assert_eq!(left(part, so_far), None);
            assert!(left(part, DatabaseProgress::default()).is_some());
        }
    }
}
