//! Checks refused descriptions, and the built-in ones.

use super::ArrayDescription;

const ARRAY: &str = include_str!("../../../../../arrays/shelf-15k.toml");

fn refused(text: &str, changes: &[(&str, &str)]) -> String {
    let changes: Vec<_> =
        changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let read = ArrayDescription::parse("a.toml", text, &changes);
    read.expect_err("it is to be refused").to_string()
}

#[test]
fn mistakes_are_named_with_their_line_or_their_key() {
    let mistyped = ARRAY.replace("rpm = 15000", "rmp = 15000");
    let said = refused(&mistyped, &[]);
    assert!(
        said.starts_with("a.toml:") && said.contains("`rmp`") && said.contains("rpm"),
        "{said}"
    );
    let said = refused(&ARRAY.replace("level = 10", "level = 4"), &[]);
    assert!(said.contains("RAID 4 is not simulated; give 0, 1, 5, 6 or 10"), "{said}");
    let said = refused(ARRAY, &[("disk.rpm", "0")]);
    assert_eq!(said, "a.toml: disk.rpm must be from 1000 to 30000, not 0");
    let said = refused(ARRAY, &[("disk.seek_average_ms", "6")]);
    assert!(said.contains("between 2.33 and 3.85"), "{said}");
    let said = refused(ARRAY, &[("raid.disks", "7")]);
    assert_eq!(said, "a.toml: raid.disks must be even in RAID 10");
    let said = refused(ARRAY, &[("raid.level", "0"), ("raid.failed", "1")]);
    assert_eq!(said, "a.toml: raid.failed must be at most 0 here");
    let said = refused(ARRAY, &[("cache.mood", "write-back")]);
    assert!(said.contains("`mood`"), "{said}");
    let said = refused(&ARRAY.replace("[disk]", "[flash]"), &[]);
    assert!(said.starts_with("a.toml:"), "{said}");
}

#[test]
fn a_description_reads_back_as_it_was() {
    let changes = [("array.cache.mode".to_owned(), "write-through".to_owned())];
    let read = ArrayDescription::parse("a.toml", ARRAY, &changes).expect("an array");
    let text = read.text();
    assert!(text.contains("mode = \"write-through\""), "{text}");
    assert_eq!(ArrayDescription::parse("b.toml", &text, &[]).expect("an array"), read);
}
