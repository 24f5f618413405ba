//! The package for Fedora and its derivatives, built by rpmbuild, which Debian has too.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use xtask::failure::Failure;
use xtask::shell;

use super::machine::Machine;
use super::release::Release;
use super::tree::{Content, Tree};

const HEAD: &str = "\
Name: plimsoll
Release: 1
Summary: Test of storage for mail servers
License: MIT OR Apache-2.0
URL: https://crates.io/crates/plimsoll
Requires(pre): shadow-utils

%global debug_package %{nil}
%global __os_install_post %{nil}
%global _build_id_links none
%global _binary_payload w6.gzdio

%description
Plimsoll finds how much mail-server load a disk, an array or a server carries
safely. It creates genuine ESE databases, drives the mailbox transaction mix at
them, measures every request, verifies every page, and judges the result by the
limits that storage engineers know from Jetstress.

%pre
getent passwd plimsoll > /dev/null || \\
    useradd --system --home-dir /var/lib/plimsoll --no-create-home \\
        --shell /usr/sbin/nologin plimsoll
exit 0

%post
if [ -d /run/systemd/system ]; then systemctl daemon-reload || :; fi

%preun
if [ $1 = 0 ] && [ -d /run/systemd/system ]; then
    systemctl disable --now plimsoll.service || :
fi

%postun
if [ -d /run/systemd/system ]; then systemctl daemon-reload || :; fi
";

/// Folders that belong to the package and are removed with it.
const OWN: [&str; 3] = [super::payload::DOC, "usr/share/fish", "usr/share/zsh"];

/// Builds the package in `work`; returns its path. rpmbuild reads the requirements from the program
/// itself.
pub(super) fn package(
    tree: &Tree,
    release: &Release,
    machine: Machine,
    work: &Path,
) -> Result<PathBuf, Failure> {
    let _ = fs::remove_dir_all(work);
    let staged = work.join("staged");
    fs::create_dir_all(&staged).map_err(Failure::of)?;
    tree.lay(&staged, release.epoch)?;
    let spec = work.join("plimsoll.spec");
    fs::write(&spec, specification(tree, release, &staged)).map_err(Failure::of)?;
    let top = format!("_topdir {}", work.display());
    let target = format!("{}-linux", machine.kernel());
    let words = [
        "rpmbuild",
        "-bb",
        "--quiet",
        "--target",
        &target,
        "--define",
        &top,
        "--define",
        "_buildhost localhost",
        "--define",
        "use_source_date_epoch_as_buildtime 1",
        "--define",
        "clamp_mtime_to_source_date_epoch 1",
    ];
    let mut command = shell::command(&words);
    command.arg(&spec).env("SOURCE_DATE_EPOCH", release.epoch.to_string());
    let output = command.output().map_err(Failure::of)?;
    if !output.status.success() {
        return Err(Failure::new(String::from_utf8_lossy(&output.stderr)));
    }
    Ok(work.join("RPMS").join(machine.kernel()).join(name(release, machine)))
}

/// The name of the file.
pub(super) fn name(release: &Release, machine: Machine) -> String {
    format!("plimsoll-{}-1.{}.rpm", release.sorted(), machine.kernel())
}

fn specification(tree: &Tree, release: &Release, staged: &Path) -> String {
    let mut text = format!("Version: {}\n{HEAD}", release.sorted());
    let _ = writeln!(text, "\n%install\ncp -a {}/. %{{buildroot}}\n\n%files", staged.display());
    for (path, item) in tree.items() {
        match &item.content {
            Content::File(_) if path.contains("/doc/") => {
                let _ = writeln!(text, "%doc /{path}");
            }
            Content::File(_) => {
                let _ = writeln!(text, "/{path}");
            }
            Content::Folder if path == "var/lib/plimsoll" => {
                let _ = writeln!(text, "%attr(0750,plimsoll,plimsoll) %dir /{path}");
            }
            // No other package of a small system owns these folders.
            Content::Folder if OWN.iter().any(|own| path.starts_with(own)) => {
                let _ = writeln!(text, "%dir /{path}");
            }
            Content::Folder => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::package;
    use crate::dist::machine::Machine;
    use crate::dist::release::Release;
    use crate::dist::tree::Tree;
    use std::fs;
    use xtask::shell;

    #[test]
    fn rpm_lists_what_was_put_in_and_two_packages_are_equal() {
        if !shell::installed("rpmbuild") {
            println!("skipped: no rpmbuild; on Debian it is in the package rpm");
            return;
        }
        let mut tree = Tree::default();
        tree.file("usr/bin/plimsoll", 0o755, b"#!/bin/sh\n".to_vec());
        tree.folder("var/lib/plimsoll", 0o750, 0);
        let made = |name: &str| {
            let work = shell::root().join("target/dist-tests").join(name);
            package(&tree, &Release::example(), Machine::Amd64, &work).unwrap()
        };
        let (one, other) = (made("rpm-one"), made("rpm-other"));
        assert!(fs::read(&one).unwrap() == fs::read(other).unwrap(), "they differ");
        let one = one.display().to_string();
        let listing = shell::capture(&["rpm", "-qp", "--list", &one]).unwrap();
        assert_eq!(listing, "/usr/bin/plimsoll\n/var/lib/plimsoll\n");
    }
}
