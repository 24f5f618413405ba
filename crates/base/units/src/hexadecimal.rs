//! Formats bytes for people to compare.

use std::fmt::Write as _;

/// Bytes in hexadecimal, two lower-case digits each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("invariant: a text takes all that is written to it");
        text
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn small_bytes_keep_their_zero() {
        assert_eq!(super::hexadecimal(&[0, 0x0f, 0xa0]), "000fa0");
    }
}
