//! Sizes and durations as people write them: `10GiB`, `32 KiB`, `2h`, `1m30s`, `100ms`.

use units::{Bytes, Nanos};

/// Suffixes of a size. Decimal units are literal: `10GB` is less than `10GiB`.
const SIZE_UNITS: [(&str, u64); 10] = [
    ("", 1),
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

/// Suffixes of a part of a duration, in nanoseconds.
const TIME_UNITS: [(&str, u64); 10] = [
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("sec", 1_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("H", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
    ("M", 60_000_000_000),
];

/// Reads a size such as `10GiB`; `None` if the text is not one or exceeds 64 bits.
pub fn parse_size(text: &str) -> Option<Bytes> {
    let (number, rest) = decimal(text.trim())?;
    let unit = rest.trim();
    let (_, factor) = SIZE_UNITS.iter().find(|(name, _)| {
        // `10gib` and `10Gib` are unambiguous.
        *name == unit || (unit.ends_with(['B', 'b']) && name.eq_ignore_ascii_case(unit))
    })?;
    number.times(*factor).map(Bytes)
}

/// Reads a duration such as `2h`, `1m30s` or `2H0M0S`; `None` if the text is not one, has no unit
/// or exceeds 64 bits of nanoseconds.
pub fn parse_duration(text: &str) -> Option<Nanos> {
    let mut rest = text.trim();
    let mut total: u64 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (number, tail) = decimal(rest)?;
        let tail = tail.trim_start();
        let end = tail.find(|symbol: char| !symbol.is_ascii_alphabetic()).unwrap_or(tail.len());
        let unit = match &tail[..end] {
            "S" => "s",
            unit => unit,
        };
        let (_, factor) = TIME_UNITS.iter().find(|(name, _)| *name == unit)?;
        total = total.checked_add(number.times(*factor)?)?;
        rest = tail[end..].trim_start();
    }
    Some(Nanos(total))
}

/// The shortest text that [`parse_size`] reads back as the same size.
pub fn write_size(size: Bytes) -> String {
    let binary = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    for (unit, shift) in binary {
        if size.0 > 0 && size.0.trailing_zeros() >= shift {
            return format!("{}{unit}", size.0 >> shift);
        }
    }
    format!("{}B", size.0)
}

/// The size in the unit and digits in which texts show it, such as `1.25GiB`, if that is exact;
/// else as [`write_size`] writes it.
pub fn write_shown_size(size: Bytes) -> String {
    let shown = size.to_string();
    let (number, unit) = shown.split_once(' ').unwrap_or((&shown, ""));
    let number = number.trim_end_matches('0').trim_end_matches('.');
    let text = format!("{number}{unit}");
    if number.contains('.') && parse_size(&text) == Some(size) { text } else { write_size(size) }
}

/// A text that [`parse_duration`] reads back as the same span, which is whole microseconds.
pub fn write_duration(span: Nanos) -> String {
    let exact = [
        ("h", 3_600_000_000_000),
        ("min", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
    ];
    for (unit, factor) in exact {
        if span.0 > 0 && span.0.is_multiple_of(factor) {
            return format!("{}{unit}", span.0 / factor);
        }
    }
    match span.0 / 1_000 {
        0 => "0s".to_owned(),
        micros => format!("{micros}us"),
    }
}

/// A decimal number with up to six places, kept exact: `whole + millionths / 1_000_000`.
#[derive(Clone, Copy)]
struct Decimal {
    whole: u64,
    millionths: u64,
}

impl Decimal {
    /// The number times `factor`, rounded down.
    fn times(self, factor: u64) -> Option<u64> {
        let part = u128::from(self.millionths) * u128::from(factor) / 1_000_000;
        self.whole.checked_mul(factor)?.checked_add(u64::try_from(part).ok()?)
    }
}

/// Splits the number at the start of `text` from the rest.
fn decimal(text: &str) -> Option<(Decimal, &str)> {
    let (whole, rest) = digits(text);
    let whole = whole.parse().ok()?;
    let Some(rest) = rest.strip_prefix('.') else {
        let millionths = 0;
        return Some((Decimal { whole, millionths }, rest));
    };
    let (places, rest) = digits(rest);
    if places.is_empty() || places.len() > 6 {
        return None;
    }
    let millionths = format!("{places:0<6}").parse().ok()?;
    Some((Decimal { whole, millionths }, rest))
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|symbol: char| !symbol.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::{Bytes, Nanos};

    use super::{parse_duration, parse_size, write_duration, write_shown_size, write_size};

    #[test]
    fn sizes_as_people_write_them() {
        assert_eq!(parse_size("10GiB"), Some(Bytes::from_gib(10)));
        assert_eq!(parse_size(" 32 kib "), Some(Bytes::from_kib(32)));
        assert_eq!(parse_size("1.5 GB"), Some(Bytes(1_500_000_000)));
        assert_eq!(parse_size("4096"), Some(Bytes(4096)));
        for wrong in ["", "GiB", "-1GiB", "1 GiB2", "10G", "1e9", "99999999999TiB", "1.0000001MiB"]
        {
            assert_eq!(parse_size(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn durations_as_people_write_them() {
        assert_eq!(parse_duration("2h"), Some(Nanos::from_secs(7200)));
        assert_eq!(parse_duration("1m30s"), Some(Nanos::from_secs(90)));
        assert_eq!(parse_duration("2H0M0S"), Some(Nanos::from_secs(7200)));
        assert_eq!(parse_duration("1.5 ms"), Some(Nanos::from_micros(1500)));
        for wrong in ["", "2", "h", "-2h", "2h-", "2 fortnights", "999999999999d"] {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_size_is_written_as_texts_show_it_if_that_is_exact() {
        let mebibyte = 1 << 20;
        for (size, text) in [
            (1_280 * mebibyte, "1.25GiB"),
            (1_024 * mebibyte, "1GiB"),
            (16 * mebibyte, "16MiB"),
            (1_500 * mebibyte, "1500MiB"),
            (mebibyte << 20, "1TiB"),
            (10, "10B"),
        ] {
            assert_eq!(write_shown_size(Bytes(size)), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(bytes: u64, micros in 0..u64::MAX / 1000) {
            prop_assert_eq!(parse_size(&write_size(Bytes(bytes))), Some(Bytes(bytes)));
            let shown = write_shown_size(Bytes(bytes));
            prop_assert_eq!(parse_size(&shown), Some(Bytes(bytes)));
            let span = Nanos::from_micros(micros);
            prop_assert_eq!(parse_duration(&write_duration(span)), Some(span));
        }

        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = parse_size(&text);
            let _ = parse_duration(&text);
        }
    }
}
