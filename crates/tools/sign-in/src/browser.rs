//! Sign-in with a browser on this machine: authorization code, received on the loopback interface.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

use crate::Surroundings;
use crate::address::Address;
use crate::error::SignInError;
use crate::form;
use crate::pkce::{self, Verifier};
use crate::redirect::{self, Visit};
use crate::secret::Secret;

/// Maximum time for the user to sign in.
const PATIENCE: Duration = Duration::from_mins(10);
const PAUSE: Duration = Duration::from_millis(50);
/// How long a silent browser may keep other connections waiting.
const READ_TIMEOUT: Duration = Duration::from_secs(2);
const LONGEST_REQUEST: usize = 16 << 10;

/// A code, and the verifier which proves that the code was requested here.
pub(crate) struct Redeemable {
    pub(crate) code: Secret,
    pub(crate) verifier: Verifier,
    pub(crate) redirect: String,
}

/// The provider to ask, and the request.
pub(crate) struct BrowserQuestion<'a> {
    pub(crate) authorization: &'a Address,
    pub(crate) issuer: &'a str,
    pub(crate) client: &'a str,
    pub(crate) scope: &'a str,
}

/// Shows the user where to sign in, and waits for the browser to come back.
pub(crate) fn ask(
    question: &BrowserQuestion<'_>,
    world: &mut dyn Surroundings,
) -> Result<Redeemable, SignInError> {
    let listener = listen().map_err(SignInError::Loopback)?;
    let port = listener.local_addr().map_err(SignInError::Loopback)?.port();
    // Microsoft's provider accepts any port with this host name, and no other host name.
    let redirect = format!("http://localhost:{port}/");
    let verifier = Verifier::random()?;
    let state = pkce::nonce()?;
    let query = form::encode(&[
        ("client_id", question.client),
        ("response_type", "code"),
        ("redirect_uri", &redirect),
        ("response_mode", "query"),
        ("scope", question.scope),
        ("state", &state),
        ("code_challenge", &verifier.challenge()),
        ("code_challenge_method", "S256"),
    ]);
    let address = question.authorization.uri();
    let joint = if address.query().is_some() { '&' } else { '?' };
    world.tell("Open this address in a browser on this machine and sign in:");
    world.tell(&format!("{address}{joint}{}", *query));
    let code = wait(&listener, &state, question.issuer, world)?;
    Ok(Redeemable { code, verifier, redirect })
}

fn listen() -> io::Result<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn wait(
    listener: &TcpListener,
    state: &str,
    issuer: &str,
    world: &mut dyn Surroundings,
) -> Result<Secret, SignInError> {
    let end = world.elapsed() + PATIENCE;
    while world.elapsed() < end {
        let Ok((mut stream, _)) = listener.accept() else {
            world.wait(PAUSE);
            continue;
        };
        // A browser may connect in advance without sending anything, or disconnect.
        let request = request(&mut stream).unwrap_or_default();
        let visit = redirect::read(&request, state, issuer);
        // The page in the browser is a courtesy: the code has already been read.
        let _ = respond(&mut stream, &visit);
        match visit {
            Visit::Code(code) => return Ok(code),
            Visit::Refused(refusal) => {
                let what = "the sign-in";
                return Err(SignInError::Refused { what, refusal });
            }
            Visit::Other => {}
        }
    }
    Err(SignInError::TooLate)
}

/// Reads the head of a request, or as much of it as arrives.
fn request(stream: &mut TcpStream) -> io::Result<zeroize::Zeroizing<String>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    let mut bytes = zeroize::Zeroizing::new(Vec::new());
    let mut part = [0; 1024];
    while bytes.len() < LONGEST_REQUEST && !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
        let length = stream.read(&mut part)?;
        if length == 0 {
            break;
        }
        bytes.extend_from_slice(&part[..length]);
    }
    Ok(zeroize::Zeroizing::new(String::from_utf8_lossy(&bytes).into_owned()))
}

fn respond(stream: &mut TcpStream, visit: &Visit) -> io::Result<()> {
    let (status, words) = match visit {
        Visit::Code(_) => ("200 OK", "Signed in. You may close this page."),
        Visit::Refused(_) => ("200 OK", "Not signed in. You may close this page."),
        Visit::Other => ("404 Not Found", "Nothing is here."),
    };
    let length = words.len();
    stream.set_write_timeout(Some(READ_TIMEOUT))?;
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\
         Referrer-Policy: no-referrer\r\nCache-Control: no-store\r\n\
         Connection: close\r\n\r\n{words}"
    )
}
