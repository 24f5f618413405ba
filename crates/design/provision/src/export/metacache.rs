//! Exchange Management Shell scripts that let a group use SSDs for `MetaCache` databases, by the
//! product's own `Manage-MetaCacheDatabase.ps1` (S-MCDB).

use std::fmt::Write as _;

use units::plural;

use super::Document;
use super::powershell::quoted;
use crate::{Group, MetaCacheDisks, Provision};

/// One script per group; empty without SSDs.
pub(super) fn documents(provision: &Provision) -> Vec<Document> {
    let Some(disks) = provision.needs.metacache else {
        return Vec::new();
    };
    let mut documents = Vec::new();
    for group in &provision.groups {
        let name = format!("{}-metacache.ps1", group.name);
        documents.push(Document::written(name, |text| write(group, disks, text)).for_windows());
    }
    documents
}

/// The four steps of the vendor's article, in its order.
fn write(group: &Group, disks: MetaCacheDisks, text: &mut String) -> std::fmt::Result {
    let name = quoted(&group.name);
    write_head(disks, text)?;
    let (databases, members) = (group.databases.len(), group.servers.len());
    let copies = group.databases.first().map_or(0, |first| first.copies.len());
    writeln!(
        text,
        "\nSet-DatabaseAvailabilityGroup -Identity {name} -AutoDagTotalNumberOfDatabases \
         {databases} -AutoDagDatabaseCopiesPerDatabase {copies} -AutoDagTotalNumberOfServers \
         {members}"
    )?;
    let ssds = disks.ssds;
    writeln!(
        text,
        "Manage-MCDB -DagName {name} -ConfigureMCDBPrerequisite -SSDSizeInBytes $SSDSizeInBytes \
         -SSDCountPerServer {ssds}"
    )?;
    write_pause("Wait until Active Directory has replicated to every member", text)?;
    for server in &group.servers {
        let server = quoted(&server.name);
        writeln!(text, "Manage-MCDB -DagName {name} -ServerAllowMCDB:$true -ServerName {server}")?;
        writeln!(
            text,
            "Manage-MCDB -DagName {name} -ConfigureMCDBOnServer -ServerName {server} \
             -SSDSizeInBytes $SSDSizeInBytes"
        )?;
    }
    writeln!(
        text,
        "\n# StorageOffline is right until here: a cache is made when its database fails over."
    )?;
    write_pause("Every database fails over now, server after server", text)?;
    for server in &group.servers {
        let server = quoted(&server.name);
        writeln!(
            text,
            "Manage-MCDB -DagName {name} -ServerAllowMCDB:$true -ServerName {server} \
             -ForceFailover $true"
        )?;
    }
    writeln!(text, "Get-MailboxDatabaseCopyStatus '*' | Format-Table Name, MetaCacheDatabaseStatus")
}

/// Prerequisites, and the parameters of the script.
fn write_head(disks: MetaCacheDisks, text: &mut String) -> std::fmt::Result {
    let MetaCacheDisks { ssds, ssd } = disks;
    let empty = plural(ssds as u64, "empty SSD");
    writeln!(
        text,
        "# MetaCache databases. Run this in the Exchange Management Shell of a member when\n\
         # every copy is healthy and AutoReseed works. Each member needs {empty} of the\n\
         # same size that Windows shows with MediaType SSD. Manage-MCDB FORMATS them. On Windows\n\
         # Server 2019 it may see those of other members too: read the vendor's article\n\
         # \"MCDB status is Offline and SSDs aren't formatted in Exchange Server 2019\" first."
    )?;
    writeln!(text, "param(")?;
    writeln!(text, "    # Size of an SSD, as Get-PhysicalDisk shows it.")?;
    writeln!(text, "    [long] $SSDSizeInBytes = {}", ssd.0)?;
    writeln!(text, ")")?;
    writeln!(text, "$ErrorActionPreference = 'Stop'")?;
    writeln!(text, ". (Join-Path $exscripts 'Manage-MetaCacheDatabase.ps1')")
}

/// Writes a pause until the administrator presses Enter.
fn write_pause(why: &str, text: &mut String) -> std::fmt::Result {
    writeln!(text, "\nRead-Host '{why}; press Enter' | Out-Null")
}
