//! Numbers as results print them. An ambiguous one, such as `165,565`, is refused.

use super::ResultError;
use super::outline::is_missing;

/// A figure with decimals; `None` if the cell is marked as having no value.
pub(super) fn decimal(name: &str, text: &str) -> Result<Option<f64>, ResultError> {
    if is_missing(text) {
        return Ok(None);
    }
    let text = text.trim();
    let plain = match text.split_once('.') {
        Some((whole, fraction)) => {
            ungrouped(whole).filter(|_| is_digits(fraction)).map(|of| format!("{of}.{fraction}"))
        }
        None => is_digits(text).then(|| text.to_owned()),
    };
    let number = plain.and_then(|of| of.parse().ok()).filter(|of: &f64| *of < 1e15);
    number.map(Some).ok_or_else(|| wrong(name, text))
}

/// A count, possibly with thousands separators.
pub(super) fn whole(name: &str, text: &str) -> Result<Option<u64>, ResultError> {
    if is_missing(text) {
        return Ok(None);
    }
    let number = ungrouped(text.trim()).and_then(|of| of.parse().ok());
    number.map(Some).ok_or_else(|| wrong(name, text))
}

/// The whole number at the start of a text, such as 3 in `3 (per database)` and 40 in `40%`.
pub(super) fn leading(name: &str, text: &str) -> Result<Option<u32>, ResultError> {
    if is_missing(text) {
        return Ok(None);
    }
    let text = text.trim();
    let end = text.find(|of: char| !of.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let number = digits.parse().ok().filter(|_| !rest.starts_with([',', '.']));
    number.map(Some).ok_or_else(|| wrong(name, text))
}

/// A size such as `512.0 MB`, in bytes.
pub(super) fn size(name: &str, text: &str) -> Result<Option<u64>, ResultError> {
    if is_missing(text) {
        return Ok(None);
    }
    let (number, unit) = text.trim().split_once(' ').unwrap_or((text, ""));
    let factor = match unit.trim() {
        "KB" => 1_u64 << 10,
        "MB" => 1 << 20,
        "GB" => 1 << 30,
        _ => return Err(wrong(name, text)),
    };
    let (digits, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let tenths = fraction.parse().ok().and_then(|of: char| of.to_digit(10)).map(u64::from);
    let tenths = tenths.ok_or_else(|| wrong(name, text))?;
    let size = whole(name, digits)?.and_then(|whole| whole.checked_mul(10)?.checked_add(tenths));
    Ok(size.and_then(|size| size.checked_mul(factor)).map(|size| size / 10))
}

/// The digits without thousands separators; `None` unless exactly three digits follow each comma.
fn ungrouped(text: &str) -> Option<String> {
    let mut groups = text.split(',');
    let first = groups.next().unwrap_or_default();
    let is_grouped = is_digits(first)
        && (first.len() == text.len() || first.len() <= 3)
        && groups.all(|group| group.len() == 3 && is_digits(group));
    is_grouped.then(|| text.replace(',', ""))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn wrong(name: &str, value: &str) -> ResultError {
    ResultError::Value { name: shortened(name), value: shortened(value) }
}

/// Shortens a text for an error: a cell may be as long as the file.
fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::{decimal, leading, size, whole};

    #[test]
    fn numbers_are_read_as_they_are_printed() {
        assert_eq!(decimal("x", "165.565"), Ok(Some(165.565)));
        assert_eq!(decimal("x", "1,073.700"), Ok(Some(1_073.7)));
        assert_eq!(decimal("x", "0.000"), Ok(Some(0.0)));
        assert_eq!(whole("x", "1,043,761,234,944"), Ok(Some(1_043_761_234_944)));
        assert_eq!(leading("x", "3 (per database)"), Ok(Some(3)));
        assert_eq!(leading("x", "40%"), Ok(Some(40)));
        assert_eq!(size("x", "512.0 MB"), Ok(Some(512 << 20)));
    }

    #[test]
    fn no_number_is_none() {
        for text in ["", " ", "-", "N/A", "NaN"] {
            assert_eq!(decimal("x", text), Ok(None), "{text}");
            assert_eq!(whole("x", text), Ok(None), "{text}");
        }
    }

    #[test]
    fn what_could_be_two_numbers_is_refused() {
        for text in ["165,565", "1.073.700", "1,07.5", "inf", "-3.5", "1e9", "12 ms", ".5", "5."] {
            assert!(decimal("x", text).is_err(), "{text}");
        }
        assert!(whole("x", "12,34").is_err());
        assert!(whole("x", "1.5").is_err());
        assert!(leading("x", "1,000").is_err());
        assert!(size("x", "512").is_err());
    }
}
