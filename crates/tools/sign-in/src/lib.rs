//! One sign-in to Microsoft 365 that fetches the two usage reports that sizing needs.
//!
//! There are three ways to sign in: a browser on this machine (authorization code with PKCE, RFC
//! 7636, answered on the loopback interface, RFC 8252), a browser elsewhere (device code, RFC
//! 8628), or a certificate of the application (client credentials with a signed assertion, RFC
//! 7523). Tokens live in memory for as long as [`fetch`] runs; nothing here writes a file. A
//! [`Surroundings`] supplies the time and shows messages to the user.

mod address;
mod assertion;
mod browser;
mod date;
mod device;
mod endpoints;
mod error;
mod form;
mod grant;
mod pkce;
mod poll;
mod redirect;
mod reports;
mod secret;
mod session;
mod tokens;
mod web;

pub use assertion::Credential;
pub use error::SignInError;
pub use reports::UsageReports;
pub use secret::Secret;
pub use session::fetch;
pub use web::system_trust;

use std::time::Duration;

/// How a user, or the application itself, signs in.
#[derive(Debug)]
pub enum Way {
    /// In a browser on this machine.
    Browser,
    /// In a browser anywhere, with a code to type.
    Device,
    /// With a certificate's private key, without user interaction.
    Certificate(Box<Credential>),
}

/// What to fetch, and how to sign in.
#[derive(Debug)]
pub struct SignIn {
    /// How to sign in.
    pub way: Way,
    /// Id under which the application is registered with the tenant.
    pub client: String,
    /// URL of the provider; `.well-known/openid-configuration` is below it.
    pub authority: String,
    /// URL of Microsoft Graph.
    pub graph: String,
    /// Days that the reports cover: 7, 30, 90 or 180.
    pub days: u16,
}

/// A clock, and the user who signs in.
pub trait Surroundings {
    /// Monotonic time since an arbitrary start.
    fn elapsed(&self) -> Duration;
    /// Seconds since 1970 by this machine's clock.
    fn unix_seconds(&self) -> i64;
    /// Sleeps for `duration`.
    fn wait(&mut self, duration: Duration);
    /// Shows a line to the user who signs in. No line contains a token or a key.
    fn tell(&mut self, line: &str);
}
