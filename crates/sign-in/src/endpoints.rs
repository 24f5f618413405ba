//! Where a provider does what, as it says itself (`OpenID` Connect Discovery).

use serde::Deserialize;

use crate::address::Address;
use crate::error::SignInError;
use crate::web::Web;

/// The addresses of a provider.
#[derive(Debug)]
pub(crate) struct Endpoints {
    pub(crate) issuer: String,
    pub(crate) token: Address,
    pub(crate) authorization: Option<Address>,
    pub(crate) device: Option<Address>,
    /// Seconds that the provider's clock is ahead of this machine's.
    pub(crate) skew_seconds: i64,
}

#[derive(Deserialize)]
struct EndpointsWire {
    issuer: String,
    token_endpoint: String,
    authorization_endpoint: Option<String>,
    device_authorization_endpoint: Option<String>,
}

impl Endpoints {
    /// Asks the provider at `authority`; it is `now` in seconds since 1970.
    pub(crate) fn discover(web: &Web, authority: &str, now: i64) -> Result<Self, SignInError> {
        let authority = authority.trim_end_matches('/');
        let place = format!("{authority}/.well-known/openid-configuration");
        let place = Address::parse("authority", &place)?;
        let reply = web.get(&place, None)?;
        let wrong = |problem: String| SignInError::Answer {
            place: place.origin(),
            what: "the description of the provider",
            problem,
        };
        if !reply.is_success() {
            return Err(wrong(format!("HTTP {}", reply.status)));
        }
        let skew_seconds = reply.date.map_or(0, |date| date - now);
        Self::read(&reply.body, skew_seconds)?
            .ok_or_else(|| wrong("no issuer or no token endpoint".to_owned()))
    }

    fn read(body: &[u8], skew_seconds: i64) -> Result<Option<Self>, SignInError> {
        let Ok(wire) = serde_json::from_slice::<EndpointsWire>(body) else {
            return Ok(None);
        };
        let optional =
            |what, text: Option<String>| text.map(|text| Address::parse(what, &text)).transpose();
        Ok(Some(Self {
            token: Address::parse("token endpoint", &wire.token_endpoint)?,
            authorization: optional("authorization endpoint", wire.authorization_endpoint)?,
            device: optional("device endpoint", wire.device_authorization_endpoint)?,
            issuer: wire.issuer,
            skew_seconds,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::Endpoints;

    #[test]
    fn a_provider_cannot_send_secrets_elsewhere_in_the_clear() {
        let read = |token: &str| {
            let body = format!(r#"{{"issuer":"https://i","token_endpoint":"{token}"}}"#);
            Endpoints::read(body.as_bytes(), 0)
        };
        let endpoints = read("https://i/token").unwrap().unwrap();
        assert!(endpoints.device.is_none() && endpoints.authorization.is_none());
        let error = read("http://i/token").unwrap_err().to_string();
        assert!(error.starts_with("token endpoint http://i: "), "{error}");
        assert!(Endpoints::read(b"{}", 0).unwrap().is_none());
    }
}
