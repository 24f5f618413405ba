//! Proof that a code is redeemed by the application that requested it (RFC 7636).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::error::SignInError;
use crate::secret::Secret;

/// An unguessable text: 256 random bits in a URL-safe encoding.
pub(crate) fn nonce() -> Result<String, SignInError> {
    let mut bytes = [0; 32];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| SignInError::NoRandomness)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// The secret that is revealed only when the code is redeemed.
pub(crate) struct Verifier(pub(crate) Secret);

impl Verifier {
    pub(crate) fn random() -> Result<Self, SignInError> {
        Ok(Self(Secret::new(nonce()?)))
    }

    /// The challenge in the first request: it reveals nothing about the verifier.
    pub(crate) fn challenge(&self) -> String {
        let hash = digest(&SHA256, self.0.reveal().as_bytes());
        URL_SAFE_NO_PAD.encode(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::Verifier;
    use crate::secret::Secret;

    #[test]
    fn the_challenge_is_that_of_the_appendix_of_the_rfc() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let verifier = Verifier(Secret::new(verifier.to_owned()));
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert_eq!(verifier.challenge(), challenge);
    }

    #[test]
    fn a_verifier_has_the_length_and_the_letters_that_the_rfc_asks_for() {
        let one = Verifier::random().unwrap().0;
        let two = Verifier::random().unwrap().0;
        assert!((43..=128).contains(&one.reveal().len()));
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "-._~".contains(letter);
        assert!(one.reveal().chars().all(is_allowed));
        assert_ne!(one, two);
    }
}
