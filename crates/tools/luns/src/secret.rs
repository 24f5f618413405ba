//! CHAP secrets: rules, generation, and the file that keeps them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Random bytes for a secret.
pub const SECRET_BYTES: usize = 16;

/// Minimum and maximum number of characters; the Windows initiator accepts no other length.
const LENGTHS: std::ops::RangeInclusive<usize> = 12..=16;
/// 64 characters, so that 16 of them hold the 96 random bits that RFC 7143 asks for; none is
/// special to a shell.
const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._";

/// The file with secrets next to the state; only its owner may read it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretFile {
    /// Description of the file, for people who come across it.
    #[serde(default)]
    pub kind: String,
    /// The key of the state's seal, 64 hexadecimal digits.
    #[serde(default)]
    pub seal_key: String,
    /// The secrets of each initiator.
    #[serde(default)]
    pub initiators: Vec<InitiatorSecrets>,
}

/// The secrets of an initiator.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InitiatorSecrets {
    /// The initiator's display name.
    pub initiator: String,
    /// Secret with which the initiator authenticates.
    pub secret: String,
    /// Secret with which the target authenticates; empty if the initiator asks for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target_secret: String,
}

/// Keeps secrets out of every message.
impl fmt::Debug for SecretFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretFile of {} initiators", self.initiators.len())
    }
}

impl fmt::Debug for InitiatorSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "secrets of {}", self.initiator)
    }
}

/// The defect of a secret; never the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretFault {
    /// Too short or too long.
    Length {
        /// The owner of the secret.
        initiator: String,
        /// Number of characters.
        found: usize,
    },
    /// The secret contains blanks, quotes, or characters outside printable ASCII.
    Signs {
        /// The owner of the secret.
        initiator: String,
    },
    /// Two secrets are equal: an attacker who learns one could impersonate the other owner.
    Repeated {
        /// The owner of the secret.
        initiator: String,
        /// Another owner of the same secret.
        other: String,
    },
}

impl fmt::Display for SecretFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { initiator, found } => write!(
                f,
                "the secret of {initiator} has {found} characters; give 12 to 16, as the initiator \
                 of Windows wants, or remove it, and one is made"
            ),
            Self::Signs { initiator } => write!(
                f,
                "the secret of {initiator} holds a blank, a quote or a character outside of ASCII; \
                 give letters and digits, or remove it, and one is made"
            ),
            Self::Repeated { initiator, other } => write!(
                f,
                "the secret of {initiator} is that of {other} too, so that one could pass for the \
                 other; give each its own, and each direction its own"
            ),
        }
    }
}

impl std::error::Error for SecretFault {}

impl SecretFile {
    /// The secrets of an initiator.
    pub fn of(&self, initiator: &str) -> Option<&InitiatorSecrets> {
        self.initiators.iter().find(|one| one.initiator == initiator)
    }

    /// Returns the first problem with any secret. Empty secrets are not set yet, and pass.
    pub fn check(&self) -> Result<(), SecretFault> {
        let mut seen: Vec<(String, &str)> = Vec::new();
        for one in &self.initiators {
            let names = [one.initiator.clone(), format!("the target for {}", one.initiator)];
            for (name, secret) in names.into_iter().zip([&one.secret, &one.target_secret]) {
                if secret.is_empty() {
                    continue;
                }
                check(&name, secret)?;
                if let Some((other, _)) = seen.iter().find(|(_, known)| known == secret) {
                    let other = other.clone();
                    return Err(SecretFault::Repeated { initiator: name, other });
                }
                seen.push((name, secret));
            }
        }
        Ok(())
    }
}

fn check(initiator: &str, secret: &str) -> Result<(), SecretFault> {
    let initiator = initiator.to_owned();
    let found = secret.chars().count();
    if !secret.chars().all(|sign| sign.is_ascii_graphic() && !"'\"`".contains(sign)) {
        return Err(SecretFault::Signs { initiator });
    }
    if !LENGTHS.contains(&found) {
        return Err(SecretFault::Length { initiator, found });
    }
    Ok(())
}

/// A secret made of random bytes; each byte gives six bits.
pub fn made_secret(random: &[u8; SECRET_BYTES]) -> String {
    random.iter().map(|byte| char::from(SIGNS[usize::from(byte % 64)])).collect()
}
