//! Keys and values as text, used by both sides for declarations and negotiation (RFC 7143, 6).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// Maximum length of the text in one negotiation, in bytes.
pub(crate) const LONGEST_TEXT: usize = 64 << 10;

/// Keys with values, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyText(Vec<(String, String)>);

impl KeyText {
    /// Adds a key.
    pub fn set(&mut self, key: &str, value: impl Into<String>) {
        self.0.push((key.to_owned(), value.into()));
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.pairs().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// All pairs, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Encodes the pairs for the wire.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (key, value) in self.pairs() {
            bytes.extend(key.bytes().chain(*b"=").chain(value.bytes()).chain([0]));
        }
        bytes
    }

    /// Parses the wire format; `None` if it is not such a text.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut pairs = Vec::new();
        for pair in bytes.split(|&byte| byte == 0).filter(|pair| !pair.is_empty()) {
            let (key, value) = std::str::from_utf8(pair).ok()?.split_once('=')?;
            pairs.push((key.to_owned(), value.to_owned()));
        }
        Some(Self(pairs))
    }
}

/// Decodes a value in hexadecimal (`0x`) or Base64 (`0b`); `None` if it is neither.
pub fn binary(value: &str) -> Option<Vec<u8>> {
    let (mark, rest) = value.split_at_checked(2)?;
    match mark {
        "0x" | "0X" => hexadecimal(rest),
        "0b" | "0B" => BASE64.decode(rest).ok(),
        _ => None,
    }
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    let (odd, even) = digits.split_at(digits.len() % 2);
    let pairs = even.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]);
    Some(odd.iter().copied().chain(pairs).collect())
}

/// Encodes bytes as a hexadecimal value.
pub fn hex_value(bytes: &[u8]) -> String {
    use std::fmt::Write as _;

    let mut text = "0x".to_owned();
    for byte in bytes {
        write!(text, "{byte:02x}").expect("invariant: a text takes all that is written to it");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{KeyText, binary, hex_value};

    #[test]
    fn a_text_is_read_as_it_was_written() {
        let mut text = KeyText::default();
        text.set("AuthMethod", "CHAP,None");
        text.set("CHAP_N", "a=b");
        assert_eq!(text.encode(), b"AuthMethod=CHAP,None\0CHAP_N=a=b\0");
        let read = KeyText::decode(&text.encode()).unwrap();
        assert_eq!((read.get("CHAP_N"), read.get("CHAP_R")), (Some("a=b"), None));
        assert_eq!(read, text);
        assert_eq!(KeyText::decode(b"\0\0"), Some(KeyText::default()));
        for bytes in [&b"no key\0"[..], b"\xff=\xff\0"] {
            assert_eq!(KeyText::decode(bytes), None);
        }
    }

    #[test]
    fn binary_values_are_hexadecimal_or_base64() {
        assert_eq!(binary("0xff01").unwrap(), [255, 1]);
        assert_eq!(binary("0Xf01").unwrap(), [15, 1]);
        for (text, bytes) in
            [("0bZg==", "f"), ("0bZm8=", "fo"), ("0bZm9v", "foo"), ("0BZm9vYmE=", "fooba")]
        {
            assert_eq!(binary(text).unwrap(), bytes.as_bytes(), "{text}");
        }
        for text in ["", "0", "12", "0xg", "0b!", "\u{e4}\u{f6}"] {
            assert_eq!(binary(text), None, "{text}");
        }
        assert_eq!(hex_value(&[0, 255]), "0x00ff");
    }
}
