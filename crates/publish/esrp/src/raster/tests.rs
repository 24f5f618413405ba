//! The pixels drawn for a chart.

use std::io::Read as _;

use flate2::read::ZlibDecoder;

use super::picture_of;

const CHART: &str = "<svg role=\"img\" aria-label=\"a\" viewBox=\"0 0 40 30\">\
    <rect class=\"idle\" x=\"0.0\" y=\"0.0\" width=\"10.0\" height=\"30.0\"/>\
    <polygon class=\"band ink-read\" points=\"20.0,2.0 30.0,2.0 30.0,8.0 20.0,8.0\"/>\
    <line class=\"limit\" x1=\"0.0\" y1=\"20.0\" x2=\"40.0\" y2=\"20.0\"/>\
    <polyline class=\"line ink-total\" points=\"12.0,10.0 38.0,10.0\"/>\
    <g class=\"heat\"><path class=\"ink-log heat-5\" d=\"M30.0 24.0h5.0v4.0h-5.0z\"/></g>\
    <text class=\"axis\" x=\"12.0\" y=\"29.0\" text-anchor=\"start\">1&lt;</text>\
    <g class=\"hints\"><rect x=\"0\" y=\"0\" width=\"40\" height=\"30\"></rect></g></svg>";

/// Rows of pixels of the picture, 80 by 60.
fn drawn() -> Vec<Vec<[u8; 3]>> {
    let picture = picture_of(CHART).expect("a chart");
    assert_eq!((picture.width, picture.height), (80, 60));
    let at = picture.bytes.windows(4).position(|kind| kind == b"IDAT").expect("pixels");
    let mut rows = Vec::new();
    ZlibDecoder::new(&picture.bytes[at + 4..]).read_to_end(&mut rows).expect("a zlib stream");
    let row = |row: &[u8]| row[1..].as_chunks().0.to_vec();
    rows.chunks_exact(1 + 80 * 3).map(row).collect()
}

#[test]
fn lines_areas_and_words_have_the_colours_of_the_page() {
    let rows = drawn();
    assert_eq!(rows.len(), 60);
    assert_eq!(rows[2][4], [0xf3, 0xf1, 0xea], "what is not judged");
    assert_eq!(rows[20][50], [0x1b, 0x22, 0x26], "the line");
    assert_eq!(rows[50][64], [0x2a, 0x7d, 0x6f], "the darkest shade");
    assert!(rows[8][50][0] < 255 && rows[8][50][0] > 0x1f, "a band covers little");
    assert_eq!(rows[8][36], [255; 3], "paper");
    let red = rows[40].iter().filter(|pixel| **pixel == [0xa5, 0x2a, 0x20]).count();
    assert!((30..60).contains(&red), "a dashed limit, {red} pixels");
    let inked = rows[44..58].iter().flatten().filter(|pixel| **pixel == [0x5c, 0x66, 0x6c]);
    assert_eq!(inked.count(), 4 * (10 + 7), "two letters, square by square");
}

#[test]
fn what_is_no_chart_is_no_picture() {
    for text in ["", "<svg></svg>", "<svg viewBox=\"0 0 0 0\">", "<svg viewBox=\"0 0 9e9 9e9\">"] {
        assert!(picture_of(text).is_none(), "{text}");
    }
}
