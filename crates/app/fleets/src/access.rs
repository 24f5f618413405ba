//! Files with the access data of a fleet's server. They contain a password, so only their owner may
//! read them.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use carrier::{Credentials, ServerAccess};
use serde_json::{Value, json};

use console::documents;
use console::error::CommandError;
use host::system;

const USER: &str = "PLIMSOLL_NATS_USER";
const PASSWORD: &str = "PLIMSOLL_NATS_PASSWORD";

/// URL schemes of NATS server addresses.
const SCHEMES: [&str; 4] = ["nats", "tls", "ws", "wss"];

/// Random bytes in the name of a certificate's file.
const AUTHORITY_NAME_BYTES: usize = 8;

/// Path of the controllers' credentials file in a server's folder.
pub(super) fn controller_file(state: &Path) -> PathBuf {
    state.join("controller.json")
}

/// Path of the agents' credentials file in a server's folder.
pub(super) fn agent_file(state: &Path) -> PathBuf {
    state.join("agent.json")
}

/// Contents of a credentials file.
pub(super) struct CredentialsFile<'a> {
    pub(super) server: &'a str,
    pub(super) user: &'a str,
    pub(super) password: &'a str,
    /// The authority's certificate itself, PEM.
    pub(super) authority: Option<&'a str>,
}

/// Writes a credentials file that only its owner can read.
pub(super) fn write(path: &Path, written: &CredentialsFile<'_>) -> Result<(), CommandError> {
    let wrong = CommandError::of_file(path, "write");
    let text = json!({
        "server": written.server,
        "user": written.user,
        "password": written.password,
        "authority": written.authority,
    });
    let mut file = system::create_private(path).map_err(wrong)?;
    io::Write::write_all(&mut file, format!("{text:#}\n").as_bytes()).map_err(wrong)
}

/// Returns the access data for the named server, or for the one in a credentials file.
pub fn access(
    server: Option<&str>,
    credentials: Option<&Path>,
    name: &str,
) -> Result<ServerAccess, CommandError> {
    server.map_or(Ok(()), refuse_other_scheme)?;
    let Some(path) = credentials else {
        let server = server.ok_or_else(|| {
            CommandError::usage("which server? give --join nats://HOST:PORT or --credentials FILE")
        })?;
        return Ok(ServerAccess {
            server: server.to_owned(),
            credentials: from_environment(),
            authority: None,
            name: name.to_owned(),
        });
    };
    if !path.exists() {
        return Err(CommandError::new(format!(
            "{}: no such file; `plimsoll fleet up` makes it, or name a server with --server",
            path.display()
        )));
    }
    refuse_public(path)?;
    let (_, text) = documents::read_text(path)?;
    if text.contains("BEGIN NATS USER JWT") {
        let server = server.ok_or_else(|| CommandError::usage("a .creds file needs the server"))?;
        return Ok(ServerAccess {
            server: server.to_owned(),
            credentials: Credentials::File(path.to_path_buf()),
            authority: None,
            name: name.to_owned(),
        });
    }
    of_file(path, &text, server, name)
}

fn refuse_other_scheme(server: &str) -> Result<(), CommandError> {
    match server.split_once("://") {
        Some((scheme, _)) if !SCHEMES.contains(&scheme) => Err(CommandError::usage(format!(
            "{server}: a NATS server has no address of {scheme}://; write nats://HOST:PORT, or \
             tls://HOST:PORT if it has a certificate"
        ))),
        _ => Ok(()),
    }
}

fn of_file(
    path: &Path,
    text: &str,
    server: Option<&str>,
    name: &str,
) -> Result<ServerAccess, CommandError> {
    let value: Value =
        serde_json::from_str(text).map_err(|_| foreign(path, "it holds no credentials"))?;
    let own = member(&value, "server").ok_or_else(|| foreign(path, "it names no server"))?;
    let authority =
        member(&value, "authority").map(|pem| keep_authority(path, &pem)).transpose()?;
    let credentials = match (member(&value, "user"), member(&value, "password")) {
        (Some(user), Some(password)) => Credentials::User { user, password },
        _ => return Err(foreign(path, "user or password is missing")),
    };
    let server = server.map_or(own, str::to_owned);
    Ok(ServerAccess { server, credentials, authority, name: name.to_owned() })
}

fn member(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn foreign(path: &Path, what: &str) -> CommandError {
    CommandError::new(format!(
        "{}: {what}; copy the file that `plimsoll fleet up` wrote",
        path.display()
    ))
}

/// Random bytes as hexadecimal digits: passwords and ids.
pub fn random_digits(bytes: usize) -> Result<String, CommandError> {
    let mut drawn = vec![0; bytes];
    getrandom::fill(&mut drawn)
        .map_err(|error| CommandError::new(format!("the system gives no random bytes: {error}")))?;
    let mut digits = String::new();
    for byte in drawn {
        let _ = write!(digits, "{byte:02x}");
    }
    Ok(digits)
}

/// Writes the authority's certificate to a separate file, which the client reads at every
/// reconnection. It is next to the credentials, or in a private temporary file if that folder is
/// read-only.
fn keep_authority(path: &Path, pem: &str) -> Result<PathBuf, CommandError> {
    let kept = path.with_extension("ca.pem");
    let is_kept = std::fs::read_to_string(&kept).is_ok_and(|text| text == pem);
    if is_kept || std::fs::write(&kept, pem).is_ok() {
        return Ok(kept);
    }
    let name = format!("plimsoll-{}.ca.pem", random_digits(AUTHORITY_NAME_BYTES)?);
    let kept = std::env::temp_dir().join(name);
    let wrong = CommandError::of_file(&kept, "write");
    let mut file = system::create_private(&kept).map_err(wrong)?;
    io::Write::write_all(&mut file, pem.as_bytes()).map_err(wrong)?;
    Ok(kept)
}

fn from_environment() -> Credentials {
    match (std::env::var(USER), std::env::var(PASSWORD)) {
        (Ok(user), Ok(password)) => Credentials::User { user, password },
        _ => Credentials::Anonymous,
    }
}

fn refuse_public(path: &Path) -> Result<(), CommandError> {
    let is_private =
        system::is_private(path).map_err(|error| CommandError::file(path, "examine", &error))?;
    if is_private {
        return Ok(());
    }
    Err(CommandError::new(format!(
        "{}: others can read it, and it holds a password; chmod 600 it",
        path.display()
    )))
}
