//! The packages of one program for Linux: those installed into the system, and those that run from
//! any folder.

use std::fs;
use std::path::Path;

use xtask::failure::Failure;
use xtask::shell;

use super::archive::{gzip, tar};
use super::machine::Machine;
use super::manifests::Asset;
use super::payload::{self, Program};
use super::release::Release;
use super::tree::Tree;
use super::{Shelf, deb, needs, rpm, wheel};

/// A program for Linux and its requirements.
pub(super) struct Linux {
    program: Program,
    machine: Machine,
    /// The oldest glibc that has everything the program calls; `None` if the program needs no C
    /// library.
    glibc: Option<(u32, u32)>,
}

impl Linux {
    /// Determines the requirements from the program itself.
    pub(super) fn of(program: Program, machine: Machine) -> Result<Self, Failure> {
        let glibc = needs::glibc(program.path(), machine)?;
        println!("plimsoll for {} needs {}", machine.kernel(), needs::words(glibc));
        Ok(Self { program, machine, glibc })
    }

    pub(super) fn program(&self) -> &Program {
        &self.program
    }

    /// Packs the packages for Debian and Fedora.
    pub(super) fn pack_installed(&self, shelf: &mut Shelf<'_>, work: &Path) -> Result<(), Failure> {
        let (release, machine) = (shelf.release, self.machine);
        let debian = payload::installed(&self.program, &shelf.licences, &payload::DEBIAN)?;
        let package = deb::package(debian, release, machine, self.glibc)?;
        shelf.put(&deb::name(release, machine), &package)?;
        if !shell::installed("rpmbuild") {
            shelf.lacking.push("the package for Fedora: apt-get install rpm".to_owned());
            return Ok(());
        }
        let fedora = payload::installed(&self.program, &shelf.licences, &payload::FEDORA)?;
        let made = rpm::package(&fedora, release, machine, &work.join("rpm"))?;
        shelf.put(&rpm::name(release, machine), &fs::read(made).map_err(Failure::of)?)
    }

    /// Packs the tarball and the wheel; returns the tarball's catalogue entry.
    pub(super) fn pack_anywhere(&self, shelf: &Shelf<'_>) -> Result<(Machine, Asset), Failure> {
        let (release, machine) = (shelf.release, self.machine);
        let bytes = self.program.bytes();
        let wheel = wheel::package(bytes, &shelf.licences, release, machine, self.glibc)?;
        shelf.put(&wheel::name(release, machine, self.glibc), &wheel)?;
        let folder = format!("plimsoll-{}", release.semantic());
        let mut tree = Tree::default();
        let installed = payload::installed(&self.program, &shelf.licences, &payload::FEDORA)?;
        for (path, mode, bytes) in installed.files() {
            let path = path.strip_prefix("usr/").unwrap_or(path);
            tree.file(&format!("{folder}/{path}"), mode, bytes.to_vec());
        }
        let bytes = gzip::pack(&tar::archive(&tree, "", release.epoch)?)?;
        Ok((machine, shelf.asset(&tarball(release, machine), &bytes)?))
    }
}

/// The name of the tarball.
pub(super) fn tarball(release: &Release, machine: Machine) -> String {
    format!("plimsoll-{}-{}-linux.tar.gz", release.semantic(), machine.kernel())
}
