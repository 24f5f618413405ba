//! A provider's endpoints, as it publishes them (`OpenID` Connect Discovery).

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
    /// Seconds by which the provider's clock is ahead of this machine's.
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
    /// Reads the endpoints from the provider at `authority`; `now` is in seconds since 1970.
    pub(crate) fn discover(web: &Web, authority: &str, now: i64) -> Result<Self, SignInError> {
        let authority = authority.trim_end_matches('/');
        let place = format!("{authority}/.well-known/openid-configuration");
        let place = Address::parse("authority", &place)?;
        let reply = web.get(&place, None)?;
        let problem = if reply.is_success() {
            let skew_seconds = reply.date.map_or(0, |date| date - now);
            if let Some(endpoints) = Self::read(&reply.body, skew_seconds)? {
                return Ok(endpoints);
            }
            "no issuer or no token endpoint".to_owned()
        } else {
            format!("HTTP {}", reply.status)
        };
        let what = "the description of the provider";
        Err(SignInError::Answer { place: place.origin(), what, problem })
    }

    fn read(body: &[u8], skew_seconds: i64) -> Result<Option<Self>, SignInError> {
        let Ok(wire) = serde_json::from_slice::<EndpointsWire>(body) else {
            return Ok(None);
        };
        let authorization = wire.authorization_endpoint.as_deref();
        let device = wire.device_authorization_endpoint.as_deref();
        Ok(Some(Self {
            token: Address::parse("token endpoint", &wire.token_endpoint)?,
            authorization: authorization
                .map(|text| Address::parse("authorization endpoint", text))
                .transpose()?,
            device: device.map(|text| Address::parse("device endpoint", text)).transpose()?,
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
