//! Tests of `notify`.

use std::path::PathBuf;
use std::time::Duration;

use super::{environment, trouble, wait};
use crate::output::Concluded;
use crate::signals;
use crate::system;

#[test]
fn a_command_finds_the_verdict_or_the_error() {
    let end = Concluded {
        folder: PathBuf::from("out"),
        name: "$(touch x)".to_owned(),
        verdict: "pass",
        headline: "PASS".to_owned(),
    };
    let found = environment(0, Some(&end), None);
    assert!(found.contains(&("NAME", "$(touch x)".to_owned())), "{found:?}");
    let failed = environment(2, None, Some("no such folder"));
    let expected = [("EXIT_STATUS", "2"), ("VERDICT", "error"), ("HEADLINE", "no such folder")];
    assert_eq!(failed, expected.map(|(name, value)| (name, value.to_owned())));
}

#[test]
fn a_command_that_fails_or_hangs_is_told_of() {
    let stop = signals::listen_again();
    let ended = wait(system::shell("exit 3").spawn().unwrap(), Duration::from_mins(1), &stop);
    assert_eq!(trouble(ended).unwrap(), "ended with exit status 3");
    let ended = wait(system::shell("sleep 1").spawn().unwrap(), Duration::from_millis(1), &stop);
    assert!(trouble(ended).unwrap().contains("goes on"));
    let ended = wait(system::shell("exit 0").spawn().unwrap(), Duration::from_mins(1), &stop);
    assert_eq!(trouble(ended), None);
    stop.set();
    let ended = wait(system::shell("sleep 60").spawn().unwrap(), Duration::from_mins(1), &stop);
    assert_eq!(trouble(ended).unwrap(), "was stopped");
}
