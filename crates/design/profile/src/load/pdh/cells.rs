//! The cells of one place and kind of requests in a row, and the load that they add up to.

use csv::StringRecord;

use crate::load::LoadFile;
use crate::load::counters::{CountedPart, CounterColumn, CounterMeasure};
use crate::load::hours::{RequestLoad, StorageOperation};
use crate::load::places::LoadPlace;

/// Above the maximum of any storage counter. Such a value, or a negative one, comes from a counter
/// that was reset when its process or host restarted.
const MOST_RATE: f64 = 1e8;
const MOST_BYTES: f64 = 1e13;
const MOST_LATENCY_MS: f64 = 3.6e6;

/// The columns of one kind of requests of a place.
pub(super) struct CounterGroup {
    pub place: LoadPlace,
    pub operation: StorageOperation,
    pub columns: Vec<(usize, CountedPart, CounterMeasure)>,
}

/// A row's values of one part of the requests.
#[derive(Default)]
struct PartCells {
    rate: Option<f64>,
    latency_ms: Option<f64>,
    bytes: Option<f64>,
    length: Option<f64>,
}

impl PartCells {
    fn load(&self) -> Option<RequestLoad> {
        let iops = self.rate?;
        let bytes_per_second = self.bytes.or_else(|| Some(self.length? * iops));
        Some(RequestLoad { iops, latency_ms: self.latency_ms, bytes_per_second })
    }
}

impl CounterGroup {
    pub(super) fn of(column: usize, counter: CounterColumn) -> Self {
        let CounterColumn { place, operation, part, measure } = counter;
        Self { place, operation, columns: vec![(column, part, measure)] }
    }

    /// The load in `row`: all requests, or those of attached databases and of recovery together.
    /// Cells that cannot be used are counted in `file`.
    pub(super) fn load(&self, row: &StringRecord, file: &mut LoadFile) -> Option<RequestLoad> {
        let mut parts = [PartCells::default(), PartCells::default(), PartCells::default()];
        for (column, part, measure) in &self.columns {
            let cells = &mut parts[*part as usize];
            let found = value(row.get(*column).unwrap_or_default(), *measure);
            match found {
                Err(reason) => file.skip(reason, 1),
                Ok(value) => *cells.place_of(*measure) = Some(value),
            }
        }
        let [whole, attached, recovery] = parts.map(|cells| cells.load());
        whole.or_else(|| match (attached, recovery) {
            (Some(one), Some(two)) => Some(together(one, two)),
            (one, two) => one.or(two),
        })
    }
}

impl PartCells {
    const fn place_of(&mut self, measure: CounterMeasure) -> &mut Option<f64> {
        match measure {
            CounterMeasure::Rate => &mut self.rate,
            CounterMeasure::Latency { .. } => &mut self.latency_ms,
            CounterMeasure::Bytes => &mut self.bytes,
            CounterMeasure::Length => &mut self.length,
        }
    }
}

fn together(one: RequestLoad, two: RequestLoad) -> RequestLoad {
    let iops = one.iops + two.iops;
    let weighted = [one, two].map(|of| of.latency_ms.map(|latency| latency * of.iops));
    let latency_ms = match weighted {
        [Some(first), Some(second)] if iops > 0.0 => Some((first + second) / iops),
        _ => one.latency_ms.or(two.latency_ms),
    };
    let bytes = one.bytes_per_second.zip(two.bytes_per_second);
    RequestLoad { iops, latency_ms, bytes_per_second: bytes.map(|(one, two)| one + two) }
}

/// The value of a cell in requests, milliseconds or bytes, or the reason why it has none.
fn value(cell: &str, measure: CounterMeasure) -> Result<f64, &'static str> {
    let cell = cell.trim();
    if cell.is_empty() {
        return Err("blank samples");
    }
    let number = number(cell).ok_or("cells that are no number")?;
    let (value, most) = match measure {
        CounterMeasure::Rate => (number, MOST_RATE),
        CounterMeasure::Latency { unit_ms } => (number * unit_ms, MOST_LATENCY_MS),
        CounterMeasure::Bytes | CounterMeasure::Length => (number, MOST_BYTES),
    };
    let is_possible = (0.0..=most).contains(&value);
    is_possible.then_some(value).ok_or("values that no counter has (it was reset)")
}

/// Reads `1234.5`, `1234,5`, `1.234,5`, `1,234.5` and digits of other scripts. The last separator
/// is the decimal one, unless it occurs twice: counter logs do not group digits.
fn number(text: &str) -> Option<f64> {
    let mut plain: String = text
        .chars()
        .filter(|symbol| !symbol.is_whitespace() && *symbol != '\'')
        .map(plain_digit)
        .collect();
    let decimal = plain.rfind(['.', ',']);
    if let Some(at) = decimal {
        let separator = &plain[at..=at];
        let is_repeated = plain.matches(separator).count() > 1;
        let (whole, part) = (plain[..at].replace(['.', ','], ""), &plain[at + 1..]);
        plain = if is_repeated { whole + part } else { format!("{whole}.{part}") };
    }
    let starts = plain.starts_with(|first: char| first.is_ascii_digit() || "-.".contains(first));
    plain.parse().ok().filter(|number: &f64| starts && number.is_finite())
}

/// Arabic and Persian digits and separators as ASCII ones.
fn plain_digit(symbol: char) -> char {
    match symbol {
        '\u{66b}' => ',',
        '\u{66c}' => '.',
        _ => ascii_digit(symbol, 0x660).or_else(|| ascii_digit(symbol, 0x6f0)).unwrap_or(symbol),
    }
}

/// Converts a digit of the script whose zero is code point `zero`; `None` for other symbols.
fn ascii_digit(symbol: char, zero: u32) -> Option<char> {
    char::from_digit(u32::from(symbol).checked_sub(zero)?, 10)
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_read_in_the_digits_of_every_system() {
        for (text, expected) in [
            ("1234.5", Some(1234.5)),
            ("1234,5", Some(1234.5)),
            ("1.234,5", Some(1234.5)),
            ("1,234.5", Some(1234.5)),
            ("1.234.567", Some(1_234_567.0)),
            ("1\u{a0}234,5", Some(1234.5)),
            ("\u{661}\u{662}\u{66b}\u{665}", Some(12.5)),
            ("0.00012345678901234", Some(0.000_123_456_789_012_34)),
            ("1.5E-3", Some(0.0015)),
            ("-1", Some(-1.0)),
            ("inf", None),
            ("NaN", None),
            ("", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
    }
}
