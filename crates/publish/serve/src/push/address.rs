//! Parses the address of a collector, given with or without the path of its metrics, and the
//! headers that it requires, which contain keys and therefore come from the environment.

use std::fmt;

use ureq::http::{HeaderName, HeaderValue, Uri};

/// Path of metrics on a collector, used if only the address is given.
const PLACE: &str = "/v1/metrics";

/// Target of the push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtlpTarget {
    address: String,
    headers: Vec<(String, String)>,
}

/// Why nothing can be pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtlpTargetError {
    /// It is no address of HTTP.
    Address(String),
    /// The list of headers cannot be parsed; its text contains keys and is not repeated.
    Headers,
}

impl fmt::Display for OtlpTargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(given) => write!(
                f,
                "`{given}` is no address of a collector; write http://HOST:PORT or https://HOST, \
                 such as http://127.0.0.1:4318"
            ),
            Self::Headers => write!(
                f,
                "OTEL_EXPORTER_OTLP_HEADERS: is no list of headers; write \
                 NAME=VALUE,NAME=VALUE, or unset it"
            ),
        }
    }
}

impl std::error::Error for OtlpTargetError {}

impl fmt::Display for OtlpTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)
    }
}

impl OtlpTarget {
    /// Parses an address and the value of `OTEL_EXPORTER_OTLP_HEADERS`, which is defined in the
    /// OpenTelemetry specification.
    pub fn parse(address: &str, headers: &str) -> Result<Self, OtlpTargetError> {
        let wrong = OtlpTargetError::Address(address.to_owned());
        let Ok(uri) = address.parse::<Uri>() else {
            return Err(wrong);
        };
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        let has_user = uri.authority().is_some_and(|of| of.as_str().contains('@'));
        if !is_http || has_user || uri.host().is_none_or(str::is_empty) || uri.query().is_some() {
            return Err(wrong);
        }
        let place = if uri.path() == "/" { PLACE } else { "" };
        let address = format!("{}{place}", address.trim_end_matches('/'));
        let headers = headers
            .split(',')
            .map(str::trim)
            .filter(|header| !header.is_empty())
            .map(header)
            .collect::<Option<_>>()
            .ok_or(OtlpTargetError::Headers)?;
        Ok(Self { address, headers })
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn headers(&self) -> &[(String, String)] {
        &self.headers
    }
}

fn header(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    let value = decoded(value.trim())?;
    HeaderName::try_from(name.trim()).ok()?;
    HeaderValue::try_from(&value).ok()?;
    Some((name.trim().to_owned(), value))
}

/// Decodes a value that is percent-encoded as in addresses, such as `%20` for a space.
fn decoded(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        let digits = str::from_utf8(&digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{OtlpTarget, OtlpTargetError};

    #[test]
    fn an_address_alone_means_the_place_of_metrics() {
        let of = |address| OtlpTarget::parse(address, "").map(|target| target.to_string());
        let usual = "http://127.0.0.1:4318/v1/metrics";
        assert_eq!(of("http://127.0.0.1:4318").as_deref(), Ok(usual));
        assert_eq!(of("http://127.0.0.1:4318/").as_deref(), Ok(usual));
        assert_eq!(of("https://a.example/otlp/v1/m").as_deref(), Ok("https://a.example/otlp/v1/m"));
        for wrong in ["", "127.0.0.1:4318", "ftp://a", "http://", "http://u:p@a", "http://a/?q=1"] {
            assert_eq!(of(wrong), Err(OtlpTargetError::Address(wrong.to_owned())));
        }
    }

    #[test]
    fn headers_are_read_and_their_mistakes_are_not_repeated() {
        let of = |headers| OtlpTarget::parse("http://a:4318", headers);
        let target = of("api-key=secret, authorization=Bearer%20x").unwrap();
        assert_eq!(target.headers()[1], ("authorization".to_owned(), "Bearer x".to_owned()));
        for wrong in ["secret", "a b=c", "a=%zz", "a=%0a"] {
            let error = of(wrong).unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
