//! The tables of a sizing: the place and the label of each number.

use plan::deployment::BackupFrequency;
use provision::layout::Failure;
use report::document::{Block, Cell, Column, ColumnRole, Section, Table, TableRow, Tone};
use sizing::{
    FailureMode, Key, ProcessorKey, Quirk, ServerKind, Severity, ShownQuantity, TierKey, schedule,
};
use units::three_digits;

use super::columns::{key_column, number_column, table};
use super::{PredictedDesign, Sized, bill, growth, layout, material, origin, pictures};

/// Entries of the glossary for the keys that have one.
const METRICS: &[(Key, &str)] = &[
    (Key::ServerAll, "servers-needed"),
    (Key::ServerDbCopies(ServerKind::First), "copies-per-server"),
    (Key::DatabaseCount, "databases-needed"),
    (Key::DatabaseSizeWithOverheadGb, "database-size-full"),
    (Key::LogSpaceGbPerDb, "log-space"),
    (Key::DiskAll, "disks-needed"),
    (Key::VolumeDbVolumeGb, "volume-size"),
    (Key::VolumeAutoreseed, "autoreseed-spares"),
    (Key::MetaCacheSsdsAll, "metacache-ssds"),
    (Key::IoDbIopsPerDb, "database-io"),
    (Key::MemoryBoughtGb(ServerKind::First), "memory-per-server"),
    (Key::TransportDbGbPerServer, "transport-database"),
    (Key::NetworkPeakTotalMbpsPerDag, "replication-traffic"),
];

const SERVERS: &[Key] = &[
    Key::ServerAll,
    Key::ServerDags,
    Key::ServerPerDag,
    Key::ServerActiveDc1,
    Key::ServerActiveDc2,
    Key::ServerPassiveDc1,
    Key::ServerPassiveDc2,
    Key::ServerClientAccess,
    Key::ServerLaggedPerDag,
    Key::ServerDbCopies(ServerKind::Lagged),
    Key::ServerActiveMailboxesNormal,
    Key::ServerDbCopies(ServerKind::First),
    Key::ServerRemainingAfterWorstFailure,
];

const DATABASES: &[Key] = &[
    Key::DatabaseCount,
    Key::DatabaseMailboxes,
    Key::DatabaseMailboxesCapacityLimited,
    Key::DatabaseMailboxesIoLimited,
    Key::DatabaseMaxSizeGbUsed,
    Key::DatabaseSizeWithOverheadGb,
    Key::LogSpaceGbPerDb,
    Key::LogAllLogsPerDayPerDb,
    Key::DatabaseSpaceGbOneCopyPerDag,
    Key::DatabaseSpaceGbAllCopiesPerDag,
];

const STORAGE: &[Key] = &[
    Key::DiskAll,
    Key::DiskArchitecture(ServerKind::First),
    Key::DiskArchitecture(ServerKind::Second),
    Key::VolumeArchitecture,
    Key::VolumeDbsPerVolume,
    Key::VolumeDbVolumes(ServerKind::First),
    Key::VolumeDbVolumeGb,
    Key::VolumeLogVolumeGb,
    Key::VolumeRestoreGb,
    Key::VolumeAutoreseed,
    Key::VolumeTotalPerServer,
    Key::DiskJbodDisksPerServer(ServerKind::First),
    Key::DiskJbodDisksPerServer(ServerKind::Second),
    Key::DiskJbodDisksPerServer(ServerKind::Lagged),
    Key::DiskRaidChoiceDb(ServerKind::First),
    Key::DiskRaidDisksDb(ServerKind::First),
    Key::DiskRaidChoiceDb(ServerKind::Second),
    Key::DiskRaidDisksDb(ServerKind::Second),
    Key::DiskRaidChoiceDb(ServerKind::Lagged),
    Key::DiskRaidDisksDb(ServerKind::Lagged),
    Key::DiskRaidDisksLog,
    Key::DiskRaidDisksRestore,
    Key::DiskFormattedGb(ServerKind::First),
    Key::DiskRandomIops(ServerKind::First),
    Key::MetaCacheSsdsAll,
    Key::MetaCacheSsdsPerServer,
    Key::MetaCacheSsdGb,
    Key::MetaCacheLeastSsdGb,
    Key::MetaCacheSsdShare,
    Key::MetaCacheGbPerCopy,
];

const LOAD: &[Key] = &[
    Key::IoDbIopsPerDb,
    Key::IoDbIopsPerServer(ServerKind::First),
    Key::IoDbReadsPerServer,
    Key::IoDbWritesPerServer,
    Key::IoLogWritesPerServer,
    Key::IoMaintenanceMbPerServer,
    Key::MemoryRamGb(ServerKind::First),
    Key::MemoryRamGb(ServerKind::Second),
    Key::MemoryRamGb(ServerKind::Lagged),
    Key::MemoryCacheGbAtThatRam,
    Key::MemoryBoughtGb(ServerKind::First),
    Key::MemoryBoughtGb(ServerKind::Second),
    Key::MemoryBoughtGb(ServerKind::Lagged),
    Key::ProcessorGcCores(ServerKind::First),
    Key::ProcessorGcCores(ServerKind::Second),
    Key::TransportDbGbPerServer,
    Key::DiskSystemNeededGb,
    Key::DiskSystemLeastGb,
    Key::TransportLocation,
];

const NETWORK: &[Key] = &[
    Key::NetworkLogStreamsPerDag,
    Key::NetworkPeakTotalMbpsPerDag,
    Key::NetworkRpoMbpsPerDag,
    Key::NetworkEnvironmentMbps,
    Key::NetworkLinkThroughputMbps,
    Key::NetworkLinkOkRpo,
    Key::NetworkLinkOkPeak,
    Key::NetworkRecommendedLinkMbps,
    Key::NetworkRecommendedLinkPeakMbps,
];

/// The note on SSDs next to their numbers.
const METACACHE: &str = "How much I/O MetaCache databases take off the disks is not published: \
     disks, memory and processors are sized as without them, and the test plan loads the disks of \
     the databases alone.";

/// All sections of page and text.
pub(super) fn sections(sized: Sized<'_>) -> Vec<Section> {
    let mut sections: Vec<Section> =
        sized.predicted.map(PredictedDesign::section).into_iter().collect();
    sections.extend([
        origin::section(sized),
        material::assumptions(sized),
        bill::section(sized),
        findings(sized),
        mailboxes(sized),
        provenance(sized),
        section(sized, "servers", "Servers", SERVERS),
        section(sized, "databases", "Databases and logs", DATABASES),
        storage(sized),
        failures(sized),
        layout::section(sized),
        section(sized, "load", "Load, memory, queue", LOAD),
        section(sized, "network", "Replication between the sites", NETWORK),
        backups(sized),
        notes(sized),
    ]);
    sections.retain(|section| !section.blocks.is_empty());
    sections
}

fn section(sized: Sized<'_>, id: &'static str, title: &'static str, keys: &[Key]) -> Section {
    let rows = rows(sized, keys);
    let blocks = if rows.is_empty() { Vec::new() } else { vec![Block::Table(keyed(rows))] };
    Section { id, title, blocks }
}

fn keyed(rows: Vec<TableRow>) -> Table {
    let value = Column { numeric: true, ..Column::text("value") };
    Table {
        caption: "plimsoll size FILE --explain KEY shows where a number comes from.",
        columns: vec![
            Column::text("what"),
            value,
            Column::text("unit"),
            key_column("key for --explain"),
        ],
        rows,
    }
}

/// The rows whose number applies.
fn rows(sized: Sized<'_>, keys: &[Key]) -> Vec<TableRow> {
    keys.iter()
        .filter(|key| is_meant(sized, **key))
        .filter_map(|&key| sized.sizing.sheet.fact(key))
        .map(|fact| row(fact, label(sized, fact.key)))
        .collect()
}

/// Whether a number means something: servers without copies form no group, and no failure leaves
/// their databases to others.
fn is_meant(sized: Sized<'_>, key: Key) -> bool {
    let is_of_group =
        matches!(key, Key::ServerDags | Key::ServerPerDag | Key::ServerRemainingAfterWorstFailure);
    !is_of_group || sized.deployment.has_copies()
}

/// The name of a number. Without copies those of a group are those of a server.
fn label(sized: Sized<'_>, key: Key) -> &'static str {
    match key {
        Key::DatabaseCount if !sized.deployment.has_copies() => "databases of a server",
        Key::DatabaseSpaceGbOneCopyPerDag if !sized.deployment.has_copies() => {
            "all databases of a server"
        }
        _ => key.title(),
    }
}

fn row(fact: &sizing::Fact, label: &'static str) -> TableRow {
    let quantity = ShownQuantity::of(fact);
    let metric = METRICS.iter().find(|(key, _)| *key == fact.key);
    let label = Cell { metric: metric.map(|(_, metric)| *metric), ..Cell::plain(label) };
    TableRow::body(vec![
        label,
        Cell::plain(quantity.value),
        Cell::plain(quantity.unit),
        Cell::plain(fact.key.name()).toned(Tone::Muted),
    ])
}

fn findings(sized: Sized<'_>) -> Section {
    let rows: Vec<TableRow> = sized.sizing.findings.iter().map(finding_row).collect();
    let columns = ["weight", "about", "problem", "fix"];
    let columns = columns.map(Column::text).into_iter().chain([key_column("key")]);
    Section {
        id: "findings",
        title: "Findings",
        blocks: table("The worst first.", columns.collect(), rows),
    }
}

fn finding_row(finding: &sizing::DesignFinding) -> TableRow {
    let tone = match finding.severity {
        Severity::Violation => Tone::Fail,
        Severity::Warning => Tone::Warn,
        Severity::Remark => Tone::Muted,
    };
    TableRow::body(vec![
        Cell::plain(finding.severity.word()).toned(tone),
        Cell::plain(about(finding.key)),
        Cell::plain(&*finding.text),
        Cell::plain(&*finding.remedy),
        Cell::plain(finding.key.name()).toned(Tone::Muted),
    ])
}

fn mailboxes(sized: Sized<'_>) -> Section {
    let columns = vec![
        Column::text("tier"),
        number_column("mailboxes", None),
        number_column("MiB on disk", Some("mailbox-on-disk")),
        number_column("I/O per second", Some("mailbox-iops")),
        number_column("megacycles active", Some("megacycles")),
        number_column("logs a day", None),
        number_column("months to the limit", None),
    ];
    let rows = (1..)
        .zip(&sized.deployment.tiers)
        .map(|(number, tier)| tier_row(sized, number, &tier.name))
        .collect();
    let mut blocks = table("Averages over the mailboxes of a tier.", columns, rows);
    blocks.extend(growth::picture(sized).map(Block::from));
    Section { id: "mailboxes", title: "One mailbox of each tier", blocks }
}

fn tier_row(sized: Sized<'_>, number: usize, name: &str) -> TableRow {
    let cells = [
        TierKey::Mailboxes,
        TierKey::MailboxOnDiskMb,
        TierKey::Iops,
        TierKey::McyclesActive,
        TierKey::LogsPerDay,
        TierKey::MonthsToLimit,
    ]
    .map(|what| Cell::plain(bare(sized, Key::Tier(number, what))));
    TableRow::body([vec![Cell::plain(name)], cells.to_vec()].concat())
}

/// A number whose unit is in its column's heading; a dash if it does not apply.
fn bare(sized: Sized<'_>, key: Key) -> String {
    let value = sized.sizing.number(key);
    value.map_or_else(|| "-".to_owned(), |value| ShownQuantity::of_number(key, value).value)
}

/// Files, rules and unusable rows, as recorded by `plimsoll profile`.
fn provenance(sized: Sized<'_>) -> Section {
    let lines = sized.deployment.provenance.iter();
    Section {
        id: "provenance",
        title: "Where the figures of the mailboxes come from",
        blocks: lines.map(|line| Block::Note(line.clone())).collect(),
    }
}

fn storage(sized: Sized<'_>) -> Section {
    let mut blocks: Vec<Block> = pictures::capacity(sized).map(Block::from).into_iter().collect();
    let keys: Vec<Key> =
        STORAGE.iter().copied().filter(|key| material::applies(sized, *key)).collect();
    blocks.push(Block::Table(keyed(rows(sized, &keys))));
    let system = &sized.deployment.file_system;
    blocks.push(Block::Note(format!(
        "File system {}, encryption {}: {} % of a disk's I/O is left ({}).",
        system.name,
        system.encryption,
        three_digits(system.iops_factor * 100.0),
        system.source
    )));
    if sized.deployment.metacache.is_some() {
        blocks.push(Block::Note(METACACHE.to_owned()));
    }
    Section { id: "storage", title: "Volumes and disks", blocks }
}

fn failures(sized: Sized<'_>) -> Section {
    let columns = vec![
        Column::text("what fails"),
        number_column("active databases of the busiest server", Some("active-databases")),
        number_column("megacycles", Some("megacycles")),
        number_column("processors used %", None),
    ];
    let rows = FailureMode::LISTED.iter().filter_map(|&mode| failure_row(sized, mode)).collect();
    let mut blocks = table(
        "By the formulas of the workbook, for a server of a site that serves users then.",
        columns,
        rows,
    );
    blocks.extend(pictures::failures(sized).map(Block::from));
    Section { id: "failures", title: "When servers fail", blocks }
}

fn failure_row(sized: Sized<'_>, mode: FailureMode) -> Option<TableRow> {
    let active = sized.sizing.number(Key::FailureActive(mode))?;
    let need = processor(sized, mode, ProcessorKey::Need);
    let used = processor(sized, mode, ProcessorKey::Util);
    Some(TableRow::body(vec![
        Cell::plain(mode.title()),
        Cell::plain(three_digits(active)),
        Cell::or_none(need.map(three_digits)),
        Cell::or_none(used.map(|used| three_digits(used * 100.0))),
    ]))
}

/// The larger number of both sites: servers of a passive second site take over when the first is
/// lost.
fn processor(sized: Sized<'_>, mode: FailureMode, what: ProcessorKey) -> Option<f64> {
    let sites = [ServerKind::First, ServerKind::Second];
    let numbers = sites.map(|kind| sized.sizing.number(Key::Processor(what, mode, kind)));
    numbers.into_iter().flatten().reduce(f64::max)
}

fn backups(sized: Sized<'_>) -> Section {
    let days = schedule(sized.deployment, &sized.sizing.sheet);
    let changes = match sized.deployment.backup.frequency {
        BackupFrequency::WeeklyFullDailyDifferential => "differential",
        _ => "incremental",
    };
    let columns = vec![
        Column::text("day"),
        number_column("databases in full", None),
        number_column(changes, None),
    ];
    let rows = (1..).zip(&days).map(|(number, day)| {
        let cells = [number, day.full, day.changes];
        TableRow::body(cells.map(|cell| Cell::plain(cell.to_string())).to_vec())
    });
    Section {
        id: "backups",
        title: "Backups of a server",
        blocks: table(
            "Databases that share a volume have their turn on different days.",
            columns,
            rows.collect(),
        ),
    }
}

fn notes(sized: Sized<'_>) -> Section {
    let columns = vec![
        Column::text("about"),
        Column::text("official workbook"),
        number_column("its number", None),
        Column::text("corrected"),
        number_column("right number", None),
        key_column("key"),
    ];
    let rows = notes_that_matter(sized).map(|note| note_row(sized, note)).collect();
    Section {
        id: "differences",
        title: "Known mistakes of the official workbook that matter here",
        blocks: table(
            "Compatible mode keeps the workbook's number, corrected mode the right one.",
            columns,
            rows,
        ),
    }
}

/// The known mistakes that change a number. The workbook's estimate for two failed servers is right
/// for some layouts.
pub(super) fn notes_that_matter(sized: Sized<'_>) -> impl Iterator<Item = &sizing::Note> {
    sized.sizing.notes.iter().filter(move |note| {
        let [workbook, right] = note_numbers(sized, note).map(|of| of.map(f64::round));
        note.quirk != Quirk::TwoFailures || workbook.is_none() || workbook != right
    })
}

/// The title of a key, with its tier.
fn about(key: Key) -> String {
    match key {
        Key::Tier(number, _) => format!("{}, tier {number}", key.title()),
        _ => key.title().to_owned(),
    }
}

/// The number of the workbook and the right one. The layout, which is simulated after the sizing,
/// has the right one for two failed servers.
fn note_numbers(sized: Sized<'_>, note: &sizing::Note) -> [Option<f64>; 2] {
    match (note.values, note.quirk) {
        (Some((workbook, right)), _) => [Some(workbook), Some(right)],
        (None, Quirk::TwoFailures) => {
            let right = layout::most_active(sized, Failure::Servers(2));
            [sized.sizing.number(note.key), right.map(|most| most as f64)]
        }
        (None, _) => [None, None],
    }
}

fn note_row(sized: Sized<'_>, note: &sizing::Note) -> TableRow {
    let [workbook, right] =
        note_numbers(sized, note).map(|value| Cell::or_none(value.map(three_digits)));
    TableRow::body(vec![
        Cell::plain(about(note.key)),
        Cell::plain(note.quirk.workbook()),
        workbook,
        Cell::plain(note.quirk.corrected()),
        right,
        Cell::plain(note.key.name()).toned(Tone::Muted),
    ])
}

/// Every number with its formula.
pub(super) fn trace(sized: Sized<'_>) -> Section {
    let columns = vec![
        Column { role: ColumnRole::Formula, ..Column::text("key") },
        number_column("value", None),
        Column::text("formula"),
        Column::text("numbers put in"),
        Column::text("source"),
    ];
    let rows = sized.sizing.sheet.facts().iter().map(|fact| {
        TableRow::body(vec![
            Cell::plain(fact.key.name()),
            Cell::plain(fact.written()),
            Cell::plain(&*fact.formula),
            Cell::plain(&*fact.numbers),
            Cell::plain(&*fact.source).toned(Tone::Muted),
        ])
    });
    Section {
        id: "trace",
        title: "Every number and where it comes from",
        blocks: table("In the order of calculation.", columns, rows.collect()),
    }
}
