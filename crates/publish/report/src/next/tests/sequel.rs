//! Steps of a run after which something happened that its journal does not know.

use record::{Sequel, TestOfSet, TestType};
use verdict::judge;

use super::cases::{CASES, Case};
use super::record_of;
use crate::next::step::StepKind;
use crate::next::{advice, steps_in};

fn resumable() -> &'static Case {
    CASES.iter().find(|of| of.kind == StepKind::Resume).expect("one")
}

#[test]
fn a_run_whose_databases_were_opened_since_is_started_again() {
    let mut run = record_of(resumable());
    assert_eq!(advice(&run, &judge(&run))[0].kind, StepKind::Resume);
    run.sequel = Sequel::Opened;
    assert_eq!(advice(&run, &judge(&run))[0].kind, StepKind::MeasureAgain);
}

#[test]
fn a_replaced_test_leads_to_the_report_of_its_set() {
    let mut run = record_of(resumable());
    run.start.test = TestType::Stress;
    run.start.set = vec![TestOfSet { test: TestType::Stress, options: Vec::new() }];
    run.sequel = Sequel::Replaced;
    let told = steps_in(&run, &judge(&run), "set/2-stress");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].ends_with(": plimsoll report set"), "{told:?}");
}
