//! The document of a flash cache that is served: its flash, its sockets, its volumes.

mod iscsi;

pub use iscsi::CacheIscsi;

use units::Bytes;

use crate::complaint::{Complaint, PlanError};
use crate::keys::Keys;
use crate::reader::{Given, Lines, TomlSection, parse};

/// The commented document that `plimsoll cache serve --example` prints.
const EXAMPLE: &str = include_str!("documents/cache.toml");

/// The command that prints a document to start from.
const EXAMPLE_COMMAND: &str = "plimsoll cache serve --example";

/// Bounds of the memory for requests.
const MEMORY_BOUNDS: (Bytes, Bytes) = (Bytes(64 << 20), Bytes(1 << 40));

/// Bounds of all amounts of flash.
const FLASH_BOUNDS: (Bytes, Bytes) = (Bytes(1 << 20), Bytes(1 << 50));

/// A cache and its volumes. Made only by reading a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedCache {
    /// Flash device or file.
    pub flash: String,
    /// Sockets for clients: `unix:PATH` or `HOST:PORT`.
    pub listen: Vec<String>,
    /// Socket for `cache status` and similar commands; `None` for the default path.
    pub control: Option<String>,
    /// Address that serves metrics; `None` if metrics are off.
    pub metrics: Option<String>,
    /// Bytes per second that admissions may write to flash; `None` if unlimited.
    pub write_budget: Option<Bytes>,
    /// The iSCSI target that exports it, if any.
    pub iscsi: Option<CacheIscsi>,
    /// Limit on memory for requests in progress.
    pub memory: Bytes,
    /// Maximum number of simultaneous clients.
    pub connections: usize,
    /// Certificates; `None` for unencrypted connections, which stay on this machine.
    pub tls: Option<CacheTls>,
    /// The volumes; at least one.
    pub volumes: Vec<ServedVolume>,
}

/// PEM files of a server that accepts connections from other machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheTls {
    /// The server's certificate and any intermediates up to its authority.
    pub certificate: String,
    /// The key of the certificate.
    pub key: String,
    /// The authority that signs accepted clients' certificates.
    pub client_ca: String,
}

/// A volume behind a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedVolume {
    /// Name of the export.
    pub name: String,
    /// The device behind it.
    pub device: String,
    /// `true` if writes are refused.
    pub is_read_only: bool,
    /// Flash reserved for this volume.
    pub least: Option<Bytes>,
    /// Flash that it may take.
    pub most: Option<Bytes>,
    /// Socket for one hypervisor of this host; `None` if not served over vhost-user.
    pub vhost_user: Option<String>,
}

impl ServedCache {
    /// Reads a document from TOML `text`; error messages call it `file`.
    pub fn parse(file: &str, text: &str) -> Result<Self, PlanError> {
        document(file, text, EXAMPLE_COMMAND, read)
    }

    /// A document with every key explained, ready to be edited.
    pub const fn example() -> &'static str {
        EXAMPLE
    }
}

/// Reads the TOML `text` of `file` with `read`; `example` is the command that prints such a
/// document.
pub(crate) fn document<T>(
    file: &str,
    text: &str,
    example: &'static str,
    read: impl FnOnce(TomlSection<'_>, &mut Vec<Complaint>) -> T,
) -> Result<T, PlanError> {
    let mut complaints = Vec::new();
    let table = parse(text, example, &mut complaints);
    let document = table.map(|table| {
        let lines = Lines::of_text(text);
        read(TomlSection::root(&table, &lines), &mut complaints)
    });
    complaints.sort_by_key(|complaint| complaint.line);
    let complete = document.filter(|_| complaints.is_empty());
    complete.ok_or_else(|| PlanError { file: file.to_owned(), complaints })
}

fn read(root: TomlSection<'_>, complaints: &mut Vec<Complaint>) -> ServedCache {
    let mut root = Keys::new(root, complaints);
    for (key, example) in [("flash", "`flash = \"/dev/nvme0n1\"`"), ("volume", "a [[volume]]")] {
        if !root.has(key) {
            root.missing(key, example);
        }
    }
    let connections = root.count("connections", 64, (1, 4_096));
    let document = ServedCache {
        flash: root.text("flash", ""),
        listen: texts(&mut root, "listen"),
        control: text(&mut root, "control"),
        metrics: text(&mut root, "metrics"),
        write_budget: bytes(&mut root, "write_budget"),
        iscsi: iscsi::read(&mut root),
        memory: root.size("memory", Bytes::from_mib(256), MEMORY_BOUNDS),
        connections: usize::try_from(connections).unwrap_or(64),
        tls: tls(&mut root),
        volumes: volumes(&mut root),
    };
    root.finish();
    document
}

pub(crate) fn texts(keys: &mut Keys<'_, '_>, key: &'static str) -> Vec<String> {
    keys.list(key)
        .map(|given: Vec<Given<String>>| given.into_iter().map(|given| given.value).collect())
        .unwrap_or_default()
}

fn tls(root: &mut Keys<'_, '_>) -> Option<CacheTls> {
    let [certificate, key, client_ca] =
        ["tls_cert", "tls_key", "tls_client_ca"].map(|name| text(root, name));
    match (certificate, key, client_ca) {
        (Some(certificate), Some(key), Some(client_ca)) => {
            Some(CacheTls { certificate, key, client_ca })
        }
        (None, None, None) => None,
        _ => {
            root.conflict("tls_cert", "needs `tls_key` and `tls_client_ca`, and they need it");
            None
        }
    }
}

pub(crate) fn text(keys: &mut Keys<'_, '_>, key: &'static str) -> Option<String> {
    keys.has(key).then(|| keys.text(key, ""))
}

fn bytes(keys: &mut Keys<'_, '_>, key: &'static str) -> Option<Bytes> {
    keys.has(key).then(|| keys.size(key, FLASH_BOUNDS.0, FLASH_BOUNDS))
}

fn volumes(root: &mut Keys<'_, '_>) -> Vec<ServedVolume> {
    let volumes = root.each("volume", |mut keys, _| {
        for (key, example) in [
            ("name", "`name = \"mail\"` to [[volume]]"),
            ("device", "`device = \"/dev/sdx\"` to [[volume]]"),
        ] {
            if !keys.has(key) {
                keys.missing(key, example);
            }
        }
        let volume = ServedVolume {
            name: keys.text("name", ""),
            device: keys.text("device", ""),
            is_read_only: keys.flag("read_only", false),
            least: bytes(&mut keys, "min"),
            most: bytes(&mut keys, "max"),
            vhost_user: text(&mut keys, "vhost_user"),
        };
        if volume.least.zip(volume.most).is_some_and(|(least, most)| least > most) {
            keys.conflict("min", "is more than `max`; give a smaller one");
        }
        if let Some(fault) = name_fault(&volume.name) {
            keys.conflict("name", fault);
        }
        keys.finish();
        volume
    });
    for (at, volume) in volumes.iter().enumerate() {
        if volumes[..at].iter().any(|earlier| earlier.name == volume.name) {
            root.conflict("volume", "has two sections of the same name; give each its own");
        }
    }
    volumes
}

/// The error in a volume's name, if any. Names appear in addresses, metrics and messages.
pub fn name_fault(name: &str) -> Option<&'static str> {
    let is_sound = (1..=64).contains(&name.len())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-._".contains(letter));
    (!is_sound).then_some("takes up to 64 letters, digits, dots, dashes and underscores")
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::ServedCache;

    const SMALL: &str = "flash = \"/dev/nvme0n1\"\n[[volume]]\nname = \"mail\"\ndevice = \
                         \"/dev/sdx\"\nmax = \"10GiB\"\n";

    #[test]
    fn the_example_is_a_document_and_defaults_are_those_it_shows() {
        let example = ServedCache::parse("example", ServedCache::example()).unwrap();
        let small = ServedCache::parse("small", SMALL).unwrap();
        assert_eq!((small.memory, small.connections), (example.memory, example.connections));
        assert_eq!(small.volumes[0].most, Some(Bytes::from_gib(10)));
        assert!(small.listen.is_empty() && small.write_budget.is_none());
    }

    #[test]
    fn every_contradiction_is_named_with_the_way_out() {
        for (from, to, expected) in [
            ("flash = \"/dev/nvme0n1\"", "", "flash"),
            ("name = \"mail\"", "name = \"my mail\"", "letters, digits"),
            ("name = \"mail\"", "", "name"),
            ("max = \"10GiB\"", "max = \"10GiB\"\nmin = \"20GiB\"", "more than `max`"),
            ("[[volume]]", "tls_key = \"k.pem\"\n[[volume]]", "`tls_client_ca`"),
            ("max = \"10GiB\"", "maxx = \"10GiB\"", "did you mean `max`"),
            ("max", "[[volume]]\nname = \"mail\"\ndevice = \"b\"\nmax", "two sections"),
        ] {
            let error = ServedCache::parse("cache.toml", &SMALL.replacen(from, to, 1));
            let said = error.unwrap_err().to_string();
            assert!(said.contains(expected), "{to}: {said}");
        }
    }
}
