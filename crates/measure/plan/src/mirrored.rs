//! The document of a volume that is kept on the flash of two hosts.

use units::{Bytes, Nanos};

use crate::complaint::{Complaint, PlanError};
use crate::keys::Keys;
use crate::reader::TomlSection;
use crate::served::{document, name_fault, text, texts};

/// The commented document that `plimsoll cache serve --example-mirror` prints.
const EXAMPLE: &str = include_str!("documents/mirror.toml");

/// The command that prints a document to start from.
const EXAMPLE_COMMAND: &str = "plimsoll cache serve --example-mirror";

/// Bounds of the volume's size.
const SIZE_BOUNDS: (Bytes, Bytes) = (Bytes(1 << 20), Bytes(1 << 44));

/// Bounds of the block, the unit of the log.
const BLOCK_BOUNDS: (Bytes, Bytes) = (Bytes(4 << 10), Bytes(256 << 10));

/// Bounds of cached and of dirty data.
const DATA_BOUNDS: (Bytes, Bytes) = (Bytes(1 << 20), Bytes(1 << 40));

/// Bounds of the lease. A shorter one is lost to every hiccup of a network.
const LEASE_BOUNDS: (Nanos, Nanos) = (Nanos::from_secs(2), Nanos::from_secs(60));

/// A volume on two hosts, as one of them serves it. Made only by reading a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredVolume {
    /// Name of the volume and of its export.
    pub volume: String,
    /// The two hosts. Their order is the same in both documents.
    pub hosts: [String; 2],
    /// This host: 0 or 1.
    pub host: usize,
    /// File of this host's copy.
    pub flash: String,
    /// File behind both copies; `None` if flash is the only storage.
    pub device: Option<String>,
    /// Size of the volume.
    pub size: Bytes,
    /// Unit of the log.
    pub block: Bytes,
    /// NATS server of both hosts.
    pub server: String,
    /// File with the credentials for it.
    pub credentials: Option<String>,
    /// Sockets of clients.
    pub listen: Vec<String>,
    /// Socket of `cache status` and similar commands.
    pub control: Option<String>,
    /// Time after the last renewal at which the server gives the volume to the other host.
    pub lease: Nanos,
    /// Bound on the rate error of every clock, in parts per million.
    pub clock_drift_ppm: u32,
    /// Limit on data that is only on flash.
    pub dirty: Bytes,
    /// Data of a `device` that the copy keeps on flash.
    pub cached: Bytes,
    /// How long requests wait while no host serves the volume.
    pub patience: Nanos,
}

impl MirroredVolume {
    /// Reads a document from TOML `text`; `file` is the name that complaints print.
    pub fn parse(file: &str, text: &str) -> Result<Self, PlanError> {
        document(file, text, EXAMPLE_COMMAND, read)
    }

    /// Returns a document with every key explained, ready to edit.
    pub const fn example() -> &'static str {
        EXAMPLE
    }
}

fn read(root: TomlSection<'_>, complaints: &mut Vec<Complaint>) -> MirroredVolume {
    let mut keys = Keys::new(root, complaints);
    for (key, example) in [
        ("volume", "`volume = \"mail\"`"),
        ("hosts", "`hosts = [\"left\", \"right\"]`"),
        ("host", "`host = \"left\"`"),
        ("flash", "`flash = \"/flash/mail.mirror\"`"),
        ("size", "`size = \"100GiB\"`"),
        ("server", "`server = \"nats://127.0.0.1:4222\"`"),
    ] {
        if !keys.has(key) {
            keys.missing(key, example);
        }
    }
    let name = keys.text("volume", "");
    if let Some(fault) = name_fault(&name) {
        keys.conflict("volume", fault);
    }
    let (hosts, host) = hosts(&mut keys);
    let volume = MirroredVolume {
        volume: name,
        hosts,
        host,
        flash: keys.text("flash", ""),
        device: text(&mut keys, "device"),
        size: keys.size("size", SIZE_BOUNDS.0, SIZE_BOUNDS),
        block: keys.size("block", BLOCK_BOUNDS.0, BLOCK_BOUNDS),
        server: keys.text("server", ""),
        credentials: text(&mut keys, "credentials"),
        listen: texts(&mut keys, "listen"),
        control: text(&mut keys, "control"),
        lease: keys.span("lease", Nanos::from_secs(4), LEASE_BOUNDS),
        clock_drift_ppm: keys.count("clock_drift_ppm", 1_000, (0, 100_000)),
        dirty: keys.size("dirty", Bytes::from_mib(64), DATA_BOUNDS),
        cached: keys.size("cached", Bytes::from_mib(10_240), DATA_BOUNDS),
        patience: keys.span(
            "patience",
            Nanos::from_secs(30),
            (Nanos::from_secs(1), Nanos::from_secs(600)),
        ),
    };
    if !volume.block.0.is_power_of_two() {
        keys.conflict("block", "takes a power of two");
    }
    if !volume.size.0.is_multiple_of(volume.block.0) {
        keys.conflict("size", "is no multiple of `block`; round it");
    }
    keys.finish();
    volume
}

/// `true` if `name` can be a part of a subject.
fn is_host(name: &str) -> bool {
    name_fault(name).is_none() && !name.contains('.')
}

/// Returns both hosts, and the index of this one.
fn hosts(keys: &mut Keys<'_, '_>) -> ([String; 2], usize) {
    let names: Vec<String> = texts(keys, "hosts");
    let host = keys.text("host", "");
    let position = names.iter().position(|name| *name == host);
    match <[String; 2]>::try_from(names) {
        Ok(hosts) if hosts[0] != hosts[1] && hosts.iter().all(|name| is_host(name)) => {
            if position.is_none() {
                keys.conflict("host", "is none of `hosts`; name this host as it is there");
            }
            (hosts, position.unwrap_or(0))
        }
        _ => {
            keys.conflict("hosts", "takes two names of letters, digits, dashes and underscores");
            ([String::new(), String::new()], 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MirroredVolume;

    #[test]
    fn the_example_is_a_document_and_defaults_are_those_it_shows() {
        let example = MirroredVolume::parse("example", MirroredVolume::example()).unwrap();
        let lines: Vec<&str> = MirroredVolume::example()
            .lines()
            .filter(|line| line.contains("(example)") && !line.starts_with('#'))
            .collect();
        let small = MirroredVolume::parse("small", &lines.join("\n")).unwrap();
        assert_eq!(small, example);
        assert_eq!((small.hosts[0].as_str(), small.host), ("left", 0));
    }

    #[test]
    fn every_contradiction_is_named_with_the_way_out() {
        for (from, to, expected) in [
            ("volume = \"mail\"", "volume = \"my mail\"", "letters, digits"),
            ("volume = \"mail\"", "", "volume"),
            ("host = \"left\"", "host = \"middle\"", "none of `hosts`"),
            ("\"left\", \"right\"", "\"left\", \"left\"", "two names"),
            ("\"left\", \"right\"", "\"left\"", "two names"),
            ("\"left\", \"right\"", "\"left\", \"ri.ght\"", "two names"),
            ("block = \"4KiB\"", "block = \"12KiB\"", "power of two"),
            ("size = \"100GiB\"", "size = \"1048577B\"", "size"),
            ("lease = \"4s\"", "lease = \"1s\"", "lease"),
            ("cached", "cashed", "did you mean `cached`"),
        ] {
            let changed = MirroredVolume::example().replacen(from, to, 1);
            assert_ne!(changed, MirroredVolume::example(), "{from}");
            let said = MirroredVolume::parse("mirror.toml", &changed).unwrap_err().to_string();
            assert!(said.contains(expected), "{to}: {said}");
        }
    }
}
