//! Exchange Management Shell scripts: the group, its servers, databases and copies.

use std::fmt::Write as _;

use super::{DATABASES, Document, TimeSpan, VOLUMES, paths};
use crate::{Database, Group, Provision};

/// One script per group.
pub(super) fn documents(provision: &Provision) -> Vec<Document> {
    let mut documents = Vec::new();
    for group in &provision.groups {
        let name = format!("{}.ps1", group.name);
        documents.push(Document::written(name, |text| write(provision, group, text)).for_windows());
    }
    documents
}

fn write(provision: &Provision, group: &Group, text: &mut String) -> std::fmt::Result {
    if provision.needs.copies {
        writeln!(text, "param(")?;
        writeln!(text, "    [Parameter(Mandatory = $true)] [string] $WitnessServer,")?;
        writeln!(text, "    [Parameter(Mandatory = $true)] [string] $WitnessDirectory")?;
        writeln!(text, ")")?;
    }
    writeln!(text, "$ErrorActionPreference = 'Stop'")?;
    if provision.needs.copies {
        write_group(provision, group, text)?;
    }
    writeln!(text)?;
    for database in &group.databases {
        write_database(provision, database, text)?;
    }
    for database in group.databases.iter().filter(|_| provision.needs.copies) {
        write_copies(provision, database, text)?;
    }
    if provision.needs.build.circular_logging {
        writeln!(text, "\n# Last: adding copies is refused while logs are circular.")?;
        for database in &group.databases {
            let name = quoted(&database.name);
            writeln!(text, "Set-MailboxDatabase -Identity {name} -CircularLoggingEnabled $true")?;
        }
    }
    Ok(())
}

fn write_group(provision: &Provision, group: &Group, text: &mut String) -> std::fmt::Result {
    let build = &provision.needs.build;
    let name = quoted(&group.name);
    write!(text, "New-DatabaseAvailabilityGroup -Name {name} -WitnessServer $WitnessServer ")?;
    write!(text, "-WitnessDirectory $WitnessDirectory ")?;
    write!(text, "-DatabaseAvailabilityGroupIpAddresses ([System.Net.IPAddress]::None)")?;
    if build.group_file_system {
        let file_system = if build.file_system == "ReFS" { "ReFS" } else { "NTFS" };
        write!(text, " -FileSystem {file_system}")?;
    }
    writeln!(text)?;
    let (volumes, databases) = (quoted(VOLUMES), quoted(DATABASES));
    let per_volume = provision.needs.wish.databases_per_volume;
    let reseed = truth(provision.needs.spare_volumes.first > 0);
    write!(
        text,
        "Set-DatabaseAvailabilityGroup -Identity {name} -AutoDagVolumesRootFolderPath {volumes} "
    )?;
    write!(text, "-AutoDagDatabasesRootFolderPath {databases} ")?;
    write!(
        text,
        "-AutoDagDatabaseCopiesPerVolume {per_volume} -AutoDagAutoReseedEnabled {reseed} "
    )?;
    let encrypted = truth(build.encryption == "BitLocker");
    if build.group_file_system {
        write!(text, "-AutoDagBitlockerEnabled {encrypted} ")?;
    }
    let manager = truth(build.replay_lag_manager);
    write!(text, "-ReplayLagManagerEnabled {manager} -ReplicationPort 64327")?;
    if provision.needs.wish.sites.len() > 1 {
        let compression = build.network_compression.word();
        write!(text, " -DatacenterActivationMode DagOnly -NetworkCompression {compression}")?;
    }
    writeln!(text, "\n")?;
    for server in &group.servers {
        let limits = server.limits;
        let server = quoted(&server.name);
        writeln!(
            text,
            "Add-DatabaseAvailabilityGroupServer -Identity {name} -MailboxServer {server}"
        )?;
        writeln!(
            text,
            "Set-MailboxServer -Identity {server} -MaximumActiveDatabases {} \
             -MaximumPreferredActiveDatabases {} -AutoDatabaseMountDial GoodAvailability",
            limits.most, limits.preferred
        )?;
    }
    Ok(())
}

fn write_database(
    provision: &Provision,
    database: &Database,
    text: &mut String,
) -> std::fmt::Result {
    let paths = paths(provision, &database.name);
    let name = quoted(&database.name);
    let server = database.copies.first().map_or("", |copy| copy.server.as_str());
    let server = quoted(server);
    let (file, log) = (quoted(&paths.file), quoted(&paths.log));
    write!(text, "New-MailboxDatabase -Name {name} -Server {server} ")?;
    writeln!(text, "-EdbFilePath {file} -LogFolderPath {log}")?;
    writeln!(text, "Mount-Database -Identity {name}")
}

fn write_copies(provision: &Provision, database: &Database, text: &mut String) -> std::fmt::Result {
    let build = &provision.needs.build;
    let name = quoted(&database.name);
    for (at, copy) in database.copies.iter().enumerate().skip(1) {
        let (server, preference) = (quoted(&copy.server), at + 1);
        write!(text, "Add-MailboxDatabaseCopy -Identity {name} -MailboxServer {server} ")?;
        write!(text, "-ActivationPreference {preference} -SeedingPostponed")?;
        if copy.lagged {
            let (replay, truncation) = (TimeSpan(build.replay_lag), TimeSpan(build.truncation_lag));
            write!(text, " -ReplayLagTime {replay} -TruncationLagTime {truncation}")?;
        }
        writeln!(text)?;
    }
    Ok(())
}

const fn truth(value: bool) -> &'static str {
    if value { "$true" } else { "$false" }
}

/// Quotes a text so that nothing in it is expanded. PowerShell accepts four more characters as the
/// closing quote.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    for symbol in text.chars() {
        if matches!(symbol, '\'' | '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}') {
            quoted.push(symbol);
        }
        quoted.push(symbol);
    }
    quoted.push('\'');
    quoted
}
