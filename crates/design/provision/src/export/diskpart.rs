//! Scripts for diskpart: one partition per disk, mounted under the volumes' folder and under the
//! folder of each database on it; plus the steps before and after, for `PowerShell`.

use std::fmt::Write as _;

use super::powershell::quoted;
use super::{Document, Paths, VOLUMES, paths};
use crate::{Provision, Purpose, Server, Volume};

/// Two scripts per server.
pub(super) fn documents(provision: &Provision) -> Vec<Document> {
    let mut documents = Vec::new();
    for server in provision.groups.iter().flat_map(|group| &group.servers) {
        let disks = Document::written(format!("{}-diskpart.txt", server.name), |text| {
            write(provision, server, text)
        });
        let around = Document::written(format!("{}-volumes.ps1", server.name), |text| {
            write_around(provision, server, text)
        });
        documents.extend([disks.for_windows(), around.for_windows()]);
    }
    documents
}

/// Folders to mount at, diskpart itself, then what diskpart cannot do.
fn write_around(provision: &Provision, server: &Server, text: &mut String) -> std::fmt::Result {
    let script = quoted(&format!("{}-diskpart.txt", server.name));
    writeln!(text, "$ErrorActionPreference = 'Stop'")?;
    for volume in &server.volumes {
        for database in &volume.databases {
            write_folder(&database_mount(provision, volume, database), text)?;
        }
        write_folder(&mount_of(volume), text)?;
    }
    writeln!(text, "\n# ERASES the disks that it names.")?;
    writeln!(text, "diskpart /s (Join-Path $PSScriptRoot {script})")?;
    writeln!(text, "if ($LASTEXITCODE -ne 0) {{ throw 'diskpart has failed' }}\n")?;
    for volume in &server.volumes {
        if provision.needs.build.file_system == "ReFS" {
            let mount = quoted(&mount_of(volume));
            writeln!(text, "Set-FileIntegrity -FileName {mount} -Enable $false")?;
        }
    }
    for (database, _) in server.databases() {
        let Paths { folder, log, .. } = paths(provision, database);
        write_folder(&format!("{folder}\\{database}.db"), text)?;
        write_folder(&log, text)?;
    }
    Ok(())
}

fn write_folder(path: &str, text: &mut String) -> std::fmt::Result {
    let path = quoted(path);
    writeln!(text, "New-Item -ItemType Directory -Force -Path {path} | Out-Null")
}

/// Mount point of a volume for one of its databases.
fn database_mount(provision: &Provision, volume: &Volume, database: &str) -> String {
    let paths = paths(provision, database);
    match volume.purpose {
        Purpose::Logs => paths.log_mount,
        _ => paths.folder,
    }
}

/// Mount point of a volume. A volume mounted under the volumes' folder without a database counts as
/// a spare and may be formatted, so the restore volume is mounted elsewhere.
fn mount_of(volume: &Volume) -> String {
    match volume.purpose {
        Purpose::Restore => "C:\\ExchangeRestore".to_owned(),
        _ => format!("{VOLUMES}\\{}", volume.name),
    }
}

fn write(provision: &Provision, server: &Server, text: &mut String) -> std::fmt::Result {
    let file_system = match provision.needs.build.file_system.as_str() {
        "ReFS" => "refs",
        _ => "ntfs",
    };
    writeln!(text, "rem {}: diskpart /s {}-diskpart.txt", server.name, server.name)?;
    writeln!(
        text,
        "rem This ERASES the disks below. Compare their numbers with `list disk` first."
    )?;
    writeln!(text, "rem {}-volumes.ps1 makes the mount folders and runs this.", server.name)?;
    for volume in &server.volumes {
        write_volume(provision, volume, file_system, text)?;
    }
    if !server.metacache.is_empty() {
        writeln!(
            text,
            "\nrem The SSDs for MetaCache databases stay empty: Manage-MCDB makes their volumes."
        )?;
    }
    Ok(())
}

fn write_volume(
    provision: &Provision,
    volume: &Volume,
    file_system: &str,
    text: &mut String,
) -> std::fmt::Result {
    let Volume { name, disk, .. } = volume;
    writeln!(text, "\nrem {name}: {}", volume.purpose.name())?;
    writeln!(text, "select disk {disk}")?;
    writeln!(text, "attributes disk clear readonly noerr")?;
    writeln!(text, "online disk noerr")?;
    writeln!(text, "clean")?;
    writeln!(text, "convert gpt")?;
    writeln!(text, "create partition primary")?;
    writeln!(text, "format fs={file_system} unit=64K label=\"{name}\" quick")?;
    for database in &volume.databases {
        writeln!(text, "assign mount=\"{}\"", database_mount(provision, volume, database))?;
    }
    // Last, so that performance counters show the databases' mounts.
    writeln!(text, "assign mount=\"{}\"", mount_of(volume))
}
