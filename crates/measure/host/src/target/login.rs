//! Logins to iSCSI targets. Secrets come from the environment or from the user: anything on a
//! command line or in a plan can be read by others.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::fs;
use std::io;
use std::sync::{Mutex, OnceLock, PoisonError};

use device_net::{ChapLogin, ChapSecret, IscsiInitiator, IscsiPortal, SecretError};

use crate::system;

/// The secret of the account in an address.
const SECRET: &str = "PLIMSOLL_CHAP_SECRET";
/// The secret with which the target authenticates itself, if it must.
const TARGET_SECRET: &str = "PLIMSOLL_CHAP_TARGET_SECRET";
/// Name that the initiator sends.
const NAME: &str = "PLIMSOLL_INITIATOR_NAME";

/// File in which open-iscsi keeps the system's own initiator name.
const NAME_FILE: &str = "/etc/iscsi/initiatorname.iscsi";

/// Secrets entered for accounts, so that each is requested once.
static ENTERED: Mutex<BTreeMap<(IscsiPortal, String), ChapLogin>> = Mutex::new(BTreeMap::new());

/// Asks the user for a secret, if there is a terminal.
static ASK: OnceLock<SecretPrompt> = OnceLock::new();

/// Prompts the user for a secret, with this text.
pub(crate) type SecretPrompt = fn(&str) -> io::Result<String>;

/// Sets `ask` as the prompt for secrets missing from the environment; without it such logins fail.
/// Only the first call counts.
pub fn ask_for_secrets(ask: SecretPrompt) {
    let _ = ASK.set(ask);
}

/// Why no login is possible.
#[derive(Debug)]
pub enum LoginError {
    /// No secret was given, and there is no user to ask.
    NoSecret {
        /// The account.
        user: String,
    },
    /// Reading it from the terminal failed.
    Unread(io::Error),
    /// An invalid secret.
    Secret {
        /// Its origin: a variable, or the user.
        place: &'static str,
        /// Its defect.
        error: SecretError,
    },
    /// Not a valid initiator name.
    Name(String),
}

impl fmt::Display for LoginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSecret { user } => write!(
                f,
                "the secret of {user} is not known; put it into the environment as {SECRET}, or \
                 start in a terminal, where it is asked for"
            ),
            Self::Unread(error) => {
                write!(f, "no secret was read: {error}; put it into the environment as {SECRET}")
            }
            Self::Secret { place, error } => write!(f, "{place}: {error}"),
            Self::Name(name) => write!(
                f,
                "{NAME}: {name} is no name of an initiator; give one that begins with iqn., eui. \
                 or naa., as the target lets it in"
            ),
        }
    }
}

impl std::error::Error for LoginError {}

/// Returns the initiator for a portal, as `user` if the address names an account.
pub(crate) fn initiator(
    portal: &IscsiPortal,
    user: Option<&str>,
) -> Result<IscsiInitiator, LoginError> {
    let chap = user.map(|user| chap(portal, user)).transpose()?;
    Ok(IscsiInitiator { name: initiator_name()?, chap })
}

/// Returns the given name, this system's, or one derived from the host's.
fn initiator_name() -> Result<String, LoginError> {
    if let Ok(name) = env::var(NAME) {
        let is_name = ["iqn.", "eui.", "naa."].iter().any(|begin| name.starts_with(begin));
        return if is_name {
            Ok(name)
        } else {
            Err(LoginError::Name(units::plain(&name).into_owned()))
        };
    }
    let file = fs::read_to_string(NAME_FILE).unwrap_or_default();
    let of_system = file.lines().find_map(|line| line.strip_prefix("InitiatorName="));
    Ok(of_system.map_or_else(
        || format!("iqn.2026-11.example.plimsoll:{}", host()),
        |name| name.trim().to_owned(),
    ))
}

/// Returns the name of this machine, in characters valid in initiator names.
fn host() -> String {
    let mut name = system::machine(String::new()).name.to_lowercase();
    name.retain(|letter| letter.is_ascii_alphanumeric() || ".-".contains(letter));
    name
}

/// The login of `user`, with secrets from the environment, else from the user, once per account.
fn chap(portal: &IscsiPortal, user: &str) -> Result<ChapLogin, LoginError> {
    if let Ok(text) = env::var(SECRET) {
        let target = env::var(TARGET_SECRET).ok();
        return login(user, (&text, SECRET), target.as_deref().map(|text| (text, TARGET_SECRET)));
    }
    let mut entered = ENTERED.lock().unwrap_or_else(PoisonError::into_inner);
    let account = (portal.clone(), user.to_owned());
    if let Some(known) = entered.get(&account) {
        return Ok(known.clone());
    }
    let Some(ask) = ASK.get() else {
        return Err(LoginError::NoSecret { user: user.to_owned() });
    };
    let [secret, target] = [
        format!("Secret of {} at {}: ", units::plain(user), portal),
        "Secret of the target, empty where it has none: ".to_owned(),
    ]
    .map(|prompt| ask(&prompt).map_err(LoginError::Unread));
    let (secret, target) = (secret?, target?);
    let target = (!target.is_empty()).then_some((target.as_str(), "what was entered"));
    let login = login(user, (&secret, "what was entered"), target)?;
    entered.insert(account, login.clone());
    Ok(login)
}

/// Builds a login from secrets, each with its origin.
fn login(
    user: &str,
    (secret, place): (&str, &'static str),
    target: Option<(&str, &'static str)>,
) -> Result<ChapLogin, LoginError> {
    let secret = ChapSecret::new(secret).map_err(|error| LoginError::Secret { place, error })?;
    let target = target
        .map(|(text, place)| {
            ChapSecret::new(text).map_err(|error| LoginError::Secret { place, error })
        })
        .transpose()?;
    ChapLogin::new(user, secret, target).map_err(|error| LoginError::Secret { place, error })
}

#[cfg(test)]
mod tests {
    use super::{SECRET, TARGET_SECRET, login};

    #[test]
    fn secrets_are_refused_by_their_place_and_never_repeated() {
        let told = |secret: &str, target: Option<&str>| {
            let target = target.map(|text| (text, TARGET_SECRET));
            login("me", (secret, SECRET), target).map_err(|error| error.to_string())
        };
        assert!(told("123456789012", None).is_ok());
        assert!(told("123456789012", Some("1234567890123456")).is_ok());
        for (secret, target, place) in [
            ("12345678901", None, SECRET),
            ("12345678901234567", None, SECRET),
            ("123456789012", Some("12345678901"), TARGET_SECRET),
            ("123456789012", Some("123456789012"), SECRET),
        ] {
            let refusal = told(secret, target).unwrap_err();
            assert!(refusal.starts_with(place), "{refusal}");
            assert!(!refusal.contains(secret), "{refusal}");
        }
    }
}
