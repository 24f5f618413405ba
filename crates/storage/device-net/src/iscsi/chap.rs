//! CHAP with MD5 (RFC 1994, RFC 7143 section 12.1): proves knowledge of the secret without
//! revealing it.

use std::fmt;

use md5::{Digest as _, Md5};

/// Minimum length of a secret in characters; for less than 96 bits RFC 7143 requires an encrypted
/// network.
const SHORTEST: usize = 12;
/// Maximum length of a secret in characters, the limit of Microsoft's initiator.
const LONGEST: usize = 16;

/// A secret that every initiator accepts.
#[derive(Clone, PartialEq, Eq)]
pub struct ChapSecret(String);

/// Why a text is not accepted as a secret. Does not repeat the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretError {
    /// Number of characters, which is too small or too large.
    Length(usize),
    /// It contains a character that targets and initiators interpret differently.
    Character,
    /// Both sides use the same secret, so that an answer could be reflected.
    Same,
}

/// The initiator's credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChapLogin {
    /// The account on the target.
    pub user: String,
    /// Its secret.
    pub secret: ChapSecret,
    /// The secret whose knowledge the target must prove, if it must authenticate itself.
    pub target_secret: Option<ChapSecret>,
}

impl ChapSecret {
    /// A secret of 12 to 16 printable characters without spaces and quotes.
    pub fn new(text: &str) -> Result<Self, SecretError> {
        let count = text.chars().count();
        if !(SHORTEST..=LONGEST).contains(&count) {
            return Err(SecretError::Length(count));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"'`".contains(&byte)) {
            return Err(SecretError::Character);
        }
        Ok(Self(text.to_owned()))
    }

    /// The response that proves knowledge of the secret.
    pub fn answer(&self, identifier: u8, challenge: &[u8]) -> [u8; 16] {
        let mut hash = Md5::new();
        hash.update([identifier]);
        hash.update(self.0.as_bytes());
        hash.update(challenge);
        hash.finalize().into()
    }
}

impl ChapLogin {
    /// A CHAP login; mutual if a secret of the target is given.
    pub fn new(
        user: &str,
        secret: ChapSecret,
        target_secret: Option<ChapSecret>,
    ) -> Result<Self, SecretError> {
        if target_secret.as_ref() == Some(&secret) {
            return Err(SecretError::Same);
        }
        Ok(Self { user: user.to_owned(), secret, target_secret })
    }

    /// The same login without requiring a proof from the target.
    #[must_use]
    pub fn one_way(self) -> Self {
        Self { target_secret: None, ..self }
    }
}

impl fmt::Debug for ChapSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChapSecret")
    }
}

impl fmt::Display for SecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(count) => write!(
                f,
                "a secret of CHAP has {SHORTEST} to {LONGEST} characters, and this one has \
                 {count}; give target and initiator another one"
            ),
            Self::Character => write!(
                f,
                "a secret of CHAP has letters, digits and signs of ASCII, without spaces and \
                 quotes; give target and initiator another one"
            ),
            Self::Same => write!(
                f,
                "the secrets of initiator and target are the same, which proves nothing; give one \
                 of them another one"
            ),
        }
    }
}

impl std::error::Error for SecretError {}

#[cfg(test)]
mod tests {
    use super::{ChapLogin, ChapSecret, SecretError};

    #[test]
    fn secrets_have_12_to_16_plain_characters() {
        for (text, error) in [
            ("12345678901", Some(SecretError::Length(11))),
            ("123456789012", None),
            ("1234567890123456", None),
            ("12345678901234567", Some(SecretError::Length(17))),
            ("with a space", Some(SecretError::Character)),
            ("with'a'quote", Some(SecretError::Character)),
            ("\u{fc}ml\u{e4}ut\u{fc}ml\u{e4}ut", Some(SecretError::Character)),
        ] {
            assert_eq!(ChapSecret::new(text).err(), error, "{text}");
        }
        let secret = || ChapSecret::new("123456789012").unwrap();
        assert_eq!(ChapLogin::new("me", secret(), Some(secret())), Err(SecretError::Same));
        assert!(!format!("{:?}", secret()).contains("1234"));
    }

    /// MD5 of identifier, secret and challenge, calculated with `md5sum`.
    #[test]
    fn answers_are_those_of_rfc_1994() {
        let answer = ChapSecret::new("123456789012").unwrap().answer(b'a', b"xyz");
        let known = 0x6dad_9d19_710b_e7eb_986c_023e_976e_f6a5_u128;
        assert_eq!(u128::from_be_bytes(answer), known);
    }
}
