//! Scripts for diskpart: one partition per disk, mounted under the volumes' folder and under the
//! folder of each database on it.

use std::fmt::Write as _;

use super::{DATABASES, Document, VOLUMES};
use crate::provision::{Provision, Purpose, Server, Volume};

/// One script per server.
pub fn documents(provision: &Provision) -> Vec<Document> {
    let servers = provision.groups.iter().flat_map(|group| &group.servers);
    servers.map(|server| document(provision, server)).collect()
}

fn document(provision: &Provision, server: &Server) -> Document {
    let mut text = String::new();
    write(provision, server, &mut text).expect("invariant: writing to a string cannot fail");
    Document {
        name: format!("{}-diskpart.txt", server.name),
        text: text.replace('\n', "\r\n"),
    }
}

fn write(provision: &Provision, server: &Server, text: &mut String) -> std::fmt::Result {
    let file_system = match provision.needs.build.file_system.as_str() {
        "ReFS" => "refs",
        _ => "ntfs",
    };
    writeln!(
        text,
        "rem {}: diskpart /s {}-diskpart.txt",
        server.name, server.name
    )?;
    writeln!(
        text,
        "rem This ERASES the disks below. Compare their numbers with `list disk` first."
    )?;
    writeln!(
        text,
        "rem Mount folders must be there and empty: create them before."
    )?;
    if file_system == "refs" {
        writeln!(
            text,
            "rem diskpart cannot turn integrity streams off: run afterwards, per volume,"
        )?;
        writeln!(
            text,
            "rem Set-FileIntegrity -FileName FOLDER -Enable $false"
        )?;
    }
    for volume in &server.volumes {
        write_volume(volume, file_system, text)?;
    }
    Ok(())
}

fn write_volume(volume: &Volume, file_system: &str, text: &mut String) -> std::fmt::Result {
    let Volume { name, disk, .. } = volume;
    writeln!(text, "\nrem {name}: {}", volume.purpose.name())?;
    writeln!(text, "select disk {disk}")?;
    writeln!(text, "attributes disk clear readonly noerr")?;
    writeln!(text, "online disk noerr")?;
    writeln!(text, "clean")?;
    writeln!(text, "convert gpt")?;
    writeln!(text, "create partition primary")?;
    writeln!(
        text,
        "format fs={file_system} unit=64K label=\"{name}\" quick"
    )?;
    for database in &volume.databases {
        writeln!(text, "assign mount=\"{DATABASES}\\{database}\"")?;
    }
    // Last, so that performance counters show the databases' mounts. What is mounted under the
    // volumes' folder without a database counts as a spare and may be formatted, so the restore
    // volume is not.
    match volume.purpose {
        Purpose::Restore => writeln!(text, "assign mount=\"C:\\ExchangeRestore\""),
        _ => writeln!(text, "assign mount=\"{VOLUMES}\\{name}\""),
    }
}
