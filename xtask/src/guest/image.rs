//! Boot files for guests: Debian's newest kernel for virtual machines, and a small root file
//! system.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::failure::Failure;
use xtask::shell;

/// Debian package of the kernel.
const KERNEL: &str = "linux-image-cloud-amd64";

/// Kernel modules for a guest with a QEMU disk; file systems are built in.
pub(super) const OF_A_DISK: &str = "virtio_pci virtio_blk";

/// Files in a guest's root.
pub(super) struct Contents<'a> {
    /// Script in `xtask/guest` that the guest runs as its first program.
    pub(super) first: &'a str,
    /// Programs copied from this machine.
    pub(super) programs: &'a [&'a str],
    /// Kernel modules, separated by spaces.
    pub(super) modules: &'a str,
}

/// The folder that all guests share.
pub(super) fn folder() -> Result<PathBuf, Failure> {
    let folder = shell::root().join("target/guest");
    fs::create_dir_all(&folder)
        .map_err(|error| Failure::new(format!("{}: {error}", folder.display())))?;
    Ok(folder)
}

/// The folder with `boot` and `lib` of an unpacked kernel, which is fetched once.
pub(super) fn kernel(folder: &Path) -> Result<PathBuf, Failure> {
    let unpacked = folder.join("kernel");
    if unpacked.join("boot").exists() {
        return Ok(unpacked);
    }
    let depends = shell::capture(&["apt-cache", "depends", KERNEL])?;
    let mut lines = depends.lines();
    let package = lines.find_map(|line| line.trim().strip_prefix("Depends: "));
    let package = package.ok_or_else(|| Failure::new(format!("{KERNEL} depends on no kernel")))?;
    let mut fetch = Command::new("apt-get");
    run(fetch.args(["-qq", "download", package]).current_dir(folder))?;
    let entries = fs::read_dir(folder).map_err(Failure::of)?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    let archive = paths.find(|path| path.extension().is_some_and(|kind| kind == "deb"));
    let archive = archive.ok_or_else(|| Failure::new("no kernel was fetched"))?;
    run(Command::new("dpkg-deb").arg("-x").arg(archive).arg(&unpacked))?;
    Ok(unpacked)
}

/// Packs these contents and the libraries of the programs into an archive in `folder`; returns its
/// path.
pub(super) fn pack(
    folder: &Path,
    kernel: &Path,
    contents: &Contents<'_>,
) -> Result<PathBuf, Failure> {
    let script = format!(
        "set -e; kernel='{kernel}'; version=$(ls $kernel/lib/modules); cd '{folder}'; rm -rf root; \
         mkdir -p root/bin root/proc root/sys root/dev root/tmp root/mnt root/modules.d; \
         depmod -b $kernel $version; \
         modprobe -d $kernel -S $version --show-depends -a {modules} | grep ^insmod | \
         while read -r insmod module; do name=/modules.d/$(basename $module); \
         [ -e root$name ] || echo $name >> root/modules; cp $module root$name; done; \
         for program in /usr/bin/busybox {programs}; do \
         for file in $program $(ldd $program 2> /dev/null | grep -o '/[^ ]*'); \
         do mkdir -p root$(dirname $file); cp -Lu $file root$file; done; done; \
         cp root/usr/bin/busybox root/bin; cp '{top}/xtask/guest/{first}' root/init; \
         chmod +x root/init; cd root; find . | cpio --quiet -o -H newc > ../root.cpio; \
         rm -rf ../root",
        kernel = kernel.display(),
        folder = folder.display(),
        programs = contents.programs.join(" "),
        modules = contents.modules,
        first = contents.first,
        top = shell::root().display(),
    );
    run(Command::new("sh").args(["-c", &script]))?;
    Ok(folder.join("root.cpio"))
}

/// Runs a command with its output on the terminal.
pub(super) fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| Failure::new(format!("{command:?}: {error}")))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("{command:?} failed"))) }
}
