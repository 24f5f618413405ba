//! Sign-in with a browser on any machine: a code to type (RFC 8628).

use std::time::Duration;

use serde::Deserialize;

use crate::Surroundings;
use crate::address::Address;
use crate::error::SignInError;
use crate::grant::OAuthRefusal;
use crate::poll::{Poll, USUAL_INTERVAL};
use crate::secret::Secret;
use crate::web::Reply;

/// The provider's answer.
#[derive(Deserialize)]
struct DeviceWire {
    device_code: Secret,
    user_code: String,
    verification_uri: String,
    expires_in: u64,
    interval: Option<u64>,
}

/// The code to show to the user, and the secret code to poll with.
pub(crate) struct DeviceCode {
    pub(crate) secret: Secret,
    user_code: String,
    verification_uri: String,
    pub(crate) poll: Poll,
}

impl DeviceCode {
    /// Parses the response of the endpoint `device`, received at `now`.
    pub(crate) fn read(
        device: &Address,
        reply: &Reply,
        now: Duration,
    ) -> Result<Self, SignInError> {
        if let Some(refusal) = OAuthRefusal::read(&reply.body) {
            let what = "the device code";
            return Err(SignInError::Refused { what, refusal });
        }
        let wire = Self::wire(&reply.body).ok_or_else(|| SignInError::Answer {
            place: device.origin(),
            what: "the device code",
            problem: format!("HTTP {} and no code", reply.status),
        })?;
        let interval = wire.interval.map_or(USUAL_INTERVAL, Duration::from_secs);
        let lifetime = Duration::from_secs(wire.expires_in);
        Ok(Self {
            secret: wire.device_code,
            user_code: wire.user_code,
            verification_uri: wire.verification_uri,
            poll: Poll::new(interval, now.saturating_add(lifetime)),
        })
    }

    fn wire(body: &[u8]) -> Option<DeviceWire> {
        serde_json::from_slice(body).ok()
    }

    /// Shows the user where to enter the code.
    pub(crate) fn tell(&self, world: &mut dyn Surroundings) {
        let Self { user_code, verification_uri, .. } = self;
        world.tell(&format!(
            "Open {verification_uri} in any browser, type the code {user_code} and sign in. Give \
             the code to no one."
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::DeviceCode;

    #[test]
    fn a_code_is_read_as_the_rfc_shows_it() {
        let wire = |body: &str| DeviceCode::wire(body.as_bytes());
        let body = r#"{"device_code":"GmRh","user_code":"WDJB-MJHT","expires_in":1800,
            "verification_uri":"https://example.com/device","interval":5}"#;
        let code = wire(body).unwrap();
        assert_eq!((code.expires_in, code.interval), (1800, Some(5)));
        assert!(wire(&body.replace(r#","interval":5"#, "")).unwrap().interval.is_none());
        assert!(wire(&body.replace("device_code", "code")).is_none());
    }
}
