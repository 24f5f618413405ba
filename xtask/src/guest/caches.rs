//! Disks whose caches are on, off and believed to be otherwise, in a machine of QEMU's: the program
//! is held to what their makers' words are there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use xtask::failure::Failure;
use xtask::shell;

/// Programs that are needed, and the packages that have them.
const TOOLS: [(&str, &str); 5] = [
    ("/usr/bin/qemu-system-x86_64", "qemu-system-x86"),
    ("/usr/bin/busybox", "busybox-static"),
    ("/usr/bin/cpio", "cpio"),
    ("/usr/sbin/depmod", "kmod"),
    ("/usr/sbin/mkfs.ext4", "e2fsprogs"),
];

/// The package of the newest kernel for machines such as this one.
const KERNEL: &str = "linux-image-cloud-amd64";

/// Folders of modules that no disk needs; without them the guest fits into its memory.
const UNUSED: [&str; 6] =
    ["net", "sound", "drivers/net", "drivers/gpu", "drivers/infiniband", "arch"];

/// Expected findings for a disk: the case, the check, and its outcome.
const EXPECTED: [(&str, &str, &str); 14] = [
    ("scsi-on", "write-cache", "fail"),
    ("scsi-on", "cache-views", "pass"),
    ("scsi-off", "write-cache", "pass"),
    ("scsi-off", "cache-views", "pass"),
    ("scsi-debug", "write-cache", "warning"),
    ("scsi-debug", "cache-views", "pass"),
    ("nvme-on", "write-cache", "warning"),
    ("nvme-on", "cache-views", "pass"),
    ("nvme-off", "write-cache", "pass"),
    ("nvme-off", "cache-views", "warning"),
    ("kernel-told-through", "write-cache", "fail"),
    ("kernel-told-through", "cache-views", "fail"),
    ("kernel-told-back", "write-cache", "pass"),
    ("kernel-told-back", "cache-views", "warning"),
];

/// Boots the guest and compares.
pub(crate) fn caches() -> Result<(), Failure> {
    if !is_equipped() {
        return Ok(());
    }
    shell::run(&["cargo", "build", "-q", "--release", "-p", "plimsoll"])?;
    let folder = shell::root().join("target/guest");
    fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    let kernel = kernel(&folder)?;
    pack(&folder, &kernel)?;
    let said = boot(&folder, &kernel)?;
    let wrong = differences(&said);
    for (case, check, outcome) in EXPECTED {
        println!("{case:<20} {check:<12} {outcome}");
    }
    if wrong.is_empty() {
        println!("all {} as expected", EXPECTED.len());
        return Ok(());
    }
    Err(Failure::new(format!("{}\nthe guest said:\n{said}", wrong.join("\n"))))
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.display()))
}

/// Whether everything is installed, after an attempt to install it; reports missing tools.
fn is_equipped() -> bool {
    let lacking = || -> Vec<&str> {
        let absent = TOOLS.iter().filter(|(path, _)| !Path::new(path).exists());
        absent.map(|(_, package)| *package).collect()
    };
    if !lacking().is_empty() {
        let install = ["apt-get", "-qq", "-y", "--no-install-recommends", "install"];
        // A failure here shows in the check that follows.
        let _ = shell::capture(&["apt-get", "-qq", "update"])
            .and_then(|_| shell::capture(&[&install[..], &lacking()].concat()));
    }
    let lacking = lacking();
    if !lacking.is_empty() {
        println!(
            "skipped: the guest needs packages that are not there and cannot be installed here; on \
             Debian, as root: apt-get install {}",
            lacking.join(" ")
        );
    }
    lacking.is_empty()
}

/// The folder with `boot` and `lib` of an unpacked kernel; it is fetched once.
fn kernel(folder: &Path) -> Result<PathBuf, Failure> {
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
    let entries = fs::read_dir(folder).map_err(|error| failed(folder, &error))?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    let archive = paths.find(|path| path.extension().is_some_and(|kind| kind == "deb"));
    let archive = archive.ok_or_else(|| Failure::new("no kernel was fetched"))?;
    run(Command::new("dpkg-deb").arg("-x").arg(archive).arg(&unpacked))?;
    Ok(unpacked)
}

/// Packs what the guest begins with: a shell, the kernel's modules, and the program with its
/// libraries.
fn pack(folder: &Path, kernel: &Path) -> Result<(), Failure> {
    let root = folder.join("root");
    let script = format!(
        "set -e; rm -rf {root}; mkdir -p {root}/bin {root}/lib {root}/proc {root}/sys {root}/dev \
         {root}/tmp {root}/mnt; cp /usr/bin/busybox {root}/bin; cp -r {kernel}/lib/modules \
         {root}/lib; cd {root}/lib/modules/*/kernel; rm -rf {unused}; cd {top}; \
         depmod -b {root} $(ls {root}/lib/modules); cp target/release/plimsoll {root}/bin; \
         strip {root}/bin/plimsoll; for library in $(ldd {root}/bin/plimsoll | grep -o '/[^ ]*'); \
         do mkdir -p {root}$(dirname $library); cp -L $library {root}$library; done; \
         cp xtask/guest/init.sh {root}/init; chmod +x {root}/init; cd {root}; \
         find . | cpio --quiet -o -H newc | gzip -1 > ../root.gz",
        root = root.display(),
        kernel = kernel.display(),
        unused = UNUSED.join(" "),
        top = shell::root().display(),
    );
    run(Command::new("sh").args(["-c", &script]))
}

/// What the guest prints until it powers off.
fn boot(folder: &Path, kernel: &Path) -> Result<String, Failure> {
    let script = "set -e; for disk in a b c d; do truncate -s 128M $disk.img; \
                  mkfs.ext4 -q -F $disk.img; done; timeout 300 qemu-system-x86_64 -M q35 -cpu max \
                  -m 1024 -nographic -no-reboot -kernel \"$1\"/boot/vmlinuz-* -initrd root.gz \
                  -append 'console=ttyS0 quiet panic=-1' -device virtio-scsi-pci,id=bus \
                  -drive file=a.img,if=none,id=a,format=raw \
                  -device scsi-hd,bus=bus.0,drive=a,write-cache=on \
                  -drive file=b.img,if=none,id=b,format=raw \
                  -device scsi-hd,bus=bus.0,drive=b,write-cache=off \
                  -drive file=c.img,if=none,id=c,format=raw \
                  -device nvme,drive=c,serial=c,write-cache=on \
                  -drive file=d.img,if=none,id=d,format=raw \
                  -device nvme,drive=d,serial=d,write-cache=off";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "boot"]).arg(kernel).current_dir(folder).stdin(Stdio::null());
    let output = shell.output().map_err(|error| failed(folder, &error))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| Failure::new(format!("{command:?}: {error}")))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("{command:?} failed"))) }
}

/// Expected findings that were not reported.
fn differences(said: &str) -> Vec<String> {
    let (mut case, mut found) = ("", Vec::new());
    for line in said.lines().map(str::trim) {
        if let Some(named) = line.strip_prefix("case ") {
            case = named.split(':').next().unwrap_or_default();
        } else if let Some((check, outcome)) =
            line.strip_prefix("found ").and_then(|words| words.split_once(' '))
        {
            found.push((case, check, outcome));
        }
    }
    let absent = EXPECTED.iter().filter(|expected| !found.contains(expected));
    absent.map(|(case, check, outcome)| format!("{case}: {check} is not {outcome}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{EXPECTED, differences};

    #[test]
    fn a_case_that_is_missing_or_otherwise_is_named() {
        let mut said = String::new();
        for (case, check, outcome) in EXPECTED {
            said.extend(["case ", case, ": write back\r\nfound ", check, " ", outcome, "\r\n"]);
        }
        assert!(differences(&said).is_empty());
        let other = said.replacen("write-cache fail", "write-cache pass", 1);
        assert_eq!(differences(&other), ["scsi-on: write-cache is not fail"]);
        assert_eq!(differences("").len(), EXPECTED.len());
    }
}
