//! The components of the program, crate by crate, in `CycloneDX` format.

use std::collections::BTreeMap;

use cargo_metadata::Package;
use xtask::failure::Failure;

use super::json::Json;
use super::notices;
use super::payload::read;
use super::release::{Release, day};

/// Builds the bill of materials of the program for `target`.
pub(super) fn bill(release: &Release, target: &str) -> Result<String, Failure> {
    let checksums = checksums(&String::from_utf8_lossy(&read("Cargo.lock")?))?;
    let mut packages = notices::linked(target)?;
    packages.sort_by_key(|package| (package.name.to_string(), package.version.clone()));
    let foreign = packages.iter().filter(|package| package.source.is_some());
    let components = foreign.map(|package| component(package, &checksums)).collect();
    let this = Json::object([
        ("type", Json::text("application")),
        ("name", Json::text("plimsoll")),
        ("version", Json::text(release.semantic())),
    ]);
    let metadata = Json::object([
        ("timestamp", Json::text(day(release.epoch, "%Y-%m-%dT%H:%M:%SZ")?)),
        ("component", this),
    ]);
    let document = Json::object([
        ("bomFormat", Json::text("CycloneDX")),
        ("specVersion", Json::text("1.5")),
        ("version", Json::Number(1)),
        ("metadata", metadata),
        ("components", Json::List(components)),
    ]);
    Ok(format!("{document}\n"))
}

fn component(package: &Package, checksums: &BTreeMap<(String, String), String>) -> Json {
    let (name, version) = (package.name.to_string(), package.version.to_string());
    let address = format!("pkg:cargo/{name}@{version}");
    let mut members = vec![
        ("type", Json::text("library")),
        ("bom-ref", Json::text(address.as_str())),
        ("name", Json::text(name.as_str())),
        ("version", Json::text(version.as_str())),
        ("purl", Json::text(address.as_str())),
    ];
    if let Some(terms) = &package.license {
        let terms = Json::object([("expression", Json::text(terms.replace('/', " OR ")))]);
        members.push(("licenses", Json::List(vec![terms])));
    }
    if let Some(sum) = checksums.get(&(name.clone(), version.clone())) {
        let sum =
            Json::object([("alg", Json::text("SHA-256")), ("content", Json::text(sum.as_str()))]);
        members.push(("hashes", Json::List(vec![sum])));
    }
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Checksums of crates from the lock file, by name and version.
fn checksums(lock: &str) -> Result<BTreeMap<(String, String), String>, Failure> {
    let lock: toml::Table = lock.parse().map_err(Failure::of)?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let of = |package: &toml::Value| {
        let text = |key| package.get(key)?.as_str().map(str::to_owned);
        Some(((text("name")?, text("version")?), text("checksum")?))
    };
    Ok(packages.into_iter().flatten().filter_map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::bill;
    use crate::dist::release::Release;

    #[test]
    fn every_crate_of_the_program_has_an_address_terms_and_a_checksum() {
        let text = bill(&Release::example(), "x86_64-unknown-linux-gnu").unwrap();
        let components: Vec<&str> = text.split("{\"type\":\"library\"").skip(1).collect();
        assert!(components.len() > 100, "{}", components.len());
        for component in &components {
            for part in ["\"purl\":\"pkg:cargo/", "\"expression\":\"", "\"alg\":\"SHA-256\""] {
                assert!(component.contains(part), "{part} is missing: {component}");
            }
        }
        assert!(text.contains("pkg:cargo/clap@4."));
        assert!(!text.contains("libesedb"), "tests alone link it");
    }
}
