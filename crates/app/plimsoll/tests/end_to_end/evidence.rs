//! Every test that docs/evidence.md names exists.

use std::fs;
use std::path::Path;

#[test]
fn the_tests_that_the_table_of_evidence_names_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let table = fs::read_to_string(root.join("docs/evidence.md")).unwrap();
    let (_, verbs) = table.split_once("## Other verbs").unwrap();
    let rows: Vec<&str> = verbs.lines().filter(|line| line.starts_with("| `")).collect();
    assert!(rows.len() >= 10, "{rows:?}");
    for row in rows {
        let test = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let (file, name) = test.strip_prefix('`').and_then(|rest| rest.split_once("` ")).unwrap();
        let source = fs::read_to_string(root.join(file)).unwrap();
        let wanted = format!("fn {name}() {{");
        let (before, _) = source.split_once(&wanted).unwrap_or_else(|| panic!("no {test}"));
        assert!(before.trim_end().ends_with("#[test]"), "{test} is no test");
    }
}
