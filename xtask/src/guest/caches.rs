//! Checks the program's findings on QEMU disks with write caches on or off, including disks about
//! which the kernel is wrong.

use std::path::Path;
use std::process::{Command, Stdio};

use xtask::failure::Failure;
use xtask::shell;

use super::image::{folder, kernel, run};
use super::tools::is_equipped;

/// Folders of kernel modules that no disk needs; without them the guest fits into its memory.
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

/// Boots the guest and compares the program's findings with [`EXPECTED`].
pub(crate) fn caches() -> Result<(), Failure> {
    if !is_equipped(&[]) {
        return Ok(());
    }
    shell::run(&["cargo", "build", "-q", "--release", "-p", "plimsoll"])?;
    let folder = folder()?;
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

/// Packs the guest's initial file system: a shell, the kernel's modules, and the program with its
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

/// Boots the guest and returns its output until it powers off.
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
    let output = shell.output().map_err(Failure::of)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
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
