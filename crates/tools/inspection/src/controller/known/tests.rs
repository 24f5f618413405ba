use record::StorageRuling::{CannotJudge, Fail, Pass};

use super::KnownFact;
use crate::draft::FindingDraft;

fn judged(known: &KnownFact<bool>) -> record::StorageRuling {
    let rule = |on: Option<&bool>| {
        let check = FindingDraft::new(("check", "Check"), "subject");
        match on {
            Some(true) => check.pass("on", "good"),
            Some(false) => check.fail("off", "bad"),
            None => check.unknown("not told", "unknown"),
        }
    };
    known.judge(rule).outcome
}

fn known(told: &[Option<bool>]) -> KnownFact<bool> {
    let mut known = KnownFact::default();
    for value in told {
        known.learn_words("words", *value);
    }
    known
}

#[test]
fn a_fact_passes_only_if_it_was_told_once_and_understood() {
    for (told, outcome) in [
        (&[][..], CannotJudge),
        (&[Some(true)], Pass),
        (&[Some(true), Some(true)], Pass),
        (&[Some(true), Some(false)], Fail),
        (&[Some(false), Some(true)], Fail),
        (&[None], CannotJudge),
        (&[Some(true), None], CannotJudge),
        (&[None, Some(false)], Fail),
    ] {
        assert_eq!(judged(&known(told)), outcome, "{told:?}");
    }
}

#[test]
fn a_merge_keeps_both_values_in_either_order() {
    for (one, two) in [(true, false), (false, true)] {
        let mut first = known(&[Some(one)]);
        assert!(first.contradicts(&known(&[Some(two)])));
        assert!(!first.contradicts(&known(&[])));
        first.merge(known(&[Some(two), None]));
        assert_eq!(judged(&first), Fail);
        assert_eq!((first.only(), first.told().len()), (None, 2));
    }
}
