//! Installs every package in a fresh system, runs the program there, removes the package, and lists
//! the leftovers. Needs root and Debian's `debootstrap`; without them it reports the skipped
//! packages.

mod lists;
mod scratch;

use std::fs;
use std::path::{Path, PathBuf};

use xtask::failure::Failure;
use xtask::shell;

use super::machine::Machine;
use super::release::Release;
use super::{deb, linux, oci, rpm};
use lists::Listing;
use scratch::Scratch;

/// A short test that must end with a verdict.
const QUICK: &str = "quick --size 16MiB --duration 10s";

/// Tries the packages in a folder: folder, release, and a system to copy.
type Attempt = fn(&Path, &Release, &Path) -> Result<(), Failure>;

/// Tries every package in `output`.
pub(super) fn every(output: &Path, release: &Release) -> Result<(), Failure> {
    let base = scratch::base()?;
    let tries: [(&str, Attempt); 7] = [
        ("lintian", lintian),
        ("deb", debian),
        ("rpm", fedora),
        ("tarball", tarball),
        ("image", image),
        ("wheel", wheel),
        ("arm", arm),
    ];
    for (name, attempt) in tries {
        println!("== {name}");
        attempt(output, release, &base)?;
    }
    println!("== cargo package");
    // Crates test each other in cycles, and a lock file cannot name crates that are not published
    // yet.
    let without = ["--no-verify", "--allow-dirty", "--exclude-lockfile"];
    shell::run(&[&["cargo", "package", "-q", "--workspace"], &without[..]].concat())
}

/// Fails on any error from Debian's package checker.
fn lintian(output: &Path, release: &Release, _: &Path) -> Result<(), Failure> {
    if !shell::installed("lintian") {
        println!("skipped: apt-get install lintian");
        return Ok(());
    }
    let package = output.join(deb::name(release, Machine::Amd64)).display().to_string();
    shell::run(&["lintian", "--allow-root", "--fail-on", "error", &package])
}

fn debian(output: &Path, release: &Release, base: &Path) -> Result<(), Failure> {
    let scratch = Scratch::of(base, "deb")?;
    let before = Listing::of(scratch.root())?;
    let package = output.join(deb::name(release, Machine::Amd64));
    fs::copy(&package, scratch.root().join("tmp/plimsoll.deb")).map_err(Failure::of)?;
    scratch.run("dpkg -i /tmp/plimsoll.deb")?;
    scratch.run("plimsoll --version")?;
    scratch.run("test -f /usr/share/man/man1/plimsoll-quick.1.gz")?;
    scratch.verdict(&format!("cd /root && plimsoll {QUICK}"))?;
    scratch.run("runuser -u plimsoll -- touch /var/lib/plimsoll/kept")?;
    scratch.run("dpkg -r plimsoll && test ! -e /usr/bin/plimsoll && dpkg -P plimsoll")?;
    Listing::of(scratch.root())?.only_users_files_since(&before, &["var/lib/plimsoll"])
}

fn fedora(output: &Path, release: &Release, base: &Path) -> Result<(), Failure> {
    let package = output.join(rpm::name(release, Machine::Amd64));
    if !package.exists() {
        println!("skipped: not made");
        return Ok(());
    }
    println!("no system of Fedora can be had here: its files are laid into one of Debian");
    let scratch = Scratch::of(base, "rpm")?;
    let before = Listing::of(scratch.root())?;
    let (root, package) = (scratch.root().display().to_string(), package.display().to_string());
    let rpm = ["rpm", "--root", &root, "--dbpath", "/tmp/rpm"];
    shell::run(&[&rpm[..], &["-i", "--nodeps", &package]].concat())?;
    shell::run(&["rpm", "-qp", "--requires", &package])?;
    scratch.run("plimsoll --version && test -d /usr/share/doc/plimsoll/examples/arrays")?;
    scratch.verdict(&format!("cd /root && plimsoll {QUICK}"))?;
    shell::run(&[&rpm[..], &["-e", "--nodeps", "plimsoll"]].concat())?;
    Listing::of(scratch.root())?.only_users_files_since(&before, &[])
}

fn tarball(output: &Path, release: &Release, base: &Path) -> Result<(), Failure> {
    let scratch = Scratch::of(base, "tarball")?;
    let version = release.semantic();
    let file = output.join(linux::tarball(release, Machine::Amd64));
    let to = scratch.root().join("opt").display().to_string();
    shell::run(&["tar", "-xzf", &file.display().to_string(), "-C", &to])?;
    scratch.run(&format!("/opt/plimsoll-{version}/bin/plimsoll --version"))?;
    scratch.verdict(&format!("cd /root && /opt/plimsoll-{version}/bin/plimsoll {QUICK}"))
}

/// Unpacks the image's only layer as a root folder, and runs the program there with the image's
/// user.
fn image(output: &Path, release: &Release, _: &Path) -> Result<(), Failure> {
    let file = output.join(oci::name(release));
    if !file.exists() {
        println!("skipped: not made");
        return Ok(());
    }
    let scratch = Scratch::empty("image")?;
    let layout = scratch.root().with_extension("layout");
    fs::create_dir_all(&layout).map_err(Failure::of)?;
    let to = layout.display().to_string();
    shell::run(&["tar", "-xf", &file.display().to_string(), "-C", &to])?;
    let layer = largest(&layout.join("blobs/sha256"))?.display().to_string();
    let root = scratch.root().display().to_string();
    shell::run(&["tar", "-xzf", &layer, "-C", &root])?;
    let _ = fs::remove_dir_all(&layout);
    if scratch.root().join("bin/sh").exists() {
        return Err(Failure::new("the image has a shell"));
    }
    let words = ["/usr/bin/plimsoll", "quick", "/data", "--size", "16MiB", "--duration", "10s"];
    scratch.verdict_as(&["--userspec=65532:65532"], &words)
}

/// The largest file in a folder.
fn largest(folder: &Path) -> Result<PathBuf, Failure> {
    let entries = fs::read_dir(folder).map_err(Failure::of)?.flatten();
    let largest = entries.max_by_key(|entry| entry.metadata().map_or(0, |data| data.len()));
    largest.map(|entry| entry.path()).ok_or_else(|| Failure::new("the image has no blobs"))
}

/// Creates a virtual environment that installs only from the folder of packages.
fn wheel(output: &Path, _: &Release, _: &Path) -> Result<(), Failure> {
    let scratch = Scratch::empty("wheel")?;
    let (root, output) = (scratch.root().display(), output.display());
    shell::run(&["python3", "-m", "venv", &root.to_string()])?;
    let before = Listing::of(scratch.root())?;
    let install = format!("{root}/bin/pip install -q --no-index --find-links {output} plimsoll");
    shell::run(&["sh", "-c", &install])?;
    scratch::verdict_of(&["sh", "-c", &format!("cd {root} && bin/plimsoll {QUICK}")])?;
    shell::run(&["sh", "-c", &format!("{root}/bin/pip uninstall -q -y plimsoll")])?;
    Listing::of(scratch.root())?.only_users_files_since(&before, &["plimsoll-quick"])
}

/// Tries the Debian package for another processor, with its program under an emulator.
fn arm(output: &Path, release: &Release, _: &Path) -> Result<(), Failure> {
    let package = output.join(deb::name(release, Machine::Arm64));
    if !package.exists() {
        println!("skipped: not made");
        return Ok(());
    }
    if !shell::installed("qemu-aarch64-static") {
        println!("skipped: apt-get install qemu-user-static");
        return Ok(());
    }
    let scratch = Scratch::empty("arm")?;
    let (root, package) = (scratch.root().display().to_string(), package.display().to_string());
    shell::run(&["dpkg-deb", "-x", &package, &root])?;
    let program = format!("{root}/usr/bin/plimsoll");
    let run = format!("qemu-aarch64-static -L /usr/aarch64-linux-gnu {program}");
    shell::run(&["sh", "-c", &format!("{run} --version")])?;
    scratch::verdict_of(&["sh", "-c", &format!("cd {root} && {run} {QUICK}")])
}
