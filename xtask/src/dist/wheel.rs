//! A Python wheel that carries the program, for `pip install`, `pipx run` and `uvx`.

use std::fmt::Write as _;

use xtask::failure::Failure;

use super::archive::zip;
use super::digest::{base64_of_hex, sha256};
use super::machine::Machine;
use super::payload::read;
use super::release::Release;
use super::tree::Tree;

const SUMMARY: &str = "Finds the load line of mailbox storage and proves it";

/// The file name, which encodes the platforms that the wheel can be installed on.
pub(super) fn name(release: &Release, machine: Machine, glibc: Option<(u32, u32)>) -> String {
    format!("plimsoll-{}-py3-none-{}.whl", release.python(), platform(machine, glibc))
}

/// Platform tag: any Linux if the program needs no C library, otherwise one with that glibc or
/// newer.
fn platform(machine: Machine, glibc: Option<(u32, u32)>) -> String {
    let machine = machine.kernel();
    match glibc {
        None => format!("manylinux_2_5_{machine}.musllinux_1_1_{machine}"),
        Some((major, minor)) => format!("manylinux_{major}_{minor}_{machine}"),
    }
}

/// Builds the wheel: the program as a script, and the metadata for pip.
pub(super) fn package(
    program: &[u8],
    licences: &str,
    release: &Release,
    machine: Machine,
    glibc: Option<(u32, u32)>,
) -> Result<Vec<u8>, Failure> {
    let version = release.python();
    let info = format!("plimsoll-{version}.dist-info");
    let mut tree = Tree::default();
    tree.file(&format!("plimsoll-{version}.data/scripts/plimsoll"), 0o755, program.to_vec());
    tree.file(&format!("{info}/METADATA"), 0o644, metadata(&version)?);
    tree.file(&format!("{info}/WHEEL"), 0o644, tags(machine, glibc).into_bytes());
    tree.file(&format!("{info}/licenses/LICENCES.txt"), 0o644, licences.as_bytes().to_vec());
    let mut record = String::new();
    for (path, _, bytes) in tree.files() {
        let digest = base64_of_hex(&sha256(bytes)?);
        let _ = writeln!(record, "{path},sha256={digest},{}", bytes.len());
    }
    let _ = writeln!(record, "{info}/RECORD,,");
    tree.file(&format!("{info}/RECORD"), 0o644, record.into_bytes());
    zip::archive(&tree)
}

fn metadata(version: &str) -> Result<Vec<u8>, Failure> {
    let mut text = format!(
        "Metadata-Version: 2.1\nName: plimsoll\nVersion: {version}\nSummary: {SUMMARY}\n\
         License: MIT OR Apache-2.0\nRequires-Python: >=3.7\n\
         Description-Content-Type: text/markdown\n\n"
    )
    .into_bytes();
    text.extend_from_slice(&read("README.md")?);
    Ok(text)
}

fn tags(machine: Machine, glibc: Option<(u32, u32)>) -> String {
    let mut text =
        "Wheel-Version: 1.0\nGenerator: cargo xtask dist\nRoot-Is-Purelib: false\n".to_owned();
    for platform in platform(machine, glibc).split('.') {
        let _ = writeln!(text, "Tag: py3-none-{platform}");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{name, package};
    use crate::dist::machine::Machine;
    use crate::dist::release::Release;
    use xtask::shell;

    #[test]
    fn the_platform_is_that_of_the_c_library() {
        let release = Release::example();
        let needing = name(&release, Machine::Amd64, Some((2, 34)));
        assert_eq!(needing, "plimsoll-0.1.0.dev20261127-py3-none-manylinux_2_34_x86_64.whl");
        assert!(
            name(&release, Machine::Arm64, None)
                .contains("manylinux_2_5_aarch64.musllinux_1_1_aarch64")
        );
    }

    #[test]
    fn pip_installs_the_program_from_a_folder_without_an_index() {
        let release = Release::example();
        let wheel = package(b"#!/bin/sh\necho plimsoll runs\n", "", &release, Machine::Amd64, None)
            .unwrap();
        let folder = shell::root().join("target/dist-tests/wheel");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join(name(&release, Machine::Amd64, None));
        fs::write(&file, wheel).unwrap();
        let target = folder.join("installed").display().to_string();
        let words = ["python3", "-m", "pip", "install", "-q", "--no-index", "--target", &target];
        let file = file.display().to_string();
        let words = [&words[..], &[&file]].concat();
        if let Err(failure) = shell::capture(&words) {
            assert!(failure.to_string().contains("No module named pip"), "{failure}");
            println!("skipped: no pip");
            return;
        }
        let said = shell::capture(&[&format!("{target}/bin/plimsoll")]).unwrap();
        assert_eq!(said, "plimsoll runs\n");
    }
}
