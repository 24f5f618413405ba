//! Names and values in the encoding of forms and addresses (application/x-www-form-urlencoded).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use zeroize::Zeroizing;

/// All characters except those that RFC 3986 leaves unescaped.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Encodes the pairs as one line, wiped when dropped: values may be secrets.
pub(crate) fn encode(pairs: &[(&str, &str)]) -> Zeroizing<String> {
    let length: usize = pairs.iter().map(|(name, value)| name.len() + 3 * value.len() + 2).sum();
    // Allocated at full size, so that growing leaves no copy of the secrets in memory.
    let mut line = Zeroizing::new(String::with_capacity(length));
    for (name, value) in pairs {
        if !line.is_empty() {
            line.push('&');
        }
        line.push_str(name);
        line.push('=');
        line.extend(utf8_percent_encode(value, RESERVED));
    }
    line
}

/// The value of `name` in a query; the first if there are several.
pub(crate) fn value(query: &str, name: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(found, _)| *found == name)?;
    let value = value.replace('+', " ");
    let value = percent_decode_str(&value).decode_utf8().ok()?;
    Some(value.into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{encode, value};

    #[test]
    fn what_would_end_a_value_is_escaped() {
        let line = encode(&[("scope", "a b&c"), ("code", "x=1/\u{fc}+~")]);
        assert_eq!(*line, "scope=a%20b%26c&code=x%3D1%2F%C3%BC%2B~");
        assert_eq!(value("a=1&code=x%20y+z&code=2", "code").as_deref(), Some("x y z"));
        assert_eq!(value("xcode=1&b", "code"), None);
        assert_eq!(value("code=%FF", "code"), None);
    }

    proptest! {
        #[test]
        fn any_value_comes_back(one: String, two: String) {
            let line = encode(&[("one", &one), ("two", &two)]);
            prop_assert_eq!(value(&line, "one"), Some(one));
            prop_assert_eq!(value(&line, "two"), Some(two));
        }
    }
}
