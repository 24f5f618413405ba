//! Rows as the real engine read them itself, against what `export` prints as JSON lines.
//!
//! A dump has a line a table (`T name`), a column (`C name, type, code page, flags`), a row (`R`)
//! and a value (`column[number]=hex`); values that are null have none.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

/// A column of a table: its name, type and code page.
struct Column<'d> {
    name: &'d str,
    kind: u8,
    code_page: u32,
}

/// The values of a row by column, as the engine stores them.
type EngineRow<'d> = BTreeMap<&'d str, Vec<Vec<u8>>>;

/// A table of a dump.
#[derive(Default)]
pub(crate) struct EngineTable<'d> {
    pub(crate) name: &'d str,
    columns: Vec<Column<'d>>,
    rows: Vec<EngineRow<'d>>,
}

/// The tables of a dump.
pub(crate) fn tables(dump: &str) -> Vec<EngineTable<'_>> {
    let mut tables: Vec<EngineTable<'_>> = Vec::new();
    for line in dump.lines() {
        if let Some(name) = line.strip_prefix("T ") {
            tables.push(EngineTable { name, ..EngineTable::default() });
            continue;
        }
        let table = tables.last_mut().unwrap();
        if let Some(column) = line.strip_prefix("C ") {
            table.columns.push(column_of(column));
        } else if line == "R" {
            table.rows.push(EngineRow::new());
        } else {
            let (place, hex) = line.split_once('=').unwrap();
            let (name, _) = place.rsplit_once('[').unwrap();
            table.rows.last_mut().unwrap().entry(name).or_default().push(bytes(hex));
        }
    }
    tables
}

fn column_of(line: &str) -> Column<'_> {
    let mut words = line.split('\t');
    let name = words.next().unwrap();
    let mut number = || words.next().unwrap().parse::<u32>().unwrap();
    let (kind, code_page) = (u8::try_from(number()).unwrap(), number());
    Column { name, kind, code_page }
}

fn bytes(hex: &str) -> Vec<u8> {
    let (pairs, _) = hex.as_bytes().as_chunks::<2>();
    let digits = pairs.iter().map(|pair| std::str::from_utf8(pair).unwrap());
    digits.map(|digits| u8::from_str_radix(digits, 16).unwrap()).collect()
}

impl EngineTable<'_> {
    /// The values compared, and those that differ in the rows of `exported`, JSON lines.
    pub(crate) fn compare(&self, exported: &str) -> (usize, Vec<String>) {
        let ours: Vec<Value> =
            exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut different = Vec::new();
        if ours.len() != self.rows.len() {
            different.push(format!("{} rows instead of {}", ours.len(), self.rows.len()));
        }
        let mut values = 0;
        for (number, (row, ours)) in self.rows.iter().zip(&ours).enumerate() {
            for column in &self.columns {
                let expected = row.get(column.name).map_or(&[][..], Vec::as_slice);
                values += expected.len();
                if !column.holds(expected, &ours[column.name]) {
                    let (name, ours) = (column.name, &ours[column.name]);
                    different.push(format!("row {number}, {name}: {ours}, not {expected:02x?}"));
                }
            }
        }
        (values, different)
    }
}

impl Column<'_> {
    /// Whether exported JSON holds these values, in their order.
    fn holds(&self, expected: &[Vec<u8>], ours: &Value) -> bool {
        let ours = match ours {
            Value::Null => &[][..],
            Value::Array(many) => many.as_slice(),
            one => std::slice::from_ref(one),
        };
        ours.len() == expected.len()
            && expected.iter().zip(ours).all(|(bytes, ours)| self.is_value(bytes, ours))
    }

    /// Whether exported JSON is the value that the engine stores as `bytes`.
    fn is_value(&self, bytes: &[u8], ours: &Value) -> bool {
        match self.kind {
            1 => ours.as_bool() == Some(bytes[0] != 0),
            2 | 14 | 17 | 18 => ours.as_u64() == Some(unsigned(bytes)),
            3 | 4 | 5 | 15 => ours.as_i64() == Some(signed(bytes)),
            6 => {
                let expected = f32::from_le_bytes(bytes.try_into().unwrap());
                ours.to_string().parse() == Ok(expected)
            }
            // JSON is not read to the last bit.
            7 => {
                let expected = f64::from_bits(unsigned(bytes));
                ours.as_f64()
                    .is_some_and(|ours| (ours - expected).abs() <= f64::EPSILON * expected.abs())
            }
            8 => {
                // In one column of the catalog, engines count from 1601.
                let times = [f64::from_bits(unsigned(bytes)), file_time_days(unsigned(bytes))];
                let ours = days(ours.as_str().unwrap_or_default());
                times.into_iter().any(|time| is_near(time, ours))
            }
            10 | 12 => ours.as_str() == Some(&*self.text(bytes)),
            16 => ours.as_str() == Some(&*guid(bytes)),
            _ => ours.as_str() == Some(&*hex(bytes)),
        }
    }

    fn text(&self, bytes: &[u8]) -> String {
        if self.code_page == 1200 {
            let (pairs, _) = bytes.as_chunks::<2>();
            let units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
            return String::from_utf16_lossy(&units);
        }
        bytes.iter().map(|byte| char::from(*byte)).collect()
    }
}

fn unsigned(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn signed(bytes: &[u8]) -> i64 {
    let unused = 64 - 8 * bytes.len();
    (unsigned(bytes) << unused).cast_signed() >> unused
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}

fn guid(bytes: &[u8]) -> String {
    let reversed = |range: std::ops::Range<usize>| {
        hex(&bytes[range].iter().rev().copied().collect::<Vec<_>>())
    };
    let (one, two, three) = (reversed(0..4), reversed(4..6), reversed(6..8));
    format!("{one}-{two}-{three}-{}-{}", hex(&bytes[8..10]), hex(&bytes[10..]))
}

/// Days since 30 December 1899 of a count of 100 nanoseconds since 1601.
fn file_time_days(ticks: u64) -> f64 {
    const DAY: f64 = 864e9;
    ticks as f64 / DAY - 109_205.0
}

/// Days since 30 December 1899 of a printed time; never near any if it is none.
fn days(text: &str) -> f64 {
    let separators = ['-', 'T', ':', 'Z'];
    let numbers: Vec<f64> =
        text.split(separators).filter_map(|number| number.parse().ok()).collect();
    let [year, month, day, hour, minute, second] = numbers[..] else {
        return f64::NAN;
    };
    // Years begin in March, so that the day that some lack is the last.
    let year = if month > 2.0 { year } else { year - 1.0 };
    let months = (month + 9.0) % 12.0;
    let leap_days = (year / 4.0).floor() - (year / 100.0).floor() + (year / 400.0).floor();
    let whole = 365.0 * year + leap_days + ((153.0 * months + 2.0) / 5.0).floor() + day;
    whole - 693_900.0 + (hour * 3600.0 + minute * 60.0 + second) / 86_400.0
}

/// Whether two times are the same to two milliseconds.
fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() < 2e-8
}

#[test]
fn times_are_counted_in_days() {
    assert!(is_near(days("1899-12-30T00:00:00.000Z"), 0.0));
    assert!(is_near(days("2000-03-01T12:00:00Z"), 36_586.5));
    assert!(is_near(file_time_days(132_539_328_000_000_000), days("2021-01-01T00:00:00Z")));
}
