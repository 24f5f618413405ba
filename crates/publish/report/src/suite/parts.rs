//! Which runs make up a set: the names of their folders, shared by every reader of run folders.

use std::cmp::Reverse;

use record::TestType;

/// The tests of a set in order, each with the folder of its run relative to that of the set. Tests
/// that generate a load check every page at their end, so there is no separate checksum test.
pub const SUITE_PARTS: [(&str, TestType); 4] = [
    ("1-performance", TestType::Performance),
    ("2-stress", TestType::Stress),
    ("3-backup", TestType::Backup),
    ("4-recovery", TestType::Recovery),
];

/// Remark on a run that is listed beside its set.
pub const REPLACED: &str = "replaced in its set by a later run";

/// The folder of the set that `run` is a part of, and which of its tests it is; folders are
/// separated by `/`. The set is empty if `run` has only one folder. A repeated test has a number
/// after its name, as in `2-stress-2`.
pub fn suite_of(run: &str) -> Option<(&str, TestType)> {
    let (set, own) = split(run);
    part_of(own).map(|(at, _)| (set, SUITE_PARTS[at].1))
}

/// Splits runs into the last one of each test of a set, in the order of sets and tests, and the
/// earlier ones that these replace. A run that is part of no set replaces none.
pub fn split_replaced<R>(runs: Vec<R>, folder: impl Fn(&R) -> &str) -> (Vec<R>, Vec<R>) {
    let mut runs = runs;
    runs.sort_by_cached_key(|run| {
        let (set, own) = split(folder(run));
        (set.to_owned(), part_of(own).map(|(at, number)| (at, Reverse(number))))
    });
    let (mut last, mut replaced): (Vec<R>, Vec<R>) = (Vec::new(), Vec::new());
    for run in runs {
        let part = suite_of(folder(&run));
        let before = last.last().and_then(|run| suite_of(folder(run)));
        let is_replaced = part.is_some() && before == part;
        if is_replaced { replaced.push(run) } else { last.push(run) }
    }
    (last, replaced)
}

/// The folder of the set's own run if `folder` holds a repeated one.
pub(super) fn replaced_by(folder: &str) -> Option<&'static str> {
    part_of(split(folder).1).filter(|(_, number)| *number > 1).map(|(at, _)| SUITE_PARTS[at].0)
}

/// The folder of the set, and that of the run in it.
fn split(run: &str) -> (&str, &str) {
    run.rsplit_once('/').unwrap_or(("", run))
}

/// Position of a test in [`SUITE_PARTS`], and the number of its run.
fn part_of(own: &str) -> Option<(usize, u32)> {
    SUITE_PARTS.iter().enumerate().find_map(|(at, (name, _))| {
        let number = own.strip_prefix(name)?;
        if number.is_empty() {
            return Some((at, 1));
        }
        let number: u32 = number.strip_prefix('-')?.parse().ok()?;
        (number > 1).then_some((at, number))
    })
}

#[cfg(test)]
mod tests {
    use record::TestType;

    use super::{replaced_by, split_replaced, suite_of};

    #[test]
    fn a_part_is_known_by_the_name_of_its_folder() {
        assert_eq!(suite_of("runs/set/2-stress"), Some(("runs/set", TestType::Stress)));
        assert_eq!(suite_of("3-backup"), Some(("", TestType::Backup)));
        assert_eq!(suite_of("set/2-stress-12"), Some(("set", TestType::Stress)));
        for other in ["set/5-checksum", "x2-stress", "2-stress-1", "2-stress-a", "2-stress2"] {
            assert_eq!(suite_of(other), None, "{other}");
        }
    }

    #[test]
    fn the_last_run_of_a_test_replaces_the_earlier_ones() {
        let all = ["s/3-backup", "s/2-stress", "s/2-stress-10", "s/1-performance", "s/2-stress-9"];
        let (last, replaced) = split_replaced(all.to_vec(), |run| *run);
        assert_eq!(last, ["s/1-performance", "s/2-stress-10", "s/3-backup"]);
        assert_eq!(replaced, ["s/2-stress-9", "s/2-stress"]);
        assert_eq!(replaced_by(last[1]), Some("2-stress"));
        assert_eq!(replaced_by(last[2]), None);
        let of_two = ["t/2-stress", "s/2-stress-2", "t", "s/2-stress"];
        let (last, replaced) = split_replaced(of_two.to_vec(), |run| *run);
        assert_eq!((last, replaced), (vec!["t", "s/2-stress-2", "t/2-stress"], vec!["s/2-stress"]));
    }
}
