//! Why a sign-in failed, and what to do about it. No message contains a secret.

use std::fmt;
use std::io;

use crate::grant::OAuthRefusal;

/// Reasons why there are no reports.
#[derive(Debug)]
pub enum SignInError {
    /// An address that is invalid, or to which secrets must not be sent.
    Address {
        /// Kind of address, e.g. `download`.
        what: &'static str,
        /// The address as given.
        address: String,
    },
    /// The host could not be reached.
    Unreachable {
        /// Scheme, host and port.
        place: String,
        /// The network's error.
        problem: String,
    },
    /// The response could not be parsed.
    Answer {
        /// Scheme, host and port.
        place: String,
        /// The request, in words.
        what: &'static str,
        /// Why the response cannot be parsed.
        problem: String,
    },
    /// The provider does not offer this grant.
    NotOffered(&'static str),
    /// The provider or the user refused.
    Refused {
        /// The request, in words.
        what: &'static str,
        /// The provider's answer.
        refusal: OAuthRefusal,
    },
    /// The user did not sign in in time.
    TooLate,
    /// The access token expired, and there is no refresh token.
    Ended,
    /// Microsoft Graph refuses a request that the token permits.
    Forbidden {
        /// Name of the report.
        report: &'static str,
        /// HTTP status.
        status: u16,
    },
    /// Microsoft Graph asks for an unreasonably long wait, or fails repeatedly.
    Busy {
        /// Name of the report.
        report: &'static str,
        /// HTTP status.
        status: u16,
    },
    /// The certificate or the key cannot be used.
    Credential(&'static str),
    /// Listening on the loopback interface failed.
    Loopback(io::Error),
    /// The system provides no random bytes.
    NoRandomness,
}

impl fmt::Display for SignInError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { what, address } => write!(
                f,
                "{what} {address}: no address to send secrets to; give one that begins with \
                 https://, or with http:// on this machine"
            ),
            Self::Unreachable { place, problem } => {
                write!(f, "{place}: {problem}; check address, network and proxy")
            }
            Self::Answer { place, what, problem } => {
                write!(f, "{place}: {what}: {problem}; check the address")
            }
            Self::NotOffered(way) => {
                write!(f, "the provider offers no {way}; sign in another way")
            }
            Self::Refused { what, refusal } => write!(f, "{what}: {refusal}"),
            Self::TooLate => f.write_str("the sign-in was not finished in time; start again"),
            Self::Ended => f.write_str(
                "the access ended before the reports were fetched and is not renewed; sign in \
                 again",
            ),
            Self::Forbidden { report, status } => write!(
                f,
                "{report}: refused (HTTP {status}); the application needs the permission \
                 Reports.Read.All with consent, and a person the role Reports Reader"
            ),
            Self::Busy { report, status } => write!(
                f,
                "{report}: Microsoft Graph is busy (HTTP {status}); try again later, or import \
                 the report as a file"
            ),
            Self::Credential(problem) => write!(
                f,
                "the certificate or its key: {problem}; give a certificate in PEM, and an RSA key \
                 of 2048 bits or more in PEM without a password"
            ),
            Self::Loopback(error) => write!(
                f,
                "cannot listen on 127.0.0.1 for the browser: {error}; sign in with a device code"
            ),
            Self::NoRandomness => f.write_str("the system gives no randomness; restart it"),
        }
    }
}

impl std::error::Error for SignInError {}
