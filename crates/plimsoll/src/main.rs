//! The command line: one short file per verb.
fn main() {}
