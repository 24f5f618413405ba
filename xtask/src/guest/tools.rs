//! Third-party programs that guests need.

use std::path::Path;

use xtask::shell;

use crate::windows::Tool;

/// Programs that every guest needs, and their packages in Debian.
const TOOLS: [Tool; 5] = [
    ("/usr/bin/qemu-system-x86_64", "qemu-system-x86"),
    ("/usr/bin/busybox", "busybox-static"),
    ("/usr/bin/cpio", "cpio"),
    ("/usr/sbin/depmod", "kmod"),
    ("/usr/sbin/mkfs.ext4", "e2fsprogs"),
];

/// Whether these programs and `more` are installed, after an attempt to install them; reports
/// missing ones.
pub(super) fn is_equipped(more: &[Tool]) -> bool {
    let lacking = || -> Vec<&str> {
        let absent = TOOLS.iter().chain(more).filter(|(path, _)| !Path::new(path).exists());
        absent.map(|(_, package)| *package).collect()
    };
    if !lacking().is_empty() {
        let install = ["apt-get", "-qq", "-y", "--no-install-recommends", "install"];
        // If this fails, the next check finds the packages missing.
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
