//! HTTP requests, one at a time: no automatic redirects, no unbounded answers.

use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use ureq::http::{HeaderMap, Response, header};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body};
use zeroize::Zeroizing;

use crate::address::Address;
use crate::date;
use crate::error::SignInError;
use crate::form;
use crate::secret::Secret;

/// Maximum length of a provider's response.
const LONGEST_ANSWER: u64 = 1 << 20;
/// The longest report: some 300 bytes for each of 3 million mailboxes.
const LONGEST_REPORT: u64 = 1 << 30;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// Long enough for a whole report over a slow line.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(10);

/// Sends requests and limits their answers.
pub(crate) struct Web {
    agent: Agent,
}

/// A response.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Zeroizing<Vec<u8>>,
    /// Seconds since 1970 by the server's clock.
    pub(crate) date: Option<i64>,
    pub(crate) retry_after: Option<Duration>,
    /// Target of a redirect: such an address may itself be a key.
    pub(crate) location: Option<Secret>,
}

impl Reply {
    pub(crate) const fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// Whether the failure may be temporary, so that a retry may succeed.
    pub(crate) const fn is_passing(&self) -> bool {
        matches!(self.status, 408 | 429 | 500..=599)
    }
}

/// TLS with the system's root certificates, including those of an organisation that inspects its
/// own traffic.
pub fn system_trust() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs().certs;
    let roots = found.iter().map(|root| Certificate::from_der(root).to_owned());
    TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots.collect())))
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .build()
}

impl Web {
    /// Trusts the certificate authorities that the system trusts.
    pub(crate) fn new() -> Self {
        let config = Agent::config_builder()
            .tls_config(system_trust())
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_global(Some(ANSWER_TIMEOUT))
            .user_agent("plimsoll");
        Self { agent: config.build().into() }
    }

    /// Fetches `address`, with a token if one is given.
    pub(crate) fn get(
        &self,
        address: &Address,
        token: Option<&Secret>,
    ) -> Result<Reply, SignInError> {
        let mut request = self.agent.get(address.uri());
        if let Some(token) = token {
            let value = Zeroizing::new(format!("Bearer {}", token.reveal()));
            request = request.header(header::AUTHORIZATION, value.as_str());
        }
        let request = request.config();
        let request = if address.is_loopback() { request.proxy(None) } else { request };
        let answer = request.build().call();
        reply(address, answer, LONGEST_REPORT)
    }

    /// Sends a form.
    pub(crate) fn post(
        &self,
        address: &Address,
        pairs: &[(&str, &str)],
    ) -> Result<Reply, SignInError> {
        let body = form::encode(pairs);
        let request = self
            .agent
            .post(address.uri())
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let request = request.config();
        let request = if address.is_loopback() { request.proxy(None) } else { request };
        let answer = request.build().send(body.as_bytes());
        reply(address, answer, LONGEST_ANSWER)
    }
}

fn reply(
    address: &Address,
    answer: Result<Response<Body>, ureq::Error>,
    longest: u64,
) -> Result<Reply, SignInError> {
    let (parts, body) = answer
        .and_then(|answer| {
            let (parts, mut body) = answer.into_parts();
            Ok((parts, body.with_config().limit(longest).read_to_vec()?))
        })
        .map_err(|error| SignInError::Unreachable {
            place: address.origin(),
            problem: problem(&error),
        })?;
    Ok(Reply {
        status: parts.status.as_u16(),
        body: Zeroizing::new(body),
        date: text(&parts.headers, header::DATE).and_then(date::unix_seconds),
        retry_after: text(&parts.headers, header::RETRY_AFTER)
            .and_then(|seconds| seconds.parse().ok())
            .map(Duration::from_secs),
        location: text(&parts.headers, header::LOCATION)
            .map(|address| Secret::new(address.to_owned())),
    })
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Describes the error without the address, which may contain a key.
fn problem(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => "did not answer in time".to_owned(),
        ureq::Error::HostNotFound => "no host of this name".to_owned(),
        ureq::Error::BodyExceedsLimit(_) => "the answer is longer than any report".to_owned(),
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::Rustls(error) => error.to_string(),
        _ => "cannot be reached".to_owned(),
    }
}
