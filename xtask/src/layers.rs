//! Permitted dependencies between crates. This table defines the architecture; adding an edge to it
//! needs a decision.

use cargo_metadata::{Dependency, DependencyKind, Metadata, Package};

use xtask::failure::Failure;

use crate::metadata;

/// One row of the table.
struct Layer {
    package: &'static str,
    /// Crates of the workspace that the package may use.
    inside: &'static [&'static str],
    /// Third-party crates that the package may use.
    outside: &'static [&'static str],
    /// Crates of the workspace that only the package's tests may use.
    tests: &'static [&'static str],
}

/// Third-party crates that any tests may use.
const TEST_TOOLS: &[&str] = &["csv", "flate2", "libesedb", "proptest", "serde_json", "toml"];

const TABLE: &[Layer] = &[
    Layer { package: "plimsoll-units", inside: &[], outside: &[], tests: &[] },
    Layer {
        package: "device",
        inside: &["plimsoll-units"],
        outside: &["bytemuck", "twox-hash"],
        tests: &[],
    },
    Layer { package: "ese", inside: &["plimsoll-units"], outside: &["twox-hash"], tests: &[] },
    Layer {
        package: "plimsoll-ese",
        inside: &["ese", "plimsoll-units"],
        outside: &[],
        tests: &["testkit"],
    },
    Layer {
        package: "eselog",
        inside: &["ese", "plimsoll-units"],
        outside: &[],
        tests: &["testkit"],
    },
    Layer { package: "plan", inside: &["plimsoll-units"], outside: &["toml"], tests: &[] },
    Layer {
        package: "device-os",
        inside: &["device", "plimsoll-units"],
        outside: &["io-uring", "libc", "mimalloc", "windows-sys"],
        tests: &[],
    },
    Layer {
        package: "device-net",
        inside: &["device"],
        outside: &["base64", "getrandom", "md-5", "socket2"],
        tests: &["device-os", "testkit"],
    },
    Layer { package: "faults", inside: &["device", "plimsoll-units"], outside: &[], tests: &[] },
    Layer { package: "iotrace", inside: &[], outside: &[], tests: &[] },
    Layer {
        package: "flashcache",
        inside: &["device", "iotrace", "plimsoll-units"],
        outside: &["twox-hash"],
        tests: &["faults"],
    },
    Layer {
        package: "simdisk",
        inside: &["device", "flashcache", "plimsoll-units"],
        outside: &["serde", "toml"],
        tests: &["testkit"],
    },
    Layer { package: "export", inside: &["device", "plimsoll-units"], outside: &[], tests: &[] },
    Layer {
        package: "export-iscsi",
        inside: &["device", "device-net", "export", "plimsoll-units"],
        outside: &[],
        tests: &["device-os"],
    },
    Layer {
        package: "export-vhost",
        inside: &["device", "export"],
        outside: &["vhost", "virtio-queue", "vm-memory"],
        tests: &["plimsoll-units"],
    },
    Layer { package: "mirror", inside: &["plimsoll-units"], outside: &["twox-hash"], tests: &[] },
    Layer {
        package: "workload",
        inside: &["plan", "plimsoll-units"],
        outside: &["twox-hash"],
        tests: &[],
    },
    Layer {
        package: "record",
        inside: &["plimsoll-units"],
        outside: &["base64", "flate2", "hdrhistogram", "schemars", "serde", "serde_json", "sha2"],
        tests: &[],
    },
    Layer {
        package: "wal",
        inside: &["ese", "device", "plimsoll-units"],
        outside: &[],
        tests: &["faults"],
    },
    Layer {
        package: "engine",
        inside: &["ese", "device", "plimsoll-units", "wal"],
        outside: &[],
        tests: &["faults"],
    },
    Layer { package: "verdict", inside: &["record", "plimsoll-units"], outside: &[], tests: &[] },
    Layer {
        package: "fleet",
        inside: &["plan", "record", "plimsoll-units", "verdict"],
        outside: &["serde", "serde_json", "toml"],
        tests: &[],
    },
    Layer {
        package: "carrier",
        inside: &["fleet", "plimsoll-units"],
        outside: &["async-nats", "futures-util", "tokio"],
        tests: &[],
    },
    Layer { package: "sizing", inside: &["plan", "plimsoll-units"], outside: &[], tests: &[] },
    Layer {
        package: "provision",
        inside: &["plan", "sizing", "plimsoll-units"],
        outside: &["csv"],
        tests: &[],
    },
    Layer {
        package: "rehearsal",
        inside: &["provision", "simdisk", "plimsoll-units"],
        outside: &[],
        tests: &[],
    },
    Layer {
        package: "luns",
        inside: &["plan", "provision", "plimsoll-units"],
        outside: &["serde", "serde_json", "sha2"],
        tests: &[],
    },
    Layer {
        package: "profile",
        inside: &["iotrace", "plan", "plimsoll-units"],
        outside: &["csv"],
        tests: &[],
    },
    Layer { package: "builds", inside: &[], outside: &["csv"], tests: &[] },
    Layer {
        package: "jetstress",
        inside: &["plan", "record", "plimsoll-units"],
        outside: &["roxmltree", "time"],
        tests: &[],
    },
    Layer { package: "limits", inside: &[], outside: &["roxmltree"], tests: &[] },
    Layer { package: "vrrp", inside: &[], outside: &["etherparse", "pcap-parser"], tests: &[] },
    Layer {
        package: "sign-in",
        inside: &[],
        outside: &[
            "base64",
            "percent-encoding",
            "ring",
            "rustls",
            "rustls-native-certs",
            "serde",
            "serde_json",
            "ureq",
            "zeroize",
        ],
        tests: &[],
    },
    Layer {
        package: "inspection",
        inside: &["device-os", "record", "plimsoll-units"],
        outside: &["serde_json"],
        tests: &["testkit"],
    },
    Layer {
        package: "integrity",
        inside: &["ese", "device", "plimsoll-units"],
        outside: &[],
        tests: &[],
    },
    Layer {
        package: "trial",
        inside: &[
            "engine",
            "ese",
            "integrity",
            "workload",
            "device",
            "plan",
            "record",
            "plimsoll-units",
            "wal",
        ],
        outside: &["serde", "serde_json"],
        tests: &["faults", "verdict"],
    },
    Layer {
        package: "report",
        inside: &["plan", "record", "verdict", "plimsoll-units"],
        outside: &["schemars", "serde", "serde_json", "time"],
        tests: &[],
    },
    Layer {
        package: "blueprint",
        inside: &[
            "plan",
            "provision",
            "record",
            "rehearsal",
            "report",
            "sizing",
            "verdict",
            "plimsoll-units",
        ],
        outside: &["serde", "serde_json"],
        tests: &[],
    },
    Layer {
        package: "host",
        inside: &[
            "device",
            "device-net",
            "device-os",
            "ese",
            "flashcache",
            "inspection",
            "integrity",
            "plan",
            "record",
            "report",
            "simdisk",
            "trial",
            "plimsoll-units",
            "verdict",
        ],
        outside: &["serde_json", "time"],
        tests: &[],
    },
    Layer {
        package: "esrp",
        inside: &["plan", "record", "report", "plimsoll-units", "verdict"],
        outside: &["base64", "docx-rs", "flate2", "serde", "toml"],
        tests: &[],
    },
    Layer {
        package: "serve",
        inside: &["blueprint", "record", "report", "plimsoll-units", "verdict"],
        outside: &["axum", "futures-util", "getrandom", "rusqlite", "serde_json", "tokio", "ureq"],
        tests: &[],
    },
    Layer {
        package: "console",
        inside: &[
            "device-os",
            "host",
            "plan",
            "plimsoll-units",
            "record",
            "report",
            "trial",
            "verdict",
        ],
        outside: &["clap", "rpassword", "serde_json", "signal-hook", "terminal_size"],
        tests: &[],
    },
    Layer {
        package: "databases",
        inside: &[
            "builds",
            "console",
            "device",
            "device-os",
            "engine",
            "ese",
            "eselog",
            "host",
            "integrity",
            "plan",
            "plimsoll-units",
            "record",
            "report",
            "trial",
            "wal",
        ],
        outside: &["clap", "serde_json"],
        tests: &[],
    },
    Layer {
        package: "fleets",
        inside: &[
            "carrier",
            "console",
            "fleet",
            "host",
            "plan",
            "plimsoll-units",
            "record",
            "report",
            "serve",
            "verdict",
        ],
        outside: &["clap", "getrandom", "serde_json"],
        tests: &[],
    },
    Layer {
        package: "designs",
        inside: &[
            "blueprint",
            "builds",
            "carrier",
            "console",
            "device-os",
            "export",
            "fleet",
            "fleets",
            "host",
            "jetstress",
            "plan",
            "plimsoll-units",
            "profile",
            "provision",
            "record",
            "rehearsal",
            "report",
            "sign-in",
            "simdisk",
            "sizing",
            "trial",
            "verdict",
        ],
        outside: &["clap", "serde_json"],
        tests: &[],
    },
    Layer {
        package: "volumes",
        inside: &[
            "carrier",
            "console",
            "designs",
            "device",
            "device-net",
            "device-os",
            "export",
            "export-iscsi",
            "export-vhost",
            "flashcache",
            "fleets",
            "host",
            "inspection",
            "luns",
            "mirror",
            "plan",
            "plimsoll-units",
            "provision",
            "record",
            "report",
            "serve",
            "verdict",
        ],
        outside: &["clap", "getrandom", "rustls", "serde_json", "time"],
        tests: &[],
    },
    Layer {
        package: "plimsoll",
        inside: &[
            "blueprint",
            "builds",
            "carrier",
            "console",
            "databases",
            "designs",
            "device",
            "device-os",
            "ese",
            "esrp",
            "fleet",
            "fleets",
            "host",
            "limits",
            "plan",
            "plimsoll-units",
            "provision",
            "record",
            "report",
            "serve",
            "sign-in",
            "trial",
            "verdict",
            "volumes",
            "vrrp",
        ],
        outside: &["clap", "clap_complete", "clap_mangen", "serde_json", "time"],
        tests: &["device-net", "testkit", "xtask"],
    },
    Layer {
        package: "testkit",
        inside: &[
            "device",
            "device-net",
            "engine",
            "ese",
            "faults",
            "integrity",
            "jetstress",
            "plan",
            "record",
            "simdisk",
            "trial",
            "plimsoll-units",
            "wal",
        ],
        outside: &[
            "flate2",
            "fuser",
            "libesedb",
            "nix",
            "serde",
            "serde_json",
            "twox-hash",
            "vhost",
            "vm-memory",
            "vmm-sys-util",
        ],
        tests: &[],
    },
    Layer {
        package: "xtask",
        inside: &[],
        outside: &["cargo_metadata", "serde_json", "toml"],
        tests: &[],
    },
    Layer {
        package: "bench",
        inside: &[
            "device",
            "device-net",
            "device-os",
            "engine",
            "ese",
            "eselog",
            "plan",
            "record",
            "rehearsal",
            "simdisk",
            "sizing",
            "testkit",
            "trial",
            "plimsoll-units",
            "workload",
            "xtask",
        ],
        outside: &["hdrhistogram", "serde_json"],
        tests: &[],
    },
];

/// Checks every edge of the workspace against the table.
pub(crate) fn run() -> Result<(), Failure> {
    let metadata = metadata::workspace()?;
    let complaints = complaints(&metadata);
    if complaints.is_empty() {
        println!("layers: {} crates keep to the table", metadata.packages.len());
        return Ok(());
    }
    Err(Failure::list(
        "dependencies outside the table of xtask/src/layers.rs (a new edge is a decision: \
         docs/decisions):",
        &complaints,
    ))
}

fn complaints(metadata: &Metadata) -> Vec<String> {
    let names: Vec<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    let mut found = Vec::new();
    for package in &metadata.packages {
        let Some(layer) = TABLE.iter().find(|layer| layer.package == package.name.as_str()) else {
            found.push(format!("{}: has no row", package.name));
            continue;
        };
        found.extend(edges(layer, package, &names));
        found.extend(unused_grants(layer, package));
        found.extend(unused_dependencies(package));
    }
    found
}

/// Edges that the table permits but the manifest does not declare: later they could be used
/// unnoticed.
fn unused_grants(layer: &Layer, package: &Package) -> Vec<String> {
    let declared = |name: &&&str| {
        let mut dependencies = package.dependencies.iter();
        dependencies.any(|dependency| dependency.name.as_str() == **name)
    };
    let granted = [layer.inside, layer.outside, layer.tests].concat();
    let unused = granted.iter().filter(|name| !declared(name));
    unused
        .map(|name| format!("{} may use {name} and does not: drop the grant", package.name))
        .collect()
}

/// Dependencies that the manifest declares but no source of the package names.
fn unused_dependencies(package: &Package) -> Vec<String> {
    let text = sources(package);
    let named = |dependency: &&Dependency| {
        let name = dependency.rename.as_deref().unwrap_or(&dependency.name);
        let name = name.replace('-', "_");
        text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
    };
    let unused = package.dependencies.iter().filter(|one| !named(one));
    unused
        .map(|dependency| {
            format!("{} declares {} and never names it", package.name, dependency.name)
        })
        .collect()
}

/// All source files of the package, concatenated.
pub(crate) fn sources(package: &Package) -> String {
    let mut folders = package
        .manifest_path
        .parent()
        .map_or(Vec::new(), |folder| vec![folder.as_std_path().to_path_buf()]);
    let mut text = String::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text += &std::fs::read_to_string(path).unwrap_or_default();
            }
        }
    }
    text
}

fn edges(layer: &Layer, package: &Package, workspace: &[&str]) -> Vec<String> {
    let outside_table = |dependency: &&Dependency| {
        let name = dependency.name.as_str();
        let ours = workspace.contains(&name);
        let base = if ours { layer.inside } else { layer.outside };
        let extra = if ours { layer.tests } else { TEST_TOOLS };
        let test = dependency.kind == DependencyKind::Development;
        !(base.contains(&name) || test && extra.contains(&name))
    };
    package
        .dependencies
        .iter()
        .filter(outside_table)
        .map(|dependency| {
            let kind = match dependency.kind {
                DependencyKind::Development => " (in tests)",
                _ => "",
            };
            format!("{} must not use {}{kind}", package.name, dependency.name)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::TABLE;

    /// A row may only name rows above it, so the table has no cycle.
    #[test]
    fn the_table_is_ordered() {
        for (at, layer) in TABLE.iter().enumerate() {
            for used in layer.inside {
                let above = TABLE[..at].iter().any(|row| row.package == *used);
                assert!(above, "{} uses {used}, which is not above it", layer.package);
            }
        }
    }
}
