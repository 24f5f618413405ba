//! Counts as people read them, for every sentence that holds one.

/// A count with commas between thousands: `1,234,567`.
pub fn thousands(count: u64) -> String {
    group_thousands(&count.to_string())
}

/// `digits` of a whole number with commas between thousands.
pub fn group_thousands(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn three_digits_to_a_group() {
        for (count, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(count), text);
        }
    }
}
