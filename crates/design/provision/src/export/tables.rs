//! The tables that the official calculator exports, and that its scripts and other tools read.
//!
//! Column names and their order follow the exports published in the repository
//! dsccommunity/ExchangeDsc (v6.6 and v7.6); the second row carries the schema and the version.

use csv::{QuoteStyle, Terminator, WriterBuilder};

use super::{DATABASES, Document, TimeSpan, VOLUMES, paths};
use crate::{Group, Provision, Purpose, Requirements};

/// Generations of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// `DBFilePath`.
    Six,
    /// `EDBFilePath`.
    Seven,
}

impl Version {
    const fn number(self) -> &'static str {
        match self {
            Self::Six => "6.6",
            Self::Seven => "7.6",
        }
    }
}

/// Marks a group without an administrative access point.
const NO_ACCESS_POINT: &str = "255.255.255.255";

/// Where copies send logs.
const REPLICATION_PORT: &str = "64327";

/// The four tables; without copies, only the two that do not concern them.
pub(super) fn documents(provision: &Provision, version: Version) -> Vec<Document> {
    let mut documents = vec![
        document("Servers.csv", SERVERS, version, servers(provision)),
        databases(provision, version),
    ];
    if provision.needs.copies {
        documents.push(document("MailboxDatabaseCopies.csv", COPIES, version, copies(provision)));
        documents.push(document("DAGInfo.csv", GROUPS, version, groups(provision)));
    }
    documents
}

const SERVERS: &[&str] = &[
    "ServerName",
    "StartDrive",
    "DbPerVolume",
    "AutoReseedVolumes",
    "DbLogIsolation",
    "VolumesRootFolder",
    "DatabasesRootFolder",
    "DbMap",
];

fn servers(provision: &Provision) -> Vec<Vec<String>> {
    let needs = &provision.needs;
    let mut rows = Vec::new();
    for server in provision.groups.iter().flat_map(|group| &group.servers) {
        let map: Vec<&str> = server.databases().map(|(name, _)| name).collect();
        rows.push(vec![
            server.name.clone(),
            server.volumes.first().map_or(1, |volume| volume.disk).to_string(),
            needs.wish.databases_per_volume.to_string(),
            needs.spare_volumes.of(server.site, server.only_lagged).to_string(),
            u8::from(needs.log_volume.is_some()).to_string(),
            VOLUMES.to_owned(),
            DATABASES.to_owned(),
            map.join(","),
        ]);
    }
    rows
}

/// Name of a column and its value in every row.
const SETTINGS: &[(&str, &str)] = &[
    ("OAB", "\\Default Offline Address Book"),
    ("RetainDeletedItemsUntilBackup", "True"),
    ("IndexEnabled", "True"),
    ("CircularLoggingEnabled", ""),
    ("ProhibitSendReceiveQuota", "Unlimited"),
    ("ProhibitSendQuota", "Unlimited"),
    ("IssueWarningQuota", "Unlimited"),
    ("AllowFileRestore", "True"),
    ("BackgroundDatabaseMaintenance", "True"),
    ("IsExcludedFromProvisioning", "False"),
    ("IsSuspendedFromProvisioning", "False"),
    ("MailboxRetention", "30.00:00:00"),
    ("MountAtStartup", "True"),
    ("EventHistoryRetentionPeriod", "7.00:00:00"),
    ("AutoDagExcludeFromMonitoring", "False"),
    ("CalendarLoggingQuota", "1GB"),
    ("IsExcludedFromInitialProvisioning", "False"),
    ("DataMoveReplicationConstraint", ""),
    ("RecoverableItemsQuota", "30"),
    ("RecoverableItemsWarningQuota", "20"),
];

fn databases(provision: &Provision, version: Version) -> Document {
    let path = match version {
        Version::Six => "DBFilePath",
        Version::Seven => "EDBFilePath",
    };
    let first = ["Name", "Server", path, "LogFolderPath", "DeletedItemRetention", "GC"];
    let settings = SETTINGS.iter().map(|(column, _)| *column);
    let columns: Vec<&str> = first.into_iter().chain(settings).collect();
    let needs = &provision.needs;
    let retention = TimeSpan(needs.build.deleted_item_retention).to_string();
    let all = provision.groups.iter().flat_map(|group| &group.databases);
    let rows = all.map(|database| {
        let paths = paths(provision, &database.name);
        let server = database.copies.first().map_or("", |copy| copy.server.as_str());
        let mut row = vec![database.name.clone(), server.to_owned(), paths.file, paths.log];
        row.extend([retention.clone(), String::new()]);
        row.extend(SETTINGS.iter().map(|(column, usual)| setting(needs, column, usual).to_owned()));
        row
    });
    document("MailboxDatabases.csv", &columns, version, rows.collect())
}

/// The database's value in a column of [`SETTINGS`].
fn setting<'a>(needs: &Requirements, column: &str, usual: &'a str) -> &'a str {
    match column {
        "CircularLoggingEnabled" if needs.build.circular_logging => "TRUE",
        "CircularLoggingEnabled" => "FALSE",
        "DataMoveReplicationConstraint" if needs.copies => "SecondCopy",
        "DataMoveReplicationConstraint" => "None",
        _ => usual,
    }
}

const COPIES: &[&str] =
    &["GC", "GC2", "Name", "Server", "ActivationPreference", "ReplayLagTime", "TruncationLagTime"];

/// One row per copy after the first.
fn copies(provision: &Provision) -> Vec<Vec<String>> {
    let build = &provision.needs.build;
    let mut rows = Vec::new();
    for database in provision.groups.iter().flat_map(|group| &group.databases) {
        for (at, copy) in database.copies.iter().enumerate().skip(1) {
            let (replay, truncation) = if copy.lagged {
                (build.replay_lag, build.truncation_lag)
            } else {
                (units::Nanos::ZERO, units::Nanos::ZERO)
            };
            rows.push(vec![
                String::new(),
                String::new(),
                database.name.clone(),
                copy.server.clone(),
                (at + 1).to_string(),
                TimeSpan(replay).to_string(),
                TimeSpan(truncation).to_string(),
            ]);
        }
    }
    rows
}

const GROUPS: &[&str] = &[
    "DAGName",
    "DAGIps",
    "WitnessServer",
    "WitnessDir",
    "AltWitnessServer",
    "AltWitnessDir",
    "Site1Servers",
    "Site2Servers",
    "GC",
    "GC2",
    "DACMode",
    "MaximumActiveDatabasesSite1",
    "MaximumPreferredActiveDatabasesSite1",
    "MaximumActiveDatabasesSite2",
    "MaximumPreferredActiveDatabasesSite2",
    "AutoDagVolumesRootFolderPath",
    "AutoDagDatabasesRootFolderPath",
    "AutoDagDatabaseCopiesPerVolume",
    "ManualDagnetworkConfiguration",
    "ReplayLagManagerEnabled",
    "NetworkEncryption",
    "NetworkCompression",
    "ReplicationPort",
    "AutoDatabaseMountDial",
    "LogIsolation",
];

fn groups(provision: &Provision) -> Vec<Vec<String>> {
    provision.groups.iter().map(|group| group_row(&provision.needs, group)).collect()
}

fn group_row(needs: &Requirements, group: &Group) -> Vec<String> {
    let mut row = vec![group.name.clone(), NO_ACCESS_POINT.to_owned()];
    row.extend(["", "", "", ""].map(str::to_owned));
    for site in 0..2 {
        let here = group.servers.iter().filter(|server| server.site == site);
        row.push(here.map(|server| server.name.as_str()).collect::<Vec<_>>().join(","));
    }
    row.extend([String::new(), String::new()]);
    row.push(if needs.wish.sites.len() > 1 { "DagOnly" } else { "Off" }.to_owned());
    for site in 0..2 {
        let limits = group.limits_in(site);
        row.push(limits.map_or_else(String::new, |limits| limits.most.to_string()));
        row.push(limits.map_or_else(String::new, |limits| limits.preferred.to_string()));
    }
    row.extend([VOLUMES.to_owned(), DATABASES.to_owned()]);
    row.push(needs.wish.databases_per_volume.to_string());
    let manager = if needs.build.replay_lag_manager { "True" } else { "False" };
    let compression = needs.build.network_compression.word();
    let network = ["False", manager, "Disabled", compression, REPLICATION_PORT];
    row.extend(network.map(str::to_owned));
    row.push("GoodAvailability".to_owned());
    let mut volumes = group.servers.iter().flat_map(|server| &server.volumes);
    let has_log_volumes = volumes.any(|volume| volume.purpose == Purpose::Logs);
    row.push(u8::from(has_log_volumes).to_string());
    row
}

/// Headers, version row and rows, as spreadsheets write them.
fn document(name: &str, columns: &[&str], version: Version, rows: Vec<Vec<String>>) -> Document {
    let mut writer = WriterBuilder::new()
        .quote_style(QuoteStyle::Always)
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    let mut second = vec![String::new(); columns.len()];
    for (field, text) in second.iter_mut().zip(["VersionNumber", "2.1", version.number()]) {
        text.clone_into(field);
    }
    let header = columns.iter().map(|&column| column.to_owned()).collect();
    for row in [header, second].into_iter().chain(rows) {
        assert!(row.len() == columns.len(), "a field per column in {name}");
        writer.write_record(&row).expect("invariant: writing to memory cannot fail");
    }
    let bytes = writer.into_inner().expect("invariant: writing to memory cannot fail");
    Document {
        name: name.to_owned(),
        text: String::from_utf8(bytes).expect("invariant: made of strings"),
    }
}
