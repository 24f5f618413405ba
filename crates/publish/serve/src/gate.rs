//! Decides which requests are permitted: a pure function of the head of a request, called before
//! any route.
//!
//! A page of a foreign site that the user has open can send requests here and, by a name that it
//! resolves to this machine (DNS rebinding), could read the answers. So the host must be this
//! server, an origin, if given, must match the host, and every change of state needs a token that
//! only the terminal has shown. On a publicly reachable address, every request needs it.

use std::io;
use std::net::{IpAddr, SocketAddr};

/// A secret that a request must present.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Draws a token of 128 bits.
    ///
    /// # Errors
    ///
    /// The system gives no random numbers.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(format!("{:032x}", u128::from_le_bytes(bytes))))
    }

    /// A token supplied by the user: 16 to 256 letters, digits, `-` and `_`, which need no escaping
    /// in an address or a cookie. `None` for any other text.
    pub fn kept(text: &str) -> Option<Self> {
        let text = text.trim();
        let mut odd = text.bytes().filter(|byte| !byte.is_ascii_alphanumeric());
        let is_sound = (16..=256).contains(&text.len()) && odd.all(|byte| b"-_".contains(&byte));
        is_sound.then(|| Self(text.to_owned()))
    }

    /// The token as text.
    pub fn digits(&self) -> &str {
        &self.0
    }

    /// Compares in constant time, so that timing does not reveal how much of `other` is correct.
    fn is(&self, other: &str) -> bool {
        let differ = self.0.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
        differ == 0 && self.0.len() == other.len()
    }
}

/// Security-relevant parts of a request's head.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequestHead<'a> {
    /// Whether it may change state: anything but `GET` and `HEAD`.
    pub changes: bool,
    /// Whether it only asks for metrics, which have a separate token.
    pub is_for_metrics: bool,
    /// The addressed host; `None` unless it names exactly one.
    pub host: Option<&'a str>,
    /// The site whose page sent it, if a browser states it.
    pub origin: Option<&'a str>,
    /// That site's relation to this one, if a browser states it.
    pub fetch_site: Option<&'a str>,
    /// The token in its `Authorization` header.
    pub bearer: Option<&'a str>,
    /// The token in its cookie.
    pub cookie: Option<&'a str>,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GateRefusal {
    /// It addresses a different host.
    Host,
    /// A page of another site sent it.
    Origin,
    /// It has no token, or a wrong one.
    Token,
}

impl GateRefusal {
    /// The reason, in a few words.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Host => "Unknown host name",
            Self::Origin => "Request from another site",
            Self::Token => "Token needed",
        }
    }

    /// The text of the answer.
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::Host => {
                "This host name is not known here. Open the address that `plimsoll serve` printed, \
                 or start it with --host NAME."
            }
            Self::Origin => {
                "A page of another site sent this request. Send it from a page of this."
            }
            Self::Token => {
                "This needs the token of the running `plimsoll serve`. Open the address that it \
                 printed, token included, or send it as `Authorization: Bearer TOKEN`."
            }
        }
    }
}

/// Lets requests in.
#[derive(Clone)]
pub(crate) struct Gate {
    address: SocketAddr,
    host_names: Vec<String>,
    token: Token,
    /// Permits reading metrics and nothing else.
    metrics_token: Option<Token>,
}

impl Gate {
    pub(crate) const fn new(
        address: SocketAddr,
        host_names: Vec<String>,
        token: Token,
        metrics_token: Option<Token>,
    ) -> Self {
        Self { address, host_names, token, metrics_token }
    }

    /// Whether other machines can reach the address.
    fn is_public(&self) -> bool {
        !self.address.ip().is_loopback()
    }

    /// Decides on a request.
    pub(crate) fn judge(&self, head: &RequestHead<'_>) -> Result<(), GateRefusal> {
        let host = head.host.filter(|host| self.knows(host)).ok_or(GateRefusal::Host)?;
        let is_ours = head.origin.is_none_or(|origin| {
            origin.strip_prefix("http://").is_some_and(|of| of.eq_ignore_ascii_case(host))
        });
        let is_foreign = matches!(head.fetch_site, Some("cross-site" | "same-site"));
        if !is_ours || head.changes && is_foreign {
            return Err(GateRefusal::Origin);
        }
        let is_open = !head.changes && (!self.is_public() || self.may_scrape(head));
        if !is_open && !self.has_token(head) {
            return Err(GateRefusal::Token);
        }
        Ok(())
    }

    fn may_scrape(&self, head: &RequestHead<'_>) -> bool {
        let token = self.metrics_token.as_ref().filter(|_| head.is_for_metrics);
        token.zip(head.bearer).is_some_and(|(token, given)| token.is(given))
    }

    /// Whether a request carries the token that lets it change state.
    pub(crate) fn has_token(&self, head: &RequestHead<'_>) -> bool {
        head.bearer.or(head.cookie).is_some_and(|given| self.token.is(given))
    }

    /// Whether `given` is the token, for the address that passes it once.
    pub(crate) fn accepts(&self, given: &str) -> bool {
        self.token.is(given)
    }

    /// The name of the cookie, unique so that two instances on one machine do not overwrite each
    /// other's.
    pub(crate) fn cookie_name(&self) -> String {
        format!("plimsoll-token-{}", self.address.port())
    }

    /// Whether `host`, port included, is a name of this server. A numeric address cannot be
    /// rebound, so any is accepted if the server is publicly reachable.
    fn knows(&self, host: &str) -> bool {
        let Some((name, port)) = split(host) else {
            return false;
        };
        if port != self.address.port() {
            return false;
        }
        let number = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        match number {
            Ok(number) => self.is_public() || number.is_loopback(),
            Err(_) if name.eq_ignore_ascii_case("localhost") => !self.is_public(),
            Err(_) => self.host_names.iter().any(|known| known.eq_ignore_ascii_case(name)),
        }
    }
}

/// Name and port of a host; the port defaults to that of HTTP.
fn split(host: &str) -> Option<(&str, u16)> {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => Some((name, port.parse().ok()?)),
        _ => Some((host, 80)),
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::{Gate, GateRefusal, RequestHead, Token};

    fn gate(address: &str, names: &[&str]) -> Gate {
        let address: SocketAddr = address.parse().unwrap();
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let metrics_token = Some(Token("scraper".to_owned()));
        Gate::new(address, names, Token("secret".to_owned()), metrics_token)
    }

    fn asks(host: &str) -> RequestHead<'_> {
        RequestHead { host: Some(host), ..RequestHead::default() }
    }

    #[test]
    fn a_host_that_could_be_pointed_here_is_refused() {
        let local = gate("127.0.0.1:8080", &["bench.lan"]);
        for host in ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "bench.lan:8080"] {
            assert_eq!(local.judge(&asks(host)), Ok(()), "{host}");
        }
        let bad = ["evil.example:8080", "127.0.0.1:81", "127.0.0.1", "192.0.2.1:8080", "", ":8080"];
        for host in bad.into_iter().chain(["localhost:8080:1", "localhost.evil.example:8080"]) {
            assert_eq!(local.judge(&asks(host)), Err(GateRefusal::Host), "{host}");
        }
        assert_eq!(local.judge(&RequestHead::default()), Err(GateRefusal::Host));
    }

    #[test]
    fn a_scraper_reads_metrics_with_its_own_token_and_nothing_else() {
        let public = gate("0.0.0.0:8080", &[]);
        let scrape =
            RequestHead { is_for_metrics: true, bearer: Some("scraper"), ..asks("192.0.2.1:8080") };
        assert_eq!(public.judge(&scrape), Ok(()));
        let others = [
            RequestHead { is_for_metrics: false, ..scrape },
            RequestHead { changes: true, ..scrape },
            RequestHead { bearer: None, cookie: Some("scraper"), ..scrape },
            RequestHead { bearer: Some("scrape"), ..scrape },
        ];
        for other in others {
            assert_eq!(public.judge(&other), Err(GateRefusal::Token), "{other:?}");
        }
        assert!(!public.has_token(&scrape));
    }

    #[test]
    fn a_kept_token_is_long_and_plain() {
        assert!(Token::kept("0123456789abcdef\n").is_some_and(|of| of.digits().len() == 16));
        for bad in ["short", "0123456789abcde;", "0123456789 abcdef", "", &"x".repeat(257)] {
            assert!(Token::kept(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_foreign_origin_is_refused_whatever_it_brings() {
        let gate = gate("127.0.0.1:8080", &[]);
        let with = |origin, changes| RequestHead {
            changes,
            origin: Some(origin),
            cookie: Some("secret"),
            ..asks("127.0.0.1:8080")
        };
        assert_eq!(gate.judge(&with("http://127.0.0.1:8080", true)), Ok(()));
        for origin in
            ["http://evil.example", "null", "http://127.0.0.1:81", "https://127.0.0.1:8080"]
        {
            for changes in [false, true] {
                assert_eq!(
                    gate.judge(&with(origin, changes)),
                    Err(GateRefusal::Origin),
                    "{origin}"
                );
            }
        }
        let fetched = RequestHead {
            changes: true,
            fetch_site: Some("cross-site"),
            cookie: Some("secret"),
            ..asks("127.0.0.1:8080")
        };
        assert_eq!(gate.judge(&fetched), Err(GateRefusal::Origin));
    }

    #[test]
    fn state_changes_and_other_addresses_need_the_token() {
        let local = gate("127.0.0.1:8080", &[]);
        let change = RequestHead { changes: true, ..asks("127.0.0.1:8080") };
        assert_eq!(local.judge(&change), Err(GateRefusal::Token));
        for wrong in ["", "secre", "secret1", "Secret"] {
            let head = RequestHead { bearer: Some(wrong), ..change };
            assert_eq!(local.judge(&head), Err(GateRefusal::Token), "{wrong}");
        }
        assert_eq!(local.judge(&RequestHead { bearer: Some("secret"), ..change }), Ok(()));
        let public = gate("0.0.0.0:8080", &[]);
        assert_eq!(public.judge(&asks("192.0.2.1:8080")), Err(GateRefusal::Token));
        let known = RequestHead { cookie: Some("secret"), ..asks("192.0.2.1:8080") };
        assert_eq!(public.judge(&known), Ok(()));
    }
}
