//! Permitted destinations of secrets: hosts reached over TLS, or this machine.

use ureq::http::Uri;

use crate::error::SignInError;

/// An address to which secrets may be sent.
#[derive(Clone, Debug)]
pub(crate) struct Address(Uri);

impl Address {
    /// Parses `text`, the address called `what` in errors.
    pub(crate) fn parse(what: &'static str, text: &str) -> Result<Self, SignInError> {
        let wrong = || SignInError::Address { what, address: origin(text) };
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let is_plain = uri.authority().is_some_and(|name| !name.as_str().contains('@'));
        let address = Self(uri);
        let is_safe = match address.0.scheme_str() {
            Some("https") => true,
            Some("http") => address.is_loopback(),
            _ => false,
        };
        if is_plain && is_safe { Ok(address) } else { Err(wrong()) }
    }

    pub(crate) fn is_loopback(&self) -> bool {
        matches!(self.0.host(), Some("127.0.0.1" | "[::1]" | "localhost"))
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.0.scheme_str() == Some("https")
    }

    pub(crate) fn uri(&self) -> &Uri {
        &self.0
    }

    /// The part that may be shown: paths and queries of downloads act as keys.
    pub(crate) fn origin(&self) -> String {
        origin(&self.0.to_string())
    }
}

/// Scheme, host and port of a URL, without a user name and password before the host.
fn origin(text: &str) -> String {
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    if scheme.is_empty() { host.to_owned() } else { format!("{scheme}://{host}") }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn secrets_go_over_tls_or_to_this_machine() {
        let is_taken = |text| Address::parse("authority", text).is_ok();
        for good in [
            "https://login.example/tenant/v2.0",
            "http://127.0.0.1:80/x",
            "http://[::1]:80/",
            "http://localhost:1",
        ] {
            assert!(is_taken(good), "{good}");
        }
        for bad in [
            "http://login.example/",
            "http://127.0.0.1.example/",
            "http://localhost@login.example/",
            "https://user:word@login.example/",
            "ftp://localhost/",
            "localhost",
            "/x",
            "",
        ] {
            assert!(!is_taken(bad), "{bad}");
        }
    }

    #[test]
    fn an_error_shows_no_more_than_the_host() {
        let error = Address::parse("download", "http://a:key@host.example/path?sig=key");
        let text = error.unwrap_err().to_string();
        assert!(text.starts_with("download http://host.example: "), "{text}");
    }
}
