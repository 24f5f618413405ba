//! A disk that loses or changes writes of the log, of headers, of the checkpoint or of the flush
//! map: nothing reads them during a load, and the run still detects it.

use device::Purpose;
use faults::{Call, Effect, Fault, Matching, Occurrence};
use record::{Event, Issue, IssueKind, Series};

use super::{PLAN, prepared, run_once, suffer};

/// Writes for `purpose` to files whose name contains `file` suffer `effect`, from the second on.
fn fault(purpose: Purpose, file: &str, effect: Effect) -> Fault {
    Fault {
        matching: Matching {
            call: Some(Call::Write),
            purpose: Some(purpose),
            file: Some(file.to_owned()),
        },
        occurrence: Occurrence::From(2),
        effect,
    }
}

/// The issues of a run on storage with that fault.
fn issues(fault: Fault) -> Vec<Issue> {
    let mut world = prepared(PLAN);
    suffer(&mut world, 0, fault);
    let (summary, events) = run_once(&world, None);
    assert_eq!(summary.failure, None);
    let issue = |event| match event {
        Event::Issue(issue) => Some(issue),
        _ => None,
    };
    events.into_iter().filter_map(issue).collect()
}

#[test]
fn log_writes_that_are_lost_or_changed_are_named() {
    for effect in [Effect::LoseWrite, Effect::FlipBits(1)] {
        let issues = issues(fault(Purpose::Log, ".plg", effect));
        let of_log = |issue: &&Issue| issue.text.contains("log generation");
        let found = issues.iter().find(of_log).expect("the log is named");
        assert_eq!(found.kind, IssueKind::LostFlush);
        assert!(found.file.as_ref().is_some_and(|file| file.contains("E00")));
        assert!(found.offset_bytes.is_some() && found.database == Some(0));
    }
}

#[test]
fn a_header_that_still_says_dirty_is_named() {
    let mut lost = fault(Purpose::Header, ".edb", Effect::LoseWrite);
    // Both copies record that the database is in use, and never anything else.
    lost.occurrence = Occurrence::From(3);
    let issues = issues(lost);
    let texts: Vec<_> = issues.iter().map(|issue| issue.text.as_str()).collect();
    assert!(texts[0].contains("copy of the header"), "{texts:?}");
    let unpaired = |text: &&str| text.contains("names no flush map");
    assert!(texts.iter().any(unpaired), "{texts:?}");
}

#[test]
fn a_lost_checkpoint_is_named() {
    let issues = issues(fault(Purpose::Header, ".pck", Effect::LoseWrite));
    assert!(issues[0].text.contains("the checkpoint"), "{issues:?}");
}

#[test]
fn a_lost_flush_map_is_named() {
    let mut lost = fault(Purpose::Header, ".jfm", Effect::LoseWrite);
    lost.occurrence = Occurrence::From(1);
    let issues = issues(lost);
    assert!(issues[0].text.contains("the flush map"), "{issues:?}");
}

#[test]
fn reading_back_is_shown_apart_and_bounded_by_the_log() {
    let world = prepared(PLAN);
    let (_, events) = run_once(&world, None);
    let series = events.iter().filter_map(|event| match event {
        Event::Interval(interval) => Some(interval),
        _ => None,
    });
    let series = series.flat_map(|interval| &interval.databases);
    let (mut read, mut written) = (0, 0);
    for found in series.flat_map(|database| &database.series) {
        match found.series {
            Series::LogRead => read += found.bytes,
            Series::LogWrite => written += found.bytes,
            _ => {}
        }
    }
    assert!(read > 0, "closed generations were read");
    // The last files opened for each of the two databases are read a second time.
    assert!(read <= written + (4 << 20), "{read} of {written}");
}
