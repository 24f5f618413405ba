//! Opens a session on a portal: connection, login, and redirection to another portal if the target
//! has moved.

use super::address::IscsiPortal;
use super::error::IscsiError;
use super::login::{IscsiInitiator, LoggedIn, LoginEnd, LoginOrder, log_in};
use super::nonce::SessionNonce;
use crate::transport::WireStream;

/// Maximum number of redirections; more are assumed to be a cycle.
const MOST_MOVES: usize = 3;

/// Logs in to `target`, or to a discovery session if it is `None`; `name` is used in errors.
pub(crate) fn open(
    portal: &IscsiPortal,
    target: Option<&str>,
    name: &str,
    initiator: &IscsiInitiator,
) -> Result<(WireStream, LoggedIn), IscsiError> {
    let mut portal = portal.clone();
    for _ in 0..=MOST_MOVES {
        let mut stream = WireStream::tcp(&portal.host, portal.port)
            .map_err(|error| IscsiError::broken(name, error))?;
        let nonce = SessionNonce::draw().map_err(|error| IscsiError::broken(name, error))?;
        let order = LoginOrder { name, initiator, target, nonce };
        match log_in(&mut stream, &order)? {
            LoginEnd::Done(login) => return Ok((stream, login)),
            LoginEnd::Moved(to) => portal = to,
        }
    }
    Err(IscsiError::NotIscsi {
        name: name.to_owned(),
        why: "its portals send on to one another".to_owned(),
    })
}
