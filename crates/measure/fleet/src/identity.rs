//! Names that go into message subjects, so they must not hold a dot, a wildcard or a space.

use std::fmt;

use serde::{Deserialize, Serialize};

const LONGEST: usize = 64;

/// The agent on one host. The id is drawn once and stored with the agent, because host names repeat
/// and cloned machines share more than their name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentId(String);

/// One run of a fleet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

/// A text that cannot be part of a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityError {
    text: String,
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is no id: use 1 to {LONGEST} of a-z, 0-9 and hyphen",
            self.text.chars().take(LONGEST + 1).collect::<String>()
        )
    }
}

impl std::error::Error for IdentityError {}

fn checked(text: String) -> Result<String, IdentityError> {
    let is_sound = text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    if is_sound && (1..=LONGEST).contains(&text.len()) {
        Ok(text)
    } else {
        Err(IdentityError { text })
    }
}

macro_rules! identity {
    ($name:ident) => {
        impl $name {
            /// The id as it appears in subjects and records.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdentityError;
            fn try_from(text: String) -> Result<Self, IdentityError> {
                checked(text).map(Self)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

identity!(AgentId);
identity!(RunId);

#[cfg(test)]
mod tests {
    use super::AgentId;

    #[test]
    fn an_id_fits_into_a_subject() {
        for sound in ["a", "0f3c", "ex01-b"] {
            assert!(AgentId::try_from(sound.to_owned()).is_ok(), "{sound}");
        }
        let long = "a".repeat(65);
        for wrong in ["", "EX01", "a.b", "*", ">", "a b", "\u{e4}", long.as_str()] {
            assert!(AgentId::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
