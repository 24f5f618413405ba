//! Records loaded by digest, compared with records of journals; and digests of other content.

use super::{DigestFault, RunRecord};
use crate::codec::Sealer;
use crate::run::tests::{journal, text as unsealed};
use crate::{Event, LogLine, Resumed};

fn sealed(events: &[Event]) -> Vec<u8> {
    let mut sealer = Sealer::default();
    events.iter().map(|event| sealer.line(event)).collect::<String>().into_bytes()
}

fn fault(journal: &[u8], digest: &[u8]) -> Option<DigestFault> {
    RunRecord::load_digested(journal, digest).err()
}

/// The sealed journal of `events` and its digest, which must give the same record.
fn digested(events: &[Event]) -> (Vec<u8>, String) {
    let text = sealed(events);
    let digest = RunRecord::load(&text).unwrap().digest(text.len() as u64);
    let digest = digest.expect("a sealed journal that has its end");
    let of_digest = RunRecord::load_digested(&text, digest.as_bytes()).unwrap();
    let of_journal = RunRecord::load(&text).unwrap();
    assert_eq!(format!("{of_digest:?}"), format!("{of_journal:?}"));
    assert_eq!(of_digest.digest(text.len() as u64).as_ref(), Some(&digest));
    (text, digest)
}

#[test]
fn a_record_by_its_digest_is_that_of_the_journal() {
    let mut events = journal();
    digested(&events);
    // A break begins where the interval before it ended.
    events.insert(4, Event::Resumed(Resumed { at_ns: 5_000_000_000, cut_bytes: 0 }));
    digested(&events);
}

#[test]
fn a_byte_of_the_journal_that_changed_is_noticed() {
    let (text, digest) = digested(&journal());
    for at in (0..text.len()).step_by(7) {
        let mut other = text.clone();
        other[at] ^= 1;
        assert_eq!(fault(&other, digest.as_bytes()), Some(DigestFault::OtherJournal), "{at}");
    }
    for other in [&text[..text.len() - 1], &[&text[..], b"\n"].concat(), b""] {
        assert_eq!(fault(other, digest.as_bytes()), Some(DigestFault::OtherJournal));
    }
}

#[test]
fn a_byte_of_the_digest_that_changed_is_noticed() {
    let (text, digest) = digested(&journal());
    for at in 0..digest.len() - 1 {
        let mut other = digest.clone().into_bytes();
        other[at] ^= 1;
        assert!(fault(&text, &other).is_some(), "{at}");
    }
    for other in ["", "\n", "{}\n{}\n", digest.lines().next().unwrap()] {
        assert_eq!(fault(&text, other.as_bytes()), Some(DigestFault::Damaged), "{other:?}");
    }
    let other = digest.replacen("layout ", "layout 9", 1);
    assert_eq!(fault(&text, other.as_bytes()), Some(DigestFault::OtherRelease));
}

#[test]
fn another_run_of_the_same_length_is_another_journal() {
    let (text, digest) = digested(&journal());
    let mut events = journal();
    let done = events.iter_mut().find_map(|event| match event {
        Event::Log(line) => Some(line),
        _ => None,
    });
    *done.expect("a line of the test log") =
        LogLine { at_ns: 3_000_000_000, text: "enod \u{2713}".to_owned() };
    let other = sealed(&events);
    assert_eq!(other.len(), text.len());
    assert_eq!(fault(&other, digest.as_bytes()), Some(DigestFault::OtherJournal));
}

#[test]
fn only_a_sealed_journal_with_an_end_has_a_digest() {
    let events = journal();
    let has_digest =
        |text: &[u8]| RunRecord::load(text).unwrap().digest(text.len() as u64).is_some();
    assert!(has_digest(&sealed(&events)));
    assert!(!has_digest(&sealed(&events[..events.len() - 1])));
    assert!(!has_digest(unsealed(&events).as_bytes()));
    assert!(!has_digest(&[&sealed(&events)[..], b"{\"event\":\"lo"].concat()));
}
