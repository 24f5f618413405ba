//! Proof that an application holds the key of its certificate (RFC 7523).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{KeyPair as _, RSA_PSS_SHA256, RsaKeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use zeroize::Zeroize as _;

use crate::error::SignInError;
use crate::secret::Secret;

/// Validity of an assertion.
const LIFETIME_SECONDS: i64 = 300;

/// The certificate that is registered for the application, with its key.
#[derive(Debug)]
pub struct Credential {
    /// SHA-256 of the certificate, by which the provider finds it.
    thumbprint: String,
    key: RsaKeyPair,
}

impl Credential {
    /// Reads certificate and key from PEM; one text may contain both.
    pub fn from_pem(certificate: &Secret, key: &Secret) -> Result<Self, SignInError> {
        let certificate = CertificateDer::from_pem_slice(certificate.reveal().as_bytes())
            .map_err(|_| SignInError::Credential("no certificate"))?;
        let key = rsa(key)?;
        let public = key.public_key().as_ref();
        let is_pair = certificate.windows(public.len()).any(|part| part == public);
        if !is_pair {
            return Err(SignInError::Credential("the key is of another certificate"));
        }
        let hash = digest(&SHA256, &certificate);
        Ok(Self { thumbprint: URL_SAFE_NO_PAD.encode(hash), key })
    }

    /// Signs an assertion by `client` for the token endpoint `audience`. `now` is in seconds since
    /// 1970; `id` must be unique.
    pub(crate) fn assertion(
        &self,
        client: &str,
        audience: &str,
        id: &str,
        now: i64,
    ) -> Result<Secret, SignInError> {
        let head = json!({ "alg": "PS256", "typ": "JWT", "x5t#S256": self.thumbprint });
        let claims = json!({
            "aud": audience,
            "iss": client,
            "sub": client,
            "jti": id,
            "iat": now,
            "nbf": now,
            "exp": now + LIFETIME_SECONDS,
        });
        let text = format!("{}.{}", part(&head), part(&claims));
        let mut signature = vec![0; self.key.public().modulus_len()];
        self.key
            .sign(&RSA_PSS_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature)
            .map_err(|_| SignInError::Credential("the key does not sign"))?;
        let signature = URL_SAFE_NO_PAD.encode(signature);
        Ok(Secret::new(format!("{text}.{signature}")))
    }
}

fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

fn rsa(pem: &Secret) -> Result<RsaKeyPair, SignInError> {
    let mut der = PrivateKeyDer::from_pem_slice(pem.reveal().as_bytes())
        .map_err(|_| SignInError::Credential("no key that is readable without a password"))?;
    let key = match &der {
        PrivateKeyDer::Pkcs8(der) => RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()),
        PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()),
        _ => return Err(SignInError::Credential("the key is not of RSA")),
    };
    der.zeroize();
    key.map_err(|_| SignInError::Credential("the key is not of RSA, too short or damaged"))
}
