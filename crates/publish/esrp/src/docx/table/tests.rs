//! Tests of `table`.

use super::{CELL_MARGINS, MANY_COLUMNS, layout, needed, with_repeated_headings};

/// The table of loads, the widest in the papers, and the tables of the reports in the appendices.
const HEADS: [&[&str]; 3] = [
    &[
        "Server",
        "Database disk transfers/s",
        "Database disk reads/s",
        "Database disk writes/s",
        "Average read latency (ms)",
        "Average write latency (ms)",
        "Log disk writes/s",
        "Average log write latency (ms)",
    ],
    &["Database", "Uninitialised", "Wrong number", "Correctable", "Transactional IOPS"],
    &["Server", "Test", "Started", "Measured", "Outcome"],
];

#[test]
fn no_heading_breaks_inside_a_word() {
    for (head, width) in HEADS.iter().flat_map(|head| [(*head, 8_500), (*head, 13_400)]) {
        let long = "a sentence that is much longer than all others".to_owned();
        let row: Vec<String> = head.iter().map(|_| "7".to_owned()).collect();
        let rows = [row.clone(), [vec![long], row[1..].to_vec()].concat()];
        let made = layout(head, &rows, width);
        let needs = needed(head, head.len(), made.size);
        for ((label, has), needs) in head.iter().zip(&made.widths).zip(needs) {
            assert!(*has >= needs, "{label}: {has} of {needs} at {} of {width}", made.size);
        }
        assert!(made.widths.iter().sum::<usize>() <= width, "{made:?}");
        assert!(made.size >= 12 || head.len() >= MANY_COLUMNS, "{head:?}: {made:?}");
    }
}

#[test]
fn columns_share_the_width_by_what_they_hold() {
    let row = ["7", "a sentence that is much longer than all that is next to it"];
    let rows = [row.map(str::to_owned).to_vec()];
    let made = layout(&["Number", "Evidence"], &rows, 5_200);
    assert_eq!(made.size, 18);
    assert!(made.widths[0] >= 6 * 18 * 76 / 10 + CELL_MARGINS, "{made:?}");
    assert!(made.widths[1] > 4 * made.widths[0], "{made:?}");
    assert_eq!(layout(&[], &[], 1_000).widths, [1_000]);
}

#[test]
fn headings_repeat_and_stay_with_their_rows() {
    use crate::docx::piece::Piece;
    use docx_rs::Docx;
    let rows = ["7", "8", "9", "10"].map(|text| vec![crate::paper::Words::said(text)]);
    let Piece::Table(table) = super::table(&["Number"], &rows, 1_000) else { return };
    let document = with_repeated_headings(Docx::new().add_table(*table).build().document);
    let document = String::from_utf8_lossy(&document);
    assert_eq!(document.matches("<w:tblHeader />").count(), 1, "{document}");
    assert_eq!(document.matches("<w:cantSplit />").count(), 5, "{document}");
    assert_eq!(document.matches("<w:keepNext").count(), 3, "{document}");
    assert!(!document.contains("w:trHeight"), "{document}");
}

#[test]
fn what_stands_between_backticks_has_the_font_of_code() {
    use crate::docx::piece::Piece;
    use docx_rs::Docx;
    let rows = [vec![crate::paper::Words::said("A `9000` array")]];
    let Piece::Table(table) = super::table(&[], &rows, 1_000) else { panic!("no table") };
    let document = Docx::new().add_table(*table).build().document;
    let document = String::from_utf8_lossy(&document);
    assert_eq!(document.matches("Courier New").count(), 2, "{document}");
    assert!(document.contains(">9000<") && !document.contains('`'), "{document}");
}
