//! Formats counts and measured values for people. Every sentence uses it, so that a value shown
//! twice on a page is never rounded in two ways.

/// A count with commas between thousands: `1,234,567`.
pub fn thousands(count: u64) -> String {
    group_thousands(&count.to_string())
}

/// A count and its noun, with the plural ending that the count requires.
pub fn plural(count: u64, noun: &str) -> String {
    let sign = if count == 1 { "" } else { "s" };
    format!("{} {noun}{sign}", thousands(count))
}

/// A formatted number with its noun, in the singular after `1`.
pub fn counted(shown: &str, noun: &str) -> String {
    let plural = match (shown, noun.strip_suffix('y'), noun.ends_with('x')) {
        ("1", ..) => noun.to_owned(),
        (_, Some(stem), _) => format!("{stem}ies"),
        (_, None, true) => format!("{noun}es"),
        (_, None, false) => format!("{noun}s"),
    };
    format!("{shown} {plural}")
}

/// Inserts commas between thousands into the `digits` of a whole number.
fn group_thousands(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `value` with `decimals` digits after the decimal point and commas between thousands.
pub fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    format!("{sign}{}{fraction}", group_thousands(whole))
}

/// `value` with three significant digits, or more if its whole part has more: 0.123, 1.23, 12.3,
/// 1,234; whole numbers stay whole.
pub fn three_digits(value: f64) -> String {
    decimal(value, decimals_of_three(value))
}

/// Like [`three_digits`], with enough extra digits to show on which side of `limit` the value is:
/// 10.04 next to a limit of 10, not 10.0.
pub fn three_digits_beside(value: f64, limit: f64) -> String {
    let least = decimals_of_three(value);
    let texts = (least..least + MOST_MORE_DIGITS).map(|digits| {
        let [value, limit] = [value, limit].map(|number| decimal(number, digits));
        (value != limit).then_some(value)
    });
    texts.flatten().next().unwrap_or_else(|| three_digits(value))
}

/// `limit` with three significant digits, or with more if rounding would move it to the other side
/// of the value that [`three_digits_beside`] prints: 229.2 next to 229.1, not 229.
pub fn limit_beside(value: f64, limit: f64) -> String {
    let least = decimals_of_three(limit);
    let shown = rounded(&three_digits_beside(value, limit));
    let texts = (least..=least + MOST_MORE_DIGITS).map(|digits| decimal(limit, digits));
    let mut on_its_side = texts.filter(|text| {
        let sides = (value.partial_cmp(&limit), shown.partial_cmp(&rounded(text)));
        sides.0 == sides.1
    });
    on_its_side.next().unwrap_or_else(|| three_digits(limit))
}

/// Parses a number formatted by this module.
fn rounded(text: &str) -> Option<f64> {
    text.replace(',', "").parse().ok()
}

/// Extra digits to try before two values are printed alike.
const MOST_MORE_DIGITS: usize = 4;

fn decimals_of_three(value: f64) -> usize {
    match value.abs() {
        _ if value.fract().abs() < f64::MIN_POSITIVE => 0,
        ..1.0 => 3,
        1.0..10.0 => 2,
        10.0..100.0 => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{counted, decimal, limit_beside, thousands, three_digits, three_digits_beside};

    #[test]
    fn values_keep_three_digits() {
        assert_eq!(decimal(1_234_567.891, 2), "1,234,567.89");
        assert_eq!(decimal(-1_234.0, 0), "-1,234");
        assert_eq!(decimal(999.0, 0), "999");
        assert_eq!(three_digits(0.1234), "0.123");
        assert_eq!(three_digits(1.234), "1.23");
        assert_eq!(three_digits(12.34), "12.3");
        assert_eq!(three_digits(1_234.5), "1,234");
        assert_eq!(three_digits(20.0), "20");
    }

    #[test]
    fn only_one_takes_a_singular() {
        assert_eq!(counted("1", "copy"), "1 copy");
        assert_eq!(counted("2", "copy"), "2 copies");
        assert_eq!(counted("1", "mailbox"), "1 mailbox");
        assert_eq!(counted("9,375", "mailbox"), "9,375 mailboxes");
        assert_eq!(counted("0", "volume"), "0 volumes");
    }

    #[test]
    fn a_value_beside_its_limit_shows_its_side() {
        assert_eq!(three_digits_beside(10.04, 10.0), "10.04");
        assert_eq!(three_digits_beside(9.9996, 10.0), "9.9996");
        assert_eq!(three_digits_beside(10.0, 10.0), "10");
        assert_eq!(three_digits_beside(11.09, 10.0), "11.1");
        assert_eq!(three_digits_beside(1_000.04, 1_000.0), "1,000.04");
        assert_eq!(three_digits_beside(10.000_000_01, 10.0), "10.0");
    }

    #[test]
    fn a_limit_stays_on_its_side_of_a_rounded_value() {
        assert_eq!(three_digits_beside(229.1, 229.235), "229.1");
        assert_eq!(limit_beside(229.1, 229.235), "229.2");
        assert_eq!(limit_beside(337.2, 337.4), "337.4");
        assert_eq!(limit_beside(11.09, 10.0), "10");
        assert_eq!(limit_beside(10.0, 10.0), "10");
    }

    #[test]
    fn three_digits_to_a_group() {
        for (count, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(count), text);
        }
    }
}
