//! SHA-256 by the system's own tool, in the forms that packages use.

use xtask::failure::Failure;

use super::archive::gzip::piped;

/// Base64 alphabet for URLs.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The SHA-256 digest, in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> Result<String, Failure> {
    let said = String::from_utf8_lossy(&piped(&["sha256sum"], bytes)?).into_owned();
    Ok(said.split(' ').next().unwrap_or_default().to_owned())
}

/// The MD5 digest for the file lists of Debian packages.
pub(super) fn md5(bytes: &[u8]) -> Result<String, Failure> {
    let said = String::from_utf8_lossy(&piped(&["md5sum"], bytes)?).into_owned();
    Ok(said.split(' ').next().unwrap_or_default().to_owned())
}

/// Converts a hexadecimal digest to URL-safe base64 without padding, as listed in Python wheels.
pub(super) fn base64_of_hex(digest: &str) -> String {
    let bits: Vec<u8> = digest
        .chars()
        .filter_map(|digit| digit.to_digit(16))
        .flat_map(|digit| (0..4).rev().map(move |bit| (digit >> bit & 1) as u8))
        .collect();
    let letter = |six: &[u8]| {
        let value = (0..6).fold(0, |sum, at| sum << 1 | usize::from(*six.get(at).unwrap_or(&0)));
        char::from(LETTERS[value])
    };
    bits.chunks(6).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::{base64_of_hex, md5, sha256};

    #[test]
    fn digests_of_nothing_are_the_known_ones() {
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b"").unwrap(), digest);
        assert_eq!(base64_of_hex(digest), "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
        assert_eq!(md5(b"").unwrap(), "d41d8cd98f00b204e9800998ecf8427e");
    }
}
