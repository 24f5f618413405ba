use record::{RunRecord, TestType, synthetic::Synthetic};
use verdict::judge;

use crate::roles::servers;
use crate::{PaperError, TestedRun};

/// A run whose rate grows with its number of databases.
fn run(name: &str, test: TestType, intervals: u64, databases: u32) -> TestedRun {
    let made = Synthetic { measure_intervals: intervals, databases, ..Synthetic::default() };
    let mut record: RunRecord = made.run();
    record.start.test = test;
    record.start.settings.target_iops = None;
    TestedRun { name: name.to_owned(), verdict: judge(&record), record }
}

fn held(name: &str, databases: u32) -> TestedRun {
    let mut run = run(name, TestType::Performance, 30, databases);
    run.record.start.settings.target_iops = Some(200.0);
    run
}

fn names(runs: &[&TestedRun]) -> Result<[String; 3], PaperError> {
    let runs: Vec<TestedRun> = runs.iter().map(|&run| run.clone()).collect();
    let servers = servers(&runs)?;
    let name = |of: Option<&TestedRun>| of.map_or_else(String::new, |run| run.name.clone());
    let one = &servers[0];
    Ok([one.reliability, one.performance, one.maximum].map(name))
}

fn some(names: [&str; 3]) -> [String; 3] {
    names.map(str::to_owned)
}

/// In a set of tests both loads last equally long, and either may be recorded as a moment longer.
#[test]
fn the_kind_of_a_test_decides_before_its_length() {
    let stress = run("stress", TestType::Stress, 40, 2);
    let slow = run("slow", TestType::Performance, 30, 2);
    for intervals in [39, 40, 41] {
        let load = run("load", TestType::Performance, intervals, 2);
        assert_eq!(names(&[&stress, &load]), Ok(some(["stress", "load", ""])), "{intervals}");
    }
    assert_eq!(names(&[&slow]), Ok(some(["", "slow", ""])));
    assert_eq!(names(&[&stress]), Ok(some(["stress", "", ""])));
}

#[test]
fn a_day_of_load_proves_reliability_without_a_stress_test() {
    let day = run("day", TestType::Performance, 24 * 240, 2);
    let slow = run("slow", TestType::Performance, 30, 2);
    let stress = run("stress", TestType::Stress, 40, 2);
    assert_eq!(names(&[&day, &slow]), Ok(some(["day", "slow", ""])));
    assert_eq!(names(&[&day, &stress]), Ok(some(["stress", "day", ""])));
    // Some published results label a day of load performance and two hours stress.
    let published = [day, stress].map(|mut run| {
        let measure_ns = run.record.span_ns(record::Phase::Measure);
        run.record.start.settings.measure_ns = measure_ns;
        run.record.start.imported = Some(Box::default());
        run
    });
    assert_eq!(names(&[&published[0], &published[1]]), Ok(some(["day", "stress", ""])));
}

#[test]
fn only_a_load_that_is_not_held_is_a_maximum() {
    let slow = run("slow", TestType::Performance, 30, 2);
    let fast = run("fast", TestType::Performance, 30, 3);
    assert_eq!(names(&[&fast, &slow]), Ok(some(["", "slow", "fast"])));
    // Held loads may be faster than one that queues.
    assert_eq!(names(&[&held("held", 3), &slow]), Ok(some(["", "held", "slow"])));
    let twice = names(&[&held("one", 3), &held("other", 2)]);
    let said = twice.map_err(|error| error.to_string());
    assert!(said.is_err_and(|said| said.starts_with("one, other: 2 runs of mbx-01")));
    let three = names(&[&slow, &fast, &fast]);
    assert!(matches!(three, Err(PaperError::Twice { .. })), "{three:?}");
}

#[test]
fn a_server_has_one_test_of_a_kind() {
    let untold = ". Records of two servers with one host name and no machine identity cannot be \
                  told apart";
    for (id, rest) in [("", untold), ("aa", "")] {
        let mut backup = run("one", TestType::Backup, 1, 2);
        backup.record.start.machine.id = id.to_owned();
        let refused = servers(&[backup.clone(), backup]).map(|_| ());
        let said = refused.map_err(|error| error.to_string()).err().unwrap_or_default();
        let twice = "one, one: 2 runs of mbx-01 are its test of backup; name one of them";
        assert_eq!(said, format!("{twice}{rest}"));
    }
}

#[test]
fn machines_of_one_name_are_told_apart_by_their_identity() {
    let with_id = |name: &str, test, id: &str| {
        let mut run = run(name, test, 1, 2);
        run.record.start.machine.id = id.to_owned();
        run
    };
    let (backup, recovery) = (TestType::Backup, TestType::Recovery);
    let runs = [
        with_id("one", backup, "aa"),
        with_id("other", backup, "bb"),
        with_id("third", recovery, "aa"),
    ];
    let found = servers(&runs).unwrap_or_default();
    let names: Vec<&str> = found.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["mbx-01 (1)", "mbx-01 (2)"]);
    assert!(found.iter().all(|server| server.shares_name));
    assert_eq!(found[0].recovery.map(|run| run.name.as_str()), Some("third"));
    // Records of earlier releases lack an id: with only one machine, they belong to it.
    let older = [with_id("one", backup, "aa"), with_id("older", recovery, "")];
    assert_eq!(servers(&older).map(|servers| servers.len()), Ok(1));
    let mixed = [&runs[..], &older[1..]].concat();
    let refused = servers(&mixed).map(|_| ()).map_err(|error| error.to_string());
    assert!(refused.is_err_and(|said| said.starts_with("older: does not say")));
}
