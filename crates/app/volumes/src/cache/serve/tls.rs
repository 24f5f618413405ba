//! Encryption of connections from other machines. Both ends show certificates, since any client
//! that reaches a volume can change it.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::io::{self, IoSlice, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll};

use export::{Wire, WireError};
use plan::CacheTls;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};

use super::client::SocketWire;
use console::error::CommandError;

/// Reads the certificate, its key, and the authority whose clients are accepted.
pub(super) fn config(files: &CacheTls) -> Result<Arc<ServerConfig>, CommandError> {
    let CacheTls { certificate, key, client_ca } = files;
    let mut roots = RootCertStore::empty();
    for authority in certificates(client_ca)? {
        roots.add(authority).map_err(|error| unusable(client_ca, &error))?;
    }
    let provider = Arc::new(ring::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .map_err(|error| unusable(client_ca, &error))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable(key, &error))?;
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(certificate, &error))?
        .with_client_cert_verifier(verifier)
        .with_single_cert(certificates(certificate)?, secret)
        .map_err(|error| unusable(certificate, &error))?;
    Ok(Arc::new(config))
}

fn certificates(file: &str) -> Result<Vec<CertificateDer<'static>>, CommandError> {
    let read = CertificateDer::pem_file_iter(Path::new(file))
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unusable(file, &error))?;
    if read.is_empty() {
        return Err(unusable(file, &"it holds no certificate"));
    }
    Ok(read)
}

fn unusable(file: &str, error: &dyn Display) -> CommandError {
    CommandError::new(format!("{file}: cannot be used for TLS: {error}; give a PEM file"))
}

/// A connection that is encrypted as soon as the client asks for it.
pub(super) struct TlsWire {
    inner: SocketWire,
    config: Arc<ServerConfig>,
    session: RefCell<Option<ServerConnection>>,
    /// `true` once the handshake is done and its last message sent.
    is_agreed: Cell<bool>,
    /// Bytes of the last call that are encrypted and not yet sent.
    unsent: Cell<usize>,
}

/// The socket as rustls uses it: an operation that would block fails with `WouldBlock`.
struct Plain<'a, 'b> {
    wire: &'a SocketWire,
    context: &'a mut Context<'b>,
}

fn at_once(moved: Poll<Result<usize, WireError>>) -> io::Result<usize> {
    match moved {
        Poll::Ready(moved) => moved.map_err(io::Error::other),
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}

impl Read for Plain<'_, '_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        at_once(self.wire.poll_receive(self.context, room))
    }
}

impl Write for Plain<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        at_once(self.wire.poll_send(self.context, &[IoSlice::new(bytes)]))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TlsWire {
    /// Creates a connection that is still unencrypted.
    pub(super) fn new(inner: SocketWire, config: &Arc<ServerConfig>) -> Self {
        Self {
            inner,
            config: Arc::clone(config),
            session: RefCell::default(),
            is_agreed: Cell::new(false),
            unsent: Cell::new(0),
        }
    }
}

/// Describes a failed handshake or stream, for people.
fn broken(error: impl Display) -> WireError {
    WireError(format!("TLS: {error}"))
}

/// Sends the session's encrypted data; `false` if the socket accepts no more now.
fn flush(session: &mut ServerConnection, plain: &mut Plain<'_, '_>) -> Result<bool, WireError> {
    while session.wants_write() {
        match session.write_tls(plain) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(broken(error)),
        }
    }
    Ok(true)
}

/// Receives encrypted bytes; `None` if none have arrived yet, 0 at the end of the stream.
fn fetch(
    session: &mut ServerConnection,
    plain: &mut Plain<'_, '_>,
) -> Result<Option<usize>, WireError> {
    match session.read_tls(plain) {
        Ok(bytes) => {
            let processed = session.process_new_packets();
            if let Err(error) = processed {
                // Sends the reason to the client, if it is still listening.
                let _ = flush(session, plain);
                return Err(broken(error));
            }
            Ok(Some(bytes))
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(broken(error)),
    }
}

impl TlsWire {
    fn receive(
        &self,
        session: &mut ServerConnection,
        plain: &mut Plain<'_, '_>,
        room: &mut [u8],
    ) -> Poll<Result<usize, WireError>> {
        loop {
            match session.reader().read(room) {
                Ok(bytes) => return Poll::Ready(Ok(bytes)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(broken(error))),
            }
            // Later, only the task that sends replies waits for room in the socket: two would take
            // each other's waker.
            if !self.is_agreed.get() {
                if !flush(session, plain)? {
                    return Poll::Pending;
                }
                self.is_agreed.set(!session.is_handshaking());
            }
            match fetch(session, plain)? {
                None => return Poll::Pending,
                Some(0) => return Poll::Ready(Ok(0)),
                Some(_) => {}
            }
        }
    }
}

impl Wire for TlsWire {
    fn poll_receive(
        &self,
        context: &mut Context<'_>,
        room: &mut [u8],
    ) -> Poll<Result<usize, WireError>> {
        match &mut *self.session.borrow_mut() {
            None => self.inner.poll_receive(context, room),
            Some(session) => {
                let mut plain = Plain { wire: &self.inner, context };
                self.receive(session, &mut plain, room)
            }
        }
    }

    fn poll_send(
        &self,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize, WireError>> {
        let mut session = self.session.borrow_mut();
        let Some(session) = &mut *session else {
            return self.inner.poll_send(context, parts);
        };
        if self.unsent.get() == 0 {
            self.unsent.set(session.writer().write_vectored(parts).map_err(broken)?);
        }
        let mut plain = Plain { wire: &self.inner, context };
        if !flush(session, &mut plain)? {
            return Poll::Pending;
        }
        Poll::Ready(Ok(self.unsent.take()))
    }

    fn start_tls(&self) -> Result<(), WireError> {
        let session = ServerConnection::new(Arc::clone(&self.config)).map_err(broken)?;
        *self.session.borrow_mut() = Some(session);
        Ok(())
    }
}
