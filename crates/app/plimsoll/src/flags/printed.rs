//! The commands that reports print are commands of this program.

use super::Arguments;

/// Every kind of next step as a report prints it.
const STEPS: &str = include_str!("../../../../publish/report/golden/steps.txt");

/// What a command in a sentence ends at.
const ENDS: [&str; 5] = [")", ";", ", ", ": ", " > "];

/// The commands in a sentence.
fn commands(sentence: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in sentence.match_indices("plimsoll ") {
        let rest = &sentence[at..];
        let end = ENDS.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
        found.push(&rest[..end]);
    }
    found
}

#[test]
fn every_command_of_a_next_step_is_understood() {
    let mut read = 0;
    for step in STEPS.lines() {
        for command in commands(step) {
            let understood = Arguments::read(command.split_whitespace());
            assert!(understood.is_ok(), "{command}: {:?}", understood.err());
            read += 1;
        }
    }
    assert!(read > 50, "{read}");
}
