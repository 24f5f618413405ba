//! The only conversion from the bytes of a user's file to text. PowerShell 5.1 writes UTF-16 with
//! `>`, Notepad starts files with a byte order mark, and logs keep the code page of their server:
//! each of these is text, whichever command reads it.

use std::borrow::Cow;

/// The text of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// Without a byte order mark.
    pub text: Cow<'a, str>,
    /// `false` if some bytes belong to no character and were replaced.
    pub(crate) is_exact: bool,
}

/// Decodes UTF-16 if indicated by a byte order mark or zeros between plain letters, otherwise
/// UTF-8.
pub fn decode(bytes: &[u8]) -> Decoded<'_> {
    match bytes {
        [0xFF, 0xFE, body @ ..] => wide(body, u16::from_le_bytes),
        [0xFE, 0xFF, body @ ..] => wide(body, u16::from_be_bytes),
        [first, 0, second, 0, ..] if *first > 0 && *second > 0 => wide(bytes, u16::from_le_bytes),
        [0, first, 0, second, ..] if *first > 0 && *second > 0 => wide(bytes, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, body @ ..] | body => narrow(body),
    }
}

fn narrow(body: &[u8]) -> Decoded<'_> {
    let text = String::from_utf8_lossy(body);
    Decoded { is_exact: matches!(text, Cow::Borrowed(_)), text }
}

fn wide(body: &[u8], unit: fn([u8; 2]) -> u16) -> Decoded<'static> {
    let (pairs, rest) = body.as_chunks::<2>();
    let mut is_exact = rest.is_empty();
    let text: String = char::decode_utf16(pairs.iter().map(|&pair| unit(pair)))
        .map(|character| {
            character.unwrap_or_else(|_| {
                is_exact = false;
                char::REPLACEMENT_CHARACTER
            })
        })
        .collect();
    Decoded { text: Cow::Owned(text), is_exact }
}

#[cfg(test)]
mod tests {
    use super::{Decoded, decode};

    #[test]
    fn every_encoding_of_windows_is_the_same_text() {
        let units = || "Nam\u{e8} = 1\r\n".encode_utf16();
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        for bytes in [
            "Nam\u{e8} = 1\r\n".as_bytes().to_vec(),
            "\u{feff}Nam\u{e8} = 1\r\n".as_bytes().to_vec(),
            [&[0xFF, 0xFE], &little[..]].concat(),
            [&[0xFE, 0xFF], &big[..]].concat(),
            little,
            big,
        ] {
            let wanted = Decoded { text: "Nam\u{e8} = 1\r\n".into(), is_exact: true };
            assert_eq!(decode(&bytes), wanted, "{bytes:?}");
        }
    }

    #[test]
    fn bytes_of_no_character_are_replaced_and_said() {
        for (bytes, text) in [
            (&b"Gr\xFC\xDFe"[..], "Gr\u{fffd}\u{fffd}e"),
            (b"\xFF\xFEN\0a", "N"),
            (b"\xFF\xFE\0\xD8N\0", "\u{fffd}N"),
        ] {
            assert_eq!(decode(bytes), Decoded { text: text.into(), is_exact: false }, "{bytes:?}");
        }
        assert_eq!(decode(b""), Decoded { text: "".into(), is_exact: true });
    }
}
