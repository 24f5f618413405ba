//! Content names: equal parts have equal names on every machine.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// SHA-256 of `parts` in 64 hexadecimal digits. Covers the lengths, so that the same bytes divided
/// differently have a different name.
pub fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut text = String::new();
    for byte in hash.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn parts_that_are_cut_elsewhere_have_another_name() {
        let of = |parts: &[&str]| digest(parts.iter().map(|part| part.as_bytes()));
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["ab"]), of(&["ab", ""]));
        assert_eq!(of(&[]).len(), 64);
    }
}
