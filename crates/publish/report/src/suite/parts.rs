//! Which runs make up a set: the names of their folders, shared by every reader of run folders.

use record::TestType;

/// The tests of a set in order, each with the folder of its run relative to that of the set. Tests
/// that generate a load check every page at their end, so there is no separate checksum test.
pub const SUITE_PARTS: [(&str, TestType); 4] = [
    ("1-performance", TestType::Performance),
    ("2-stress", TestType::Stress),
    ("3-backup", TestType::Backup),
    ("4-recovery", TestType::Recovery),
];

/// The folder of the set that `run` is a part of, and which of its tests it is; folders are
/// separated by `/`. The set is empty if `run` has only one folder.
pub fn suite_of(run: &str) -> Option<(&str, TestType)> {
    let (set, own) = run.rsplit_once('/').unwrap_or(("", run));
    SUITE_PARTS.iter().find(|(name, _)| *name == own).map(|(_, kind)| (set, *kind))
}

#[cfg(test)]
mod tests {
    use record::TestType;

    use super::suite_of;

    #[test]
    fn a_part_is_known_by_the_name_of_its_folder() {
        assert_eq!(suite_of("runs/set/2-stress"), Some(("runs/set", TestType::Stress)));
        assert_eq!(suite_of("3-backup"), Some(("", TestType::Backup)));
        assert_eq!(suite_of("runs/set/5-checksum"), None);
        assert_eq!(suite_of("runs/x2-stress"), None);
    }
}
