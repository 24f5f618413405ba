//! Who may depend on whom. The table is the architecture; an edge outside it is a decision.

use cargo_metadata::{Dependency, DependencyKind, Metadata, MetadataCommand, Package};

use crate::failure::Failure;
use crate::shell;

/// One row of the table.
struct Layer {
    package: &'static str,
    /// Crates of the workspace that it may use.
    inside: &'static [&'static str],
    /// Crates of others that it may use.
    outside: &'static [&'static str],
    /// Crates of the workspace that only its tests may use.
    tests: &'static [&'static str],
}

/// Crates of others that any tests may use.
const TEST_TOOLS: &[&str] = &["flate2", "libesedb", "proptest", "serde_json", "toml"];

const TABLE: &[Layer] = &[
    Layer {
        package: "units",
        inside: &[],
        outside: &[],
        tests: &[],
    },
    Layer {
        package: "device",
        inside: &["units"],
        outside: &["bytemuck"],
        tests: &[],
    },
    Layer {
        package: "ese",
        inside: &["units"],
        outside: &["xxhash-rust"],
        tests: &[],
    },
    Layer {
        package: "plan",
        inside: &["units"],
        outside: &["serde", "toml"],
        tests: &[],
    },
    Layer {
        package: "device-os",
        inside: &["device", "units"],
        outside: &["io-uring", "libc"],
        tests: &[],
    },
    Layer {
        package: "faults",
        inside: &["device", "units"],
        outside: &[],
        tests: &[],
    },
    Layer {
        package: "workload",
        inside: &["plan", "units"],
        outside: &["xxhash-rust"],
        tests: &["ese"],
    },
    Layer {
        package: "record",
        inside: &["plan", "units"],
        outside: &["base64", "hdrhistogram", "serde", "serde_json"],
        tests: &[],
    },
    Layer {
        package: "engine",
        inside: &["ese", "device", "units"],
        outside: &[],
        tests: &["faults", "testkit", "workload"],
    },
    Layer {
        package: "verdict",
        inside: &["record", "plan", "units"],
        outside: &[],
        tests: &[],
    },
    Layer {
        package: "sizing",
        inside: &["plan", "units"],
        outside: &["csv"],
        tests: &[],
    },
    Layer {
        package: "trial",
        inside: &[
            "engine", "ese", "workload", "device", "plan", "record", "units",
        ],
        outside: &["serde", "serde_json"],
        tests: &["device-os", "faults", "testkit", "verdict"],
    },
    Layer {
        package: "report",
        inside: &["plan", "record", "sizing", "verdict", "units"],
        outside: &["csv", "serde", "serde_json", "time"],
        tests: &[],
    },
    Layer {
        package: "plimsoll",
        inside: &[
            "device",
            "device-os",
            "engine",
            "ese",
            "faults",
            "plan",
            "record",
            "report",
            "sizing",
            "trial",
            "units",
            "verdict",
            "workload",
        ],
        outside: &["clap", "clap_complete", "serde_json", "signal-hook", "time"],
        tests: &["testkit"],
    },
    Layer {
        package: "testkit",
        inside: &[
            "device",
            "device-os",
            "engine",
            "ese",
            "faults",
            "plan",
            "record",
            "trial",
            "units",
            "workload",
        ],
        outside: &["libesedb", "serde", "serde_json", "xxhash-rust"],
        tests: &[],
    },
    Layer {
        package: "xtask",
        inside: &[
            "device",
            "device-os",
            "engine",
            "ese",
            "plan",
            "record",
            "testkit",
            "trial",
            "units",
            "workload",
        ],
        outside: &["cargo_metadata", "hdrhistogram", "serde_json", "toml"],
        tests: &[],
    },
];

/// Checks every edge of the workspace against the table.
pub fn run() -> Result<(), Failure> {
    let metadata = MetadataCommand::new()
        .current_dir(shell::root())
        .no_deps()
        .exec()
        .map_err(|error| Failure::new(format!("cargo metadata: {error}")))?;
    let complaints = complaints(&metadata);
    if complaints.is_empty() {
        println!(
            "layers: {} crates keep to the table",
            metadata.packages.len()
        );
        return Ok(());
    }
    Err(Failure::list(
        "dependencies outside the table of xtask/src/layers.rs (a new edge is a decision: \
         docs/decisions):",
        &complaints,
    ))
}

fn complaints(metadata: &Metadata) -> Vec<String> {
    let names: Vec<&str> = metadata
        .packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let mut found = Vec::new();
    for package in &metadata.packages {
        let Some(layer) = TABLE
            .iter()
            .find(|layer| layer.package == package.name.as_str())
        else {
            found.push(format!("{}: has no row", package.name));
            continue;
        };
        found.extend(edges(layer, package, &names));
    }
    found
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
                assert!(
                    above,
                    "{} uses {used}, which is not above it",
                    layer.package
                );
            }
        }
    }
}
