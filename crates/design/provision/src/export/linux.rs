//! Shell scripts for Linux: partition, RAID where volumes share disks, file system, mount.

use std::fmt::Write as _;

use units::{Bytes, plural};

use super::Document;
use crate::pool::Pool;
use crate::{Provision, Purpose, Server, Volume};
use plan::deployment::Raid;

/// Mount root of volumes; the test plan's default root.
pub(super) const ROOT: &str = "/mnt/mail";

/// One script per server.
pub(super) fn documents(provision: &Provision) -> Vec<Document> {
    let mut documents = Vec::new();
    for server in provision.groups.iter().flat_map(|group| &group.servers) {
        let name = format!("{}-linux.sh", server.name);
        documents.push(Document::written(name, |text| write(provision, server, text)));
    }
    documents
}

fn write(provision: &Provision, server: &Server, text: &mut String) -> std::fmt::Result {
    let pools = provision.pools(server);
    let joined: u32 = pools.iter().map(|(_, pool)| pool.disks()).sum();
    let disks = if pools.is_empty() { server.volumes.len() } else { joined as usize };
    let named = plural(disks as u64, "disk");
    writeln!(text, "#!/usr/bin/env bash")?;
    writeln!(text, "# Volumes of one server. ERASES the {named} in its arguments,")?;
    writeln!(text, "# in the order of the volumes, such as /dev/sdb /dev/sdc.")?;
    writeln!(text, "set -euo pipefail")?;
    writeln!(text, "root=${{MAIL_ROOT:-{ROOT}}}")?;
    writeln!(text, "disks=(\"$@\")")?;
    writeln!(text, "if [ \"${{#disks[@]}}\" -ne {disks} ]; then")?;
    writeln!(text, "    echo \"name {named}, not ${{#disks[@]}}\" >&2\n    exit 2\nfi")?;
    writeln!(text, "for disk in \"${{disks[@]}}\"; do")?;
    writeln!(text, "    if [ ! -b \"$disk\" ] || [ -n \"$(wipefs --no-act \"$disk\")\" ]; then")?;
    writeln!(
        text,
        "        echo \"$disk: no empty disk; if it is the right one, wipefs -a it\" >&2"
    )?;
    writeln!(text, "        exit 2\n    fi\ndone")?;
    let mut first = 0;
    for (purpose, pool) in pools {
        write_pool(*purpose, pool, first, text)?;
        first += pool.disks();
    }
    for (at, volume) in server.volumes.iter().enumerate() {
        write_volume(provision, server, volume, at, text)?;
    }
    Ok(())
}

/// Writes an array per group, starting at disk `first`, and a volume group of all of them. Mirrored
/// stripes form one array regardless of the number of groups.
fn write_pool(purpose: Purpose, pool: &Pool, first: u32, text: &mut String) -> std::fmt::Result {
    let (level, groups) = match pool.level {
        Raid::Raid10 => ("10", 1),
        Raid::Raid5 => ("5", pool.groups),
        Raid::Raid6 => ("6", pool.groups),
    };
    let members = pool.disks() / groups.max(1);
    let name = purpose.name();
    writeln!(text, "\narrays=()")?;
    for group in 0..groups {
        let from = first + group * members;
        writeln!(
            text,
            "mdadm --create /dev/md/{name}{group} --level={level} --raid-devices={members} \
             --chunk=256K \"${{disks[@]:{from}:{members}}}\""
        )?;
        writeln!(text, "arrays+=(/dev/md/{name}{group})")?;
    }
    writeln!(text, "pvcreate \"${{arrays[@]}}\"")?;
    writeln!(text, "vgcreate mail-{name} \"${{arrays[@]}}\"")
}

fn write_volume(
    provision: &Provision,
    server: &Server,
    volume: &Volume,
    at: usize,
    text: &mut String,
) -> std::fmt::Result {
    let name = &volume.name;
    writeln!(text, "\n# {name}: {}", volume.purpose.name())?;
    if let Some((databases, _)) = provision.pools(server).first() {
        let pools = &mut provision.pools(server).iter().map(|(purpose, _)| *purpose);
        let own = pools.find(|purpose| *purpose == volume.purpose);
        let group = own.unwrap_or(*databases).name();
        let mib = volume.size.0.div_ceil(Bytes::from_mib(1).0);
        writeln!(text, "lvcreate --yes --size {mib}m --name {name} mail-{group}")?;
        writeln!(text, "device=/dev/mail-{group}/{name}")?;
    } else {
        writeln!(text, "parted --script \"${{disks[{at}]}}\" mklabel gpt mkpart {name} 1MiB 100%")?;
        writeln!(text, "udevadm settle")?;
        writeln!(text, "device=$(lsblk -n -p -o NAME -l \"${{disks[{at}]}}\" | sed -n 2p)")?;
    }
    if provision.needs.build.encryption == "LUKS" {
        writeln!(text, "cryptsetup luksFormat \"$device\"\ncryptsetup open \"$device\" {name}")?;
        writeln!(text, "device=/dev/mapper/{name}")?;
    }
    let (file_system, flag) = match provision.needs.build.file_system.as_str() {
        "ext4" => ("ext4", "-F"),
        "btrfs" => ("btrfs", "-f"),
        // NTFS and ReFS are not created here; XFS serves the same purpose.
        _ => ("xfs", "-f"),
    };
    writeln!(text, "mkfs.{file_system} {flag} -L {name} \"$device\"")?;
    writeln!(text, "mkdir -p \"$root\"/{name}")?;
    writeln!(text, "mount -o noatime \"$device\" \"$root\"/{name}")?;
    // An encrypted volume is opened manually or with a key file of the site's choice.
    if provision.needs.build.encryption != "LUKS" {
        let line = format!("LABEL={name} $root/{name} {file_system} noatime 0 2");
        writeln!(text, "echo \"{line}\" >> /etc/fstab")?;
    }
    for database in &volume.databases {
        writeln!(text, "mkdir \"$root\"/{name}/{}", quoted(database))?;
    }
    Ok(())
}

/// Quotes a word so that Linux shells expand nothing in it.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
