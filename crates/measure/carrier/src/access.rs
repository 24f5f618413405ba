//! Server addresses and the credentials to present. Secrets come from files or the environment,
//! never from arguments, which every user of a machine can read.

use std::path::PathBuf;
use std::time::Duration;

use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions};

use crate::CarrierError;

/// A server and how to log in to it.
#[derive(Clone, Debug)]
pub struct ServerAccess {
    /// `nats://HOST:PORT`, or `tls://HOST:PORT`.
    pub server: String,
    /// Login to the server.
    pub credentials: Credentials,
    /// CA certificates for the server's certificate, if the system does not trust its CA.
    pub authority: Option<PathBuf>,
    /// Name of this connection as shown by the server.
    pub name: String,
}

/// Login to the server.
#[derive(Clone)]
pub enum Credentials {
    /// The server asks for none.
    Anonymous,
    /// User and password.
    User {
        /// The user.
        user: String,
        /// The password.
        password: String,
    },
    /// A file with a JWT and the seed of its `NKey`.
    File(PathBuf),
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Anonymous => "Anonymous",
            Self::User { .. } => "User",
            Self::File(_) => "File",
        })
    }
}

/// Limit on the time to connect.
const CONNECTS_WITHIN: Duration = Duration::from_secs(5);

/// Interval of pings to the server; two unanswered pings end a connection.
const PING: Duration = Duration::from_secs(2);

/// Delay before reconnecting.
const TRIES_AGAIN: Duration = Duration::from_millis(500);

impl ServerAccess {
    pub(crate) async fn connect(&self) -> Result<Client, CarrierError> {
        let mut options = ConnectOptions::new()
            .name(&self.name)
            .connection_timeout(CONNECTS_WITHIN)
            .ping_interval(PING)
            .reconnect_delay_callback(|_| TRIES_AGAIN);
        options = match &self.credentials {
            Credentials::Anonymous => options,
            Credentials::User { user, password } => {
                options.user_and_password(user.clone(), password.clone())
            }
            Credentials::File(path) => {
                options.credentials_file(path).await.map_err(|error| CarrierError::Access {
                    why: format!("cannot use the credentials in {}: {error}", path.display()),
                })?
            }
        };
        if let Some(authority) = &self.authority {
            options = options.add_root_certificates(authority.clone()).require_tls(true);
        }
        let connected = options.connect(self.server.as_str()).await;
        connected.map_err(|error| self.refusal(&error))
    }

    /// Turns a failed connection into an error for the user.
    fn refusal(&self, error: &ConnectError) -> CarrierError {
        let server = &self.server;
        let why = error.to_string();
        match error.kind() {
            ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                CarrierError::Access {
                    why: format!(
                        "the NATS server at {server} refuses these credentials; copy the file \
                         that `plimsoll fleet up` wrote for it"
                    ),
                }
            }
            _ if why.contains("certificate") => CarrierError::Access {
                why: format!(
                    "the certificate of the NATS server at {server} is not to be trusted: {why}; \
                     use the credentials that its `plimsoll fleet up` wrote"
                ),
            },
            _ => CarrierError::Unreachable { server: server.clone(), why },
        }
    }
}
