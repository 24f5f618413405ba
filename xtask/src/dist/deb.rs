//! The package for Debian and its derivatives. Its two archives are written here, without Debian's
//! tools.

use std::fmt::Write as _;

use xtask::failure::Failure;

use super::archive::gzip::{compress, pack};
use super::archive::{ar, tar};
use super::digest::md5;
use super::machine::Machine;
use super::payload::{DOC, packaged};
use super::release::{Release, day};
use super::tree::Tree;

const MAINTAINER: &str = "The Plimsoll contributors <plimsoll@packages.debian.org>";

const DESCRIPTION: &str = "\
Description: Test of storage for mail servers
 Plimsoll finds how much mail-server load a disk, an array or a server carries
 safely. It creates genuine ESE databases, drives the mailbox transaction mix
 at them, measures every request, verifies every page, and judges the result
 by the limits that storage engineers know from Jetstress.
 .
 It also sizes Exchange deployments, simulates arrays, and reads and verifies
 any ESE database.
";

/// The name of the file.
pub(super) fn name(release: &Release, machine: Machine) -> String {
    format!("plimsoll_{}_{}.deb", release.sorted(), machine.debian())
}

/// Builds the package; its program needs glibc of this version, or none.
pub(super) fn package(
    mut tree: Tree,
    release: &Release,
    machine: Machine,
    glibc: Option<(u32, u32)>,
) -> Result<Vec<u8>, Failure> {
    tree.file(&format!("{DOC}/copyright"), 0o644, packaged("deb/copyright")?);
    tree.file(&format!("{DOC}/changelog.gz"), 0o644, compress(changelog(release)?.as_bytes())?);
    let mut control = Tree::default();
    control.file("control", 0o644, fields(&tree, release, machine, glibc).into_bytes());
    control.file("md5sums", 0o644, sums(&tree)?.into_bytes());
    for script in ["postinst", "prerm", "postrm"] {
        control.file(script, 0o755, packaged(&format!("deb/{script}"))?);
    }
    let epoch = release.epoch;
    let control = pack(&tar::archive(&control, "./", epoch)?)?;
    let data = pack(&tar::archive(&tree, "./", epoch)?)?;
    let members: [(&str, &[u8]); 3] =
        [("debian-binary", b"2.0\n"), ("control.tar.gz", &control), ("data.tar.gz", &data)];
    Ok(ar::archive(&members, epoch))
}

fn fields(tree: &Tree, release: &Release, machine: Machine, glibc: Option<(u32, u32)>) -> String {
    let library = glibc.map(|(major, minor)| format!("libc6 (>= {major}.{minor}), libgcc-s1, "));
    format!(
        "Package: plimsoll\nVersion: {}\nArchitecture: {}\nMaintainer: {MAINTAINER}\n\
         Installed-Size: {}\nPre-Depends: init-system-helpers (>= 1.54~)\nDepends: {}adduser\n\
         Section: admin\nPriority: optional\nHomepage: https://crates.io/crates/plimsoll\n\
         {DESCRIPTION}",
        release.sorted(),
        machine.debian(),
        tree.bytes().div_ceil(1024),
        library.unwrap_or_default(),
    )
}

fn sums(tree: &Tree) -> Result<String, Failure> {
    let mut lines = String::new();
    for (path, _, bytes) in tree.files() {
        let _ = writeln!(lines, "{}  {path}", md5(bytes)?);
    }
    Ok(lines)
}

fn changelog(release: &Release) -> Result<String, Failure> {
    Ok(format!(
        "plimsoll ({}) unstable; urgency=medium\n\n  * See README.md for what it does.\n\n \
         -- {MAINTAINER}  {}\n",
        release.sorted(),
        day(release.epoch, "%a, %d %b %Y %H:%M:%S +0000")?,
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::package;
    use crate::dist::machine::Machine;
    use crate::dist::release::Release;
    use crate::dist::tree::Tree;
    use xtask::shell;

    #[test]
    fn dpkg_reads_fields_and_files_and_two_packages_are_equal() {
        let made = || {
            let mut tree = Tree::default();
            tree.file("usr/bin/plimsoll", 0o755, vec![1; 5000]);
            tree.folder("var/lib/plimsoll", 0o750, 0);
            package(tree, &Release::example(), Machine::Arm64, Some((2, 34))).unwrap()
        };
        assert!(made() == made());
        let folder = shell::root().join("target/dist-tests/deb");
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("a.deb").display().to_string();
        fs::write(&file, made()).unwrap();
        if !shell::installed("dpkg-deb") {
            println!("skipped: no dpkg-deb");
            return;
        }
        let depends = shell::capture(&["dpkg-deb", "-f", &file, "Depends"]).unwrap();
        let machine = shell::capture(&["dpkg-deb", "-f", &file, "Architecture"]).unwrap();
        assert_eq!(machine, "arm64\n");
        assert_eq!(depends, "libc6 (>= 2.34), libgcc-s1, adduser\n");
        let listing = shell::capture(&["dpkg-deb", "-c", &file]).unwrap();
        let names: Vec<&str> =
            listing.lines().filter_map(|line| line.split_whitespace().nth(5)).collect();
        for name in
            ["./usr/bin/plimsoll", "./var/lib/plimsoll/", "./usr/share/doc/plimsoll/copyright"]
        {
            assert!(names.contains(&name), "{name}: {names:?}");
        }
    }
}
