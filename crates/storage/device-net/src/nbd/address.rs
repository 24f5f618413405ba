//! Address of an export as users write it, following the NBD URI specification of the protocol's
//! authors (NetworkBlockDevice/nbd, doc/uri.md), without TLS.

use std::path::{Path, PathBuf};

use crate::uri::{decoded, host_and_port};

/// The port assigned to NBD by IANA.
const DEFAULT_PORT: u16 = 10809;

/// An export of a server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NbdAddress {
    /// Address of the server.
    pub(crate) place: NbdPlace,
    /// Name of the export; empty for the default one.
    pub export: String,
}

/// Address of a server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NbdPlace {
    /// A name or address, and a port.
    Tcp(String, u16),
    /// A socket in the file system.
    Unix(PathBuf),
}

impl NbdAddress {
    /// Whether `text` starts like an address, and so is not a path.
    pub fn is_meant(text: &str) -> bool {
        text.starts_with("nbd://") || text.starts_with("nbd+unix:")
    }

    /// The export at the start of `text`, its address as written, and the rest without a slash: the
    /// name of a file on it. `None` if it is not an address. `exists` reports whether a path
    /// exists.
    ///
    /// The name of an export is one part of the path, with slashes in it written as `%2F`; a name
    /// that ends like a database file is a file on the default export. Both forms of an address
    /// start as [`NbdAddress::is_meant`] requires.
    pub fn parse(text: &str, exists: impl Fn(&Path) -> bool) -> Option<(Self, String, String)> {
        if let Some(rest) = text.strip_prefix("nbd+unix:///") {
            let (export, path) = rest.split_once("?socket=")?;
            let path = decoded(path)?;
            let mut ancestors = Path::new(&path).ancestors();
            let socket = ancestors.find(|path| exists(path)).unwrap_or(Path::new(&path));
            let inside = Path::new(&path).strip_prefix(socket).ok()?.to_str()?.to_owned();
            let place = NbdPlace::Unix(socket.to_owned());
            let named = format!("nbd+unix:///{export}?socket={}", socket.display());
            return Some((Self { place, export: decoded(export)? }, named, inside));
        }
        let rest = text.strip_prefix("nbd://")?;
        let (server, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (export, inside) = match path.split_once('/') {
            Some((export, inside)) => (export, inside.trim_matches('/')),
            None if is_database_file(path) => ("", path),
            None => (path, ""),
        };
        let (host, port) = host_and_port(server, DEFAULT_PORT)?;
        let place = NbdPlace::Tcp(host.to_owned(), port);
        let slash = if export.is_empty() { "" } else { "/" };
        let named = format!("nbd://{server}{slash}{export}");
        Some((Self { place, export: decoded(export)? }, named, inside.to_owned()))
    }
}

/// Whether a part of a path ends like the name of a database file.
fn is_database_file(name: &str) -> bool {
    let endings = ["edb", "jfm", "plg", "pck", "json"];
    let ending = Path::new(name).extension();
    endings.iter().any(|known| ending.is_some_and(|ending| ending.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{NbdAddress, NbdPlace};

    fn parse(text: &str) -> Option<(NbdAddress, String, String)> {
        NbdAddress::parse(text, |path| path == Path::new("/run/nbd.sock"))
    }

    #[test]
    fn addresses_of_both_kinds_and_files_on_them_are_told_apart() {
        let tcp = |host: &str, port| NbdPlace::Tcp(host.to_owned(), port);
        let unix = || NbdPlace::Unix("/run/nbd.sock".into());
        for (text, place, export, inside) in [
            ("nbd://array", tcp("array", 10809), "", ""),
            ("nbd://array:1/lun%2F7", tcp("array", 1), "lun/7", ""),
            ("nbd://array/lun/db1/a.edb", tcp("array", 10809), "lun", "db1/a.edb"),
            ("nbd://array/a.edb", tcp("array", 10809), "", "a.edb"),
            ("nbd://[::1]:7/x", tcp("::1", 7), "x", ""),
            ("nbd+unix:///x?socket=/run/nbd.sock", unix(), "x", ""),
            ("nbd+unix:///?socket=/run/nbd.sock/a.edb", unix(), "", "a.edb"),
        ] {
            let (address, named, found) = parse(text).unwrap();
            let wanted = NbdAddress { place, export: export.to_owned() };
            assert_eq!((&address, found.as_str()), (&wanted, inside), "{text}");
            let again = parse(&named).unwrap();
            assert_eq!((&again.0, again.2.as_str()), (&address, ""), "{named}");
        }
    }

    #[test]
    fn what_is_no_address_is_none() {
        for text in
            ["/mnt/disk1", "nbd://", "nbd://a:b/x", "nbd://[::1/x", "nbd://a/%zz", "nbd+unix:///x"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
