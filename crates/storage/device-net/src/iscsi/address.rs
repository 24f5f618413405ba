//! Address of a LUN as users write it: `iscsi://[USER@]HOST[:PORT]/TARGET/LUN`; a shorter one asks
//! for a listing.

use std::fmt;

use crate::uri::{decoded, host_and_port};

/// The port assigned to iSCSI by IANA.
const DEFAULT_PORT: u16 = 3260;

const SCHEME: &str = "iscsi://";

/// Prefixes of target names (RFC 7143, 4.2.7).
const NAMES: [&str; 3] = ["iqn.", "eui.", "naa."];

/// Address of a portal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IscsiPortal {
    /// A name or address.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// A logical unit of a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IscsiAddress {
    /// The target's portal.
    pub portal: IscsiPortal,
    /// Name of the target.
    pub target: String,
    /// Number of the logical unit.
    pub lun: u16,
    /// The account to log in with, if the target requires one.
    pub user: Option<String>,
}

impl IscsiPortal {
    /// Parses `HOST` or `HOST:PORT`; an IPv6 address is in brackets.
    pub fn parse(text: &str) -> Option<Self> {
        let (host, port) = host_and_port(text, DEFAULT_PORT)?;
        Some(Self { host: host.to_owned(), port })
    }
}

impl fmt::Display for IscsiPortal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

impl IscsiAddress {
    /// Highest LUN that flat addressing can express.
    const LAST_LUN: u16 = 0x3fff;

    /// Whether `text` starts like an address, and so is not a path.
    pub fn is_meant(text: &str) -> bool {
        text.starts_with(SCHEME)
    }

    /// The logical unit at the start of `text`, its address as written, and the rest without a
    /// slash: the name of a file on it. `None` if it is not an address.
    pub fn parse(text: &str) -> Option<(Self, String, String)> {
        let rest = text.strip_prefix(SCHEME)?;
        let mut parts = rest.splitn(4, '/');
        let (server, target, lun) = (parts.next()?, parts.next()?, parts.next()?);
        let inside = parts.next().unwrap_or("").trim_matches('/').to_owned();
        let named = format!("{SCHEME}{server}/{target}/{lun}");
        let (user, portal) = account_and_portal(server)?;
        let target = target_name(target)?;
        let lun = lun.parse().ok().filter(|&lun| lun <= Self::LAST_LUN)?;
        Some((Self { portal, target, lun, user }, named, inside))
    }

    /// The LUN in SCSI encoding (SAM-5, 4.7).
    pub(crate) fn encoded_lun(&self) -> [u8; 8] {
        let [high, low] = self.lun.to_be_bytes();
        // Numbers above one byte need the flat form.
        let first = if high > 0 { 0x40 | high } else { 0 };
        [first, low, 0, 0, 0, 0, 0, 0]
    }
}

/// A portal, or one of its targets, to search for LUNs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IscsiSearch {
    /// The portal to ask for targets.
    pub portal: IscsiPortal,
    /// The only target to search; `None` for all.
    pub target: Option<String>,
    /// The account to log in with, if one is required.
    pub user: Option<String>,
    /// Account and portal as they were written.
    server: String,
}

impl IscsiSearch {
    /// Parses `iscsi://[USER@]HOST[:PORT][/TARGET]`; `None` if it is not such an address, or names
    /// a LUN.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(SCHEME)?.trim_end_matches('/');
        let (server, target) =
            rest.split_once('/').map_or((rest, None), |(server, target)| (server, Some(target)));
        let (user, portal) = account_and_portal(server)?;
        let target = match target {
            Some(target) if target.contains('/') => return None,
            Some(target) => Some(target_name(target)?),
            None => None,
        };
        Some(Self { portal, target, user, server: server.to_owned() })
    }

    /// A logical unit found on a target, and its address as text.
    pub fn found(&self, target: &str, lun: u16) -> (IscsiAddress, String) {
        let (portal, user) = (self.portal.clone(), self.user.clone());
        let address = IscsiAddress { portal, target: target.to_owned(), lun, user };
        (address, format!("{SCHEME}{}/{target}/{lun}", self.server))
    }
}

fn account_and_portal(server: &str) -> Option<(Option<String>, IscsiPortal)> {
    let (user, portal) = match server.rsplit_once('@') {
        Some((user, portal)) => (Some(decoded(user).filter(|user| is_account(user))?), portal),
        None => (None, server),
    };
    Some((user, IscsiPortal::parse(portal)?))
}

fn target_name(text: &str) -> Option<String> {
    decoded(text).filter(|target| NAMES.iter().any(|begin| target.starts_with(begin)))
}

/// Whether `user` can be an account. In the addresses of other programs a secret follows a colon
/// and would be sent in clear text; only initiator names may contain colons.
fn is_account(user: &str) -> bool {
    !user.is_empty() && (!user.contains(':') || NAMES.iter().any(|begin| user.starts_with(begin)))
}

#[cfg(test)]
mod tests {
    use super::{IscsiAddress, IscsiPortal, IscsiSearch};

    const IQN: &str = "iqn.2026-11.example.array:mail";

    #[test]
    fn addresses_and_files_on_them_are_told_apart() {
        for (server, user, host, port) in [
            ("array", None, "array", 3260),
            ("me@array:1", Some("me"), "array", 1),
            ("iqn.a:b%40c@[::1]:7", Some("iqn.a:b@c"), "::1", 7),
        ] {
            for inside in ["", "a.edb", "db1/a.edb"] {
                let whole = format!("iscsi://{server}/{IQN}/3");
                let (address, named, found) =
                    IscsiAddress::parse(&format!("{whole}/{inside}")).unwrap();
                let portal = IscsiPortal { host: host.to_owned(), port };
                let user = user.map(str::to_owned);
                let wanted = IscsiAddress { portal, target: IQN.to_owned(), lun: 3, user };
                assert_eq!((address, named, found.as_str()), (wanted, whole, inside));
            }
        }
    }

    #[test]
    fn what_is_no_address_is_none() {
        for text in [
            "iscsi://",
            "iscsi://array",
            "iscsi://array/iqn.a",
            "iscsi://array/iqn.a/x",
            "iscsi://array/iqn.a/16384",
            "iscsi://array/mail/1",
            "iscsi://@array/iqn.a/1",
            "iscsi://me%secret@array/iqn.a/1",
            "iscsi://me:secret@array/iqn.a/1",
            "nbd://array/iqn.a/1",
        ] {
            assert_eq!(IscsiAddress::parse(text), None, "{text}");
        }
    }

    #[test]
    fn an_address_without_a_number_looks_for_some() {
        for (text, target) in [
            ("iscsi://me%40a@array:1", None),
            ("iscsi://me%40a@array:1/", None),
            ("iscsi://me%40a@array:1/iqn.a/", Some("iqn.a")),
        ] {
            let search = IscsiSearch::parse(text).unwrap();
            assert_eq!(
                (search.portal.to_string().as_str(), search.user.as_deref()),
                ("array:1", Some("me@a"))
            );
            assert_eq!(search.target.as_deref(), target);
            let (address, named) = search.found("iqn.b", 3);
            assert_eq!(IscsiAddress::parse(&named), Some((address, named.clone(), String::new())));
        }
        for text in ["iscsi://", "iscsi://a/b", "iscsi://a/iqn.a/1", "iscsi://me:x@a", "nbd://a"] {
            assert_eq!(IscsiSearch::parse(text), None, "{text}");
        }
    }

    #[test]
    fn logical_units_are_written_in_the_shortest_form() {
        let encoded = |lun: u16| {
            let text = format!("iscsi://array/{IQN}/{lun}");
            IscsiAddress::parse(&text).unwrap().0.encoded_lun()
        };
        assert_eq!(encoded(255), [0, 255, 0, 0, 0, 0, 0, 0]);
        assert_eq!(encoded(256), [0x41, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn portals_are_written_as_they_are_read() {
        for text in ["array:3260", "[::1]:9"] {
            assert_eq!(IscsiPortal::parse(text).unwrap().to_string(), text);
        }
    }
}
