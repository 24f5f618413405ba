//! `profile --sign-in`: the two usage reports of Microsoft 365, fetched instead of downloaded.

use std::env;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use sign_in::{Credential, Secret, SignIn, Surroundings, UsageReports, Way};

use crate::profile::flags::{SignInFlags, SignInWay};
use console::documents;
use console::error::CommandError;

/// Variable with the certificate's key, if that is not in its file.
const KEY_VARIABLE: &str = "PLIMSOLL_CERTIFICATE_KEY";

/// The clock of this machine, and its user.
struct Here {
    start: Instant,
}

impl Surroundings for Here {
    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn unix_seconds(&self) -> i64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs().cast_signed())
    }

    fn wait(&mut self, duration: Duration) {
        thread::sleep(duration);
    }

    /// Printed even with --quiet: without it the user cannot sign in.
    fn tell(&mut self, line: &str) {
        console::say(&line);
    }
}

/// Signs in as `flags` request; `None` if they do not.
pub(super) fn fetch(flags: &SignInFlags) -> Result<Option<UsageReports>, CommandError> {
    let Some(way) = flags.sign_in else {
        return Ok(None);
    };
    let sign_in = SignIn {
        way: self::way(way, flags)?,
        client: flags.client.clone().ok_or_else(no_client)?,
        authority: authority(flags)?,
        graph: flags.graph.clone(),
        days: flags.days.into(),
    };
    let start = Instant::now();
    Ok(Some(sign_in::fetch(&sign_in, &mut Here { start })?))
}

fn no_client() -> CommandError {
    CommandError::new(
        "--sign-in needs --client ID: register an application with your tenant, give it the \
         permission Reports.Read.All and take its application id",
    )
}

/// Names and ids of tenants go into an address unescaped.
fn authority(flags: &SignInFlags) -> Result<String, CommandError> {
    if let Some(authority) = &flags.authority {
        return Ok(authority.clone());
    }
    let tenant = flags.tenant.as_deref().unwrap_or("organizations");
    if tenant.is_empty() || tenant.contains(|letter| !is_of_name(letter)) {
        return Err(CommandError::new(format!(
            "--tenant {tenant}: is no name or id of a tenant; give one such as contoso.com"
        )));
    }
    Ok(format!("https://login.microsoftonline.com/{tenant}/v2.0"))
}

const fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '.' || letter == '-'
}

fn way(way: SignInWay, flags: &SignInFlags) -> Result<Way, CommandError> {
    Ok(match way {
        SignInWay::Browser => Way::Browser,
        SignInWay::Device => Way::Device,
        SignInWay::Certificate => Way::Certificate(Box::new(credential(flags)?)),
    })
}

fn credential(flags: &SignInFlags) -> Result<Credential, CommandError> {
    let path = flags.certificate.as_ref().ok_or_else(|| {
        CommandError::new(format!(
            "--sign-in certificate needs --certificate FILE in PEM; its key stands in the same \
             file or in the environment variable {KEY_VARIABLE}"
        ))
    })?;
    let (_, text) = documents::read_text(path)?;
    let text = Secret::new(text);
    let key = env::var(KEY_VARIABLE).map_or_else(|_| text.clone(), Secret::new);
    Ok(Credential::from_pem(&text, &key)?)
}
