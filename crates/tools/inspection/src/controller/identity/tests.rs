use super::super::facts::{CacheBackup, Controller, Tool};
use super::{OutputSource, merged};

fn told(source: &str, serial: Option<&str>, backup: Option<CacheBackup>) -> OutputSource {
    let mut controller = Controller::new(Tool::Storcli, Some("0"));
    controller.serial = serial.map(str::to_owned);
    if let Some(backup) = backup {
        controller.backup.learn(backup);
    }
    OutputSource { source: source.to_owned(), controllers: vec![controller] }
}

fn count(sources: &[OutputSource]) -> usize {
    let mut turned = sources.to_vec();
    turned.reverse();
    let controllers = merged(sources.to_vec()).len();
    assert_eq!(merged(turned).len(), controllers, "in either order");
    controllers
}

#[test]
fn only_a_serial_number_or_one_file_joins_outputs() {
    let none = |source| told(source, None, None);
    let of = |source, serial| told(source, Some(serial), None);
    assert_eq!(count(&[none("a"), none("b")]), 2);
    assert_eq!(count(&[none("a"), none("a")]), 1);
    assert_eq!(count(&[of("a", "SV123"), of("b", "SV123")]), 1);
    assert_eq!(count(&[of("a", "SV123"), of("a", "SV124")]), 2);
    assert_eq!(count(&[of("a", "SV123"), none("b")]), 2);
    assert_eq!(count(&[of("a", "0000"), of("b", "0000")]), 2);
}

#[test]
fn outputs_that_contradict_each_other_stay_apart_and_are_named() {
    let good = told("a", Some("SV123"), Some(CacheBackup::Ready));
    let bad = told("b", Some("SV123"), Some(CacheBackup::Absent));
    assert_eq!(count(&[good.clone(), bad.clone()]), 2);
    let labels: Vec<_> = merged(vec![good, bad]).into_iter().map(|of| of.label).collect();
    assert_eq!(labels, [Some("a".to_owned()), Some("b".to_owned())]);
    let apart = merged(vec![told("a", Some("SV123"), None), told("b", Some("SV124"), None)]);
    assert_eq!(apart[1].label.as_deref(), Some("serial number SV124"));
}
