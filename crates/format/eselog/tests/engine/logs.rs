//! Sets of logs that the real engine wrote, if they are on this machine.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use eselog::{LogFile, LogMember, LogSet};
use testkit::samples;

/// The files of one crash; `None`, with a message, if the sample is missing.
pub(crate) fn crash(name: &str) -> Option<BTreeMap<String, Vec<u8>>> {
    let packed = samples::find(&format!("engine/logs/{name}.tar.gz"))?;
    Some(samples::files(&packed).expect("a packed archive"))
}

pub(crate) fn logs(files: &BTreeMap<String, Vec<u8>>) -> Vec<(&str, LogFile<'_>)> {
    let named =
        files.iter().filter(|(name, _)| Path::new(name).extension() == Some(OsStr::new("log")));
    named.map(|(name, bytes)| (name.as_str(), LogFile::open(bytes).expect("a log"))).collect()
}

#[test]
fn every_record_of_the_engine_is_decoded() {
    for name in ["crashs16", "crash08"] {
        let Some(files) = crash(name) else {
            return;
        };
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (log, file) in logs(&files) {
            let survey = file.survey();
            assert_eq!(survey.faults, [], "{name} {log}");
            for record in file.records(&survey) {
                let record = record.unwrap_or_else(|bad| panic!("{name} {log}: {bad}"));
                *counts.entry(record.name().expect("a known type")).or_default() += 1;
            }
        }
        assert!(counts.values().sum::<usize>() > 1_000);
    }
}

#[test]
fn a_crash_leaves_a_complete_set() {
    for (name, last) in [("crashs16", 3), ("crash08", 9)] {
        let Some(files) = crash(name) else {
            return;
        };
        let logs = logs(&files);
        let members =
            logs.iter().map(|(name, file)| LogMember::of((*name).to_owned(), file)).collect();
        let set = LogSet::of(members);
        assert_eq!(set.gaps(), [], "{name}");
        let sentence = set.sentence();
        assert!(sentence.starts_with(&format!("generations 0x1-{last:#X} complete, edb.log ")));
        assert!(sentence.ends_with("as a crash leaves it"), "{sentence}");
    }
}
