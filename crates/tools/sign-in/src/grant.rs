//! Answers of the token endpoint.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::secret::Secret;

/// Tokens as they were granted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) access: Secret,
    pub(crate) refresh: Option<Secret>,
    pub(crate) lifetime: Duration,
}

/// The provider's refusal, in the terms of RFC 6749 and RFC 8628.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OAuthRefusal {
    /// The code of the error, such as `access_denied`.
    pub code: String,
    /// The provider's description.
    pub description: String,
}

/// Possible responses of a token endpoint.
#[derive(Debug)]
pub(crate) enum TokenAnswer {
    Granted(Grant),
    Refused(OAuthRefusal),
    /// Neither a grant nor a refusal; why.
    Unclear(&'static str),
}

/// Lifetime of a token if the provider does not state it.
const SHORT_LIFETIME: Duration = Duration::from_mins(5);
/// The longest word of a description that is shown: longer ones may be tokens.
const LONGEST_WORD: usize = 40;
const LONGEST_DESCRIPTION: usize = 300;

#[derive(Deserialize)]
struct GrantWire {
    access_token: Secret,
    token_type: String,
    refresh_token: Option<Secret>,
    expires_in: Option<Value>,
}

/// Parses an answer; `is_success` is whether the HTTP status was a success.
pub(crate) fn read(is_success: bool, body: &[u8]) -> TokenAnswer {
    if !is_success {
        let refusal = OAuthRefusal::read(body);
        return refusal.map_or(TokenAnswer::Unclear("no error of OAuth"), TokenAnswer::Refused);
    }
    let Ok(wire) = serde_json::from_slice::<GrantWire>(body) else {
        return TokenAnswer::Unclear("no token");
    };
    if !wire.token_type.eq_ignore_ascii_case("bearer") {
        return TokenAnswer::Unclear("a token of another type than Bearer");
    }
    let Some(lifetime) = lifetime(wire.expires_in.as_ref()) else {
        return TokenAnswer::Unclear("a lifetime that is no number of seconds");
    };
    TokenAnswer::Granted(Grant { access: wire.access_token, refresh: wire.refresh_token, lifetime })
}

/// A number of seconds, which some providers write as text.
fn lifetime(seconds: Option<&Value>) -> Option<Duration> {
    let seconds = match seconds {
        None => return Some(SHORT_LIFETIME),
        Some(Value::String(text)) => text.parse().ok()?,
        Some(value) => value.as_u64()?,
    };
    Some(Duration::from_secs(seconds))
}

impl OAuthRefusal {
    /// The refusal in an answer; `None` if the answer is something else.
    pub(crate) fn read(body: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(body).ok()?;
        let code = value.get("error")?.as_str()?;
        let description = value.get("error_description").and_then(Value::as_str);
        Some(Self::new(code, description.unwrap_or_default()))
    }

    pub(crate) fn new(code: &str, description: &str) -> Self {
        Self { code: harmless(code), description: harmless(description) }
    }

    fn remedy(&self) -> &'static str {
        match self.code.as_str() {
            "access_denied" => {
                "the sign-in was refused; sign in with another account, or import files"
            }
            "expired_token" => "the code was not used in time; start again",
            "invalid_grant" => "sign in again",
            "invalid_client" | "unauthorized_client" => {
                "check --client, the certificate that is registered for it and the clock"
            }
            "invalid_scope" | "consent_required" => {
                "grant the application the permission Reports.Read.All"
            }
            _ => "ask the administrator of the tenant",
        }
    }
}

impl fmt::Display for OAuthRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.code)?;
        if !self.description.is_empty() {
            write!(f, " ({})", self.description)?;
        }
        write!(f, "; {}", self.remedy())
    }
}

/// The first line of a provider's message, without words that could be tokens.
fn harmless(text: &str) -> String {
    let mut words = Vec::new();
    for word in text.lines().next().unwrap_or_default().split_whitespace() {
        words.push(if word.len() > LONGEST_WORD { "..." } else { word });
    }
    words.join(" ").chars().take(LONGEST_DESCRIPTION).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::{OAuthRefusal, TokenAnswer, read};

    fn unclear(body: &str) -> &'static str {
        match read(true, body.as_bytes()) {
            TokenAnswer::Unclear(problem) => problem,
            other => panic!("{other:?}"),
        }
    }

    fn seconds(lifetime: &str) -> u64 {
        let body = format!(r#"{{"access_token":"a","token_type":"bearer"{lifetime}}}"#);
        match read(true, body.as_bytes()) {
            TokenAnswer::Granted(grant) => grant.lifetime.as_secs(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_grant_is_read_with_and_without_what_may_be_left_out() {
        assert_eq!(seconds(r#","expires_in":3599"#), 3599);
        assert_eq!(seconds(r#","expires_in":"3599""#), 3599);
        assert_eq!(seconds(""), 300);
        let body = r#"{"access_token":"a","token_type":"Bearer","refresh_token":"r","x":[1]}"#;
        let TokenAnswer::Granted(grant) = read(true, body.as_bytes()) else { panic!() };
        assert_eq!(grant.access.reveal(), "a");
        assert_eq!(grant.refresh.map(|token| token.reveal().to_owned()).as_deref(), Some("r"));
        assert_eq!(grant.lifetime, Duration::from_mins(5));
    }

    #[test]
    fn what_is_no_grant_is_not_taken_for_one() {
        assert_eq!(unclear("<html>"), "no token");
        assert_eq!(unclear(r#"{"token_type":"Bearer"}"#), "no token");
        let mac = r#"{"access_token":"a","token_type":"mac"}"#;
        assert_eq!(unclear(mac), "a token of another type than Bearer");
        for wrong in ["-1", "\"soon\"", "1.5", "[]"] {
            let body =
                format!(r#"{{"access_token":"a","token_type":"Bearer","expires_in":{wrong}}}"#);
            assert_eq!(unclear(&body), "a lifetime that is no number of seconds");
        }
        assert!(matches!(read(false, b"Bad Gateway"), TokenAnswer::Unclear(_)));
    }

    #[test]
    fn a_refusal_says_what_to_do_and_repeats_no_token() {
        let token = "e".repeat(41);
        let body = format!(
            r#"{{"error":"invalid_grant","error_description":"AADSTS7: {token} is old\nTrace"}}"#
        );
        let TokenAnswer::Refused(refusal) = read(false, body.as_bytes()) else { panic!() };
        let text = refusal.to_string();
        assert_eq!(text, "invalid_grant (AADSTS7: ... is old); sign in again");
        assert_eq!(OAuthRefusal::read(br#"{"error":{"code":"x"}}"#), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_some_answer(is_success: bool, body: Vec<u8>) {
            let _ = read(is_success, &body);
        }
    }
}
