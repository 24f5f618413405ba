//! The folders of a set of tests: which run of each test counts.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use host::{journal_of, load};
use record::TestType;
use report::{SUITE_PARTS, split_replaced, suite_of};

/// The folder of each test: that of its last run, if it was repeated.
pub(crate) fn parts_of(folder: &Path) -> Vec<(String, TestType)> {
    let mut found: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().into_string().ok();
        found.extend(name.filter(|_| journal_of(&entry.path()).exists()));
    }
    // A run of another kind, made in a folder with the name of a test, is not that test.
    found.retain(|name| {
        let kind = suite_of(name).map(|(_, kind)| kind);
        let other = load(&folder.join(name)).is_ok_and(|run| Some(run.start.test) != kind);
        kind.is_some() && !other
    });
    let (last, _) = split_replaced(found, String::as_str);
    SUITE_PARTS
        .into_iter()
        .map(|(own, test)| {
            let last = last.iter().find(|name| suite_of(name).is_some_and(|of| of.1 == test));
            (last.map_or(own, String::as_str).to_owned(), test)
        })
        .collect()
}

/// Whether a later run took the place of the run in `folder` in its set.
pub(crate) fn is_replaced(folder: &Path, test: TestType) -> bool {
    let name = folder.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let is_part = suite_of(name).is_some_and(|(_, kind)| kind == test);
    let set = folder.parent().filter(|_| is_part);
    set.is_some_and(|set| parts_of(set).iter().any(|(last, kind)| *kind == test && last != name))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use record::TestType;
    use report::SUITE_PARTS;

    use super::{is_replaced, journal_of, parts_of};

    #[test]
    fn a_set_has_the_last_run_of_each_test() {
        let set = std::env::temp_dir().join(format!("plimsoll-parts-{}", std::process::id()));
        for part in ["2-stress", "2-stress-2", "3-backup", "1-performance-x"] {
            fs::create_dir_all(set.join(part)).unwrap();
            fs::write(journal_of(&set.join(part)), "").unwrap();
        }
        // A repeated test that was refused leaves no journal.
        fs::create_dir(set.join("3-backup-2")).unwrap();
        let mut expected = SUITE_PARTS.map(|(part, kind)| (part.to_owned(), kind)).to_vec();
        expected[1].0 = "2-stress-2".to_owned();
        assert_eq!(parts_of(&set), expected);
        assert!(is_replaced(&set.join("2-stress"), TestType::Stress));
        assert!(!is_replaced(&set.join("2-stress-2"), TestType::Stress));
        assert!(!is_replaced(&set.join("2-stress"), TestType::Performance));
        fs::remove_dir_all(&set).unwrap();
    }
}
