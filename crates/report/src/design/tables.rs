//! The tables of a sizing: which numbers stand where, under which words.

use plan::deployment::BackupFrequency;
use sizing::{Severity, schedule};

use super::columns::{number_column, table};
use super::{Sized, growth, layout, pictures, shown};
use crate::document::{Block, Cell, Column, Row, Section, Table, Tone};
use crate::format::three_digits;

/// A row: words, glossary entry, key.
type KeyedLine = (&'static str, Option<&'static str>, &'static str);

const SERVERS: &[KeyedLine] = &[
    ("servers in all", Some("servers-needed"), "srv.all"),
    ("groups", None, "srv.dags"),
    ("servers of a group", None, "srv.per_dag"),
    ("active servers, first site", None, "srv.active_dc1"),
    ("active servers, second site", None, "srv.active_dc2"),
    ("waiting servers, first site", None, "srv.passive_dc1"),
    ("waiting servers, second site", None, "srv.passive_dc2"),
    ("client access servers", None, "srv.client_access"),
    (
        "servers kept for late copies, of a group",
        None,
        "srv.lagged_per_dag",
    ),
    ("late copies on such a server", None, "srv.db_copies_lagged"),
    (
        "active mailboxes of a server",
        None,
        "srv.active_mailboxes_normal",
    ),
    (
        "copies on a server",
        Some("copies-per-server"),
        "srv.db_copies",
    ),
    (
        "servers left after the worst failure",
        None,
        "srv.remaining_after_worst_failure",
    ),
];

const DATABASES: &[KeyedLine] = &[
    ("databases of a group", Some("databases-needed"), "db.count"),
    ("mailboxes of a database", None, "db.mailboxes"),
    (
        "room for mailboxes, by capacity",
        None,
        "db.mailboxes_capacity_limited",
    ),
    (
        "room for mailboxes, by I/O",
        None,
        "db.mailboxes_io_limited",
    ),
    ("largest database", None, "db.max_size_gb_used"),
    (
        "size of a database",
        Some("database-size-full"),
        "db.size_with_overhead_gb",
    ),
    (
        "logs of a database",
        Some("log-space"),
        "log.space_gb_per_db",
    ),
    (
        "logs of a database a day",
        None,
        "log.all_logs_per_day_per_db",
    ),
    (
        "one copy of all databases of a group",
        None,
        "db.space_gb_one_copy_per_dag",
    ),
    (
        "all copies of a group",
        None,
        "db.space_gb_all_copies_per_dag",
    ),
];

const STORAGE: &[KeyedLine] = &[
    ("disks in all", Some("disks-needed"), "disk.all"),
    ("disks, first site", None, "disk.architecture_dc1"),
    ("disks, second site", None, "disk.architecture_dc2"),
    ("volumes are", None, "vol.architecture"),
    ("databases on a volume", None, "vol.dbs_per_volume"),
    ("database volumes of a server", None, "vol.db_volumes"),
    (
        "size of a database volume",
        Some("volume-size"),
        "vol.db_volume_gb",
    ),
    ("size of a log volume", None, "vol.log_volume_gb"),
    ("size of the restore volume", None, "vol.restore_gb"),
    (
        "spare volumes of a server",
        Some("autoreseed-spares"),
        "vol.autoreseed",
    ),
    ("volumes of a server", None, "vol.total_per_server"),
    (
        "single disks of a server, first site",
        None,
        "disk.jbod_disks_per_server_dc1",
    ),
    (
        "single disks of a server, second site",
        None,
        "disk.jbod_disks_per_server_dc2",
    ),
    (
        "single disks of a server kept for late copies",
        None,
        "disk.jbod_disks_per_server_lagged",
    ),
    ("RAID of the databases", None, "disk.raid_choice_db"),
    ("disks of it", None, "disk.raid_disks_db"),
    ("RAID, second site", None, "disk.raid_choice_db_dc2"),
    ("disks of it", None, "disk.raid_disks_db_dc2"),
    ("RAID, late copies", None, "disk.raid_choice_db_lagged"),
    ("disks of it", None, "disk.raid_disks_db_lagged"),
    ("mirrored log disks", None, "disk.raid_disks_log"),
    ("disks for restores", None, "disk.raid_disks_restore"),
    ("formatted capacity of a disk", None, "disk.formatted_gb"),
    ("usable I/O of a disk", None, "disk.random_iops"),
];

const LOAD: &[KeyedLine] = &[
    (
        "database I/O of a database",
        Some("database-io"),
        "io.db_iops_per_db",
    ),
    ("database I/O of a server", None, "io.db_iops_per_server"),
    ("reads", None, "io.db_reads_per_server"),
    ("writes", None, "io.db_writes_per_server"),
    ("log writes of a server", None, "io.log_writes_per_server"),
    (
        "background maintenance of a server",
        None,
        "io.maintenance_mb_per_server",
    ),
    (
        "memory, first site",
        Some("memory-per-server"),
        "mem.ram_gb_dc1",
    ),
    ("memory, second site", None, "mem.ram_gb_dc2"),
    (
        "memory, servers kept for late copies",
        None,
        "mem.ram_gb_lagged",
    ),
    ("database cache in it", None, "mem.cache_gb_at_that_ram"),
    ("directory cores, first site", None, "cpu.gc_cores_dc1"),
    ("directory cores, second site", None, "cpu.gc_cores_dc2"),
    (
        "queue database of a server",
        Some("transport-database"),
        "transport.db_gb_per_server",
    ),
    ("its place", None, "transport.location"),
];

const NETWORK: &[KeyedLine] = &[
    ("log streams of a group", None, "net.log_streams_per_dag"),
    (
        "a group in the busiest hour",
        Some("replication-traffic"),
        "net.peak_total_mbps_per_dag",
    ),
    (
        "a group within the recovery point",
        None,
        "net.rpo_mbps_per_dag",
    ),
    ("all groups", None, "net.environment_mbps"),
    (
        "what goes through the link",
        None,
        "net.link_throughput_mbps",
    ),
    ("the link is enough", None, "net.link_ok_rpo"),
    (
        "the link is enough in the busiest hour",
        None,
        "net.link_ok_peak",
    ),
    (
        "smallest usual link that would be",
        None,
        "net.recommended_link_mbps",
    ),
];

const MODES: &[(&str, &str, &str)] = &[
    ("normal", "fail.active_per_server_normal", "normal"),
    (
        "one server failed",
        "fail.active_per_server_one_failed",
        "one_failed",
    ),
    (
        "two servers failed",
        "fail.active_per_server_two_failed",
        "two_failed",
    ),
    (
        "a site failed",
        "fail.active_per_server_site_failed",
        "site_failed",
    ),
    (
        "a site and a server failed",
        "fail.active_per_server_site_plus_one",
        "site_plus_one",
    ),
    (
        "a site and two servers failed",
        "fail.active_per_server_site_plus_two",
        "site_plus_two",
    ),
];

/// Everything that page and text show.
pub(super) fn sections(sized: Sized<'_>) -> Vec<Section> {
    let mut sections = vec![
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
    ];
    sections.retain(|section| !section.blocks.is_empty());
    sections
}

fn section(
    sized: Sized<'_>,
    id: &'static str,
    title: &'static str,
    lines: &'static [KeyedLine],
) -> Section {
    let rows = rows(sized, lines);
    let blocks = if rows.is_empty() {
        Vec::new()
    } else {
        vec![Block::Table(keyed(rows))]
    };
    Section { id, title, blocks }
}

fn keyed(rows: Vec<Row>) -> Table {
    let value = Column {
        numeric: true,
        ..Column::text("value")
    };
    Table {
        caption: "`plimsoll size FILE --explain KEY` shows where a number comes from.",
        columns: vec![
            Column::text("what"),
            value,
            Column::text("unit"),
            Column::text("key for --explain"),
        ],
        rows,
    }
}

/// The rows whose number applies.
fn rows(sized: Sized<'_>, lines: &[KeyedLine]) -> Vec<Row> {
    let row = |&(label, metric, key): &KeyedLine| {
        let fact = sized.sizing.sheet.fact(key)?;
        let value = match &fact.value {
            sizing::Value::Number(value) => three_digits(*value),
            sizing::Value::Word(word) => word.clone(),
        };
        let label = Cell {
            metric,
            ..Cell::plain(label)
        };
        let key = Cell::plain(key).toned(Tone::Muted);
        Some(Row::body(vec![
            label,
            Cell::plain(value),
            Cell::plain(fact.unit),
            key,
        ]))
    };
    lines.iter().filter_map(row).collect()
}

fn findings(sized: Sized<'_>) -> Section {
    let row = |finding: &sizing::Finding| {
        let tone = match finding.severity {
            Severity::Violation => Tone::Fail,
            Severity::Warning => Tone::Warn,
            Severity::Remark => Tone::Muted,
        };
        Row::body(vec![
            Cell::plain(finding.severity.word()).toned(tone),
            Cell::plain(&*finding.key),
            Cell::plain(&*finding.text),
            Cell::plain(finding.remedy),
        ])
    };
    let mut found: Vec<_> = sized.sizing.findings.iter().collect();
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let rows: Vec<Row> = found.into_iter().map(row).collect();
    let columns = ["weight", "key", "what is wrong", "what to change"];
    Section {
        id: "findings",
        title: "Findings",
        blocks: table("The worst first.", columns.map(Column::text).to_vec(), rows),
    }
}

fn mailboxes(sized: Sized<'_>) -> Section {
    let columns = vec![
        Column::text("tier"),
        number_column("mailboxes", None),
        number_column("MB on disk", Some("mailbox-on-disk")),
        number_column("I/O per second", Some("mailbox-iops")),
        number_column("megacycles active", Some("megacycles")),
        number_column("logs a day", None),
        number_column("months to the limit", None),
    ];
    let row = |(index, tier): (usize, &plan::deployment::Tier)| {
        let cell = |what: &str| Cell::plain(shown(sized, &format!("t{}.{what}", index + 1)));
        Row::body(vec![
            Cell::plain(&*tier.name),
            cell("mailboxes"),
            cell("mailbox_on_disk_mb"),
            cell("iops"),
            cell("mcycles_active"),
            cell("logs_per_day"),
            cell("months_to_limit"),
        ])
    };
    let rows = sized.deployment.tiers.iter().enumerate().map(row).collect();
    let mut blocks = table("Averages over the mailboxes of a tier.", columns, rows);
    blocks.extend(growth::picture(sized).map(Block::Picture));
    Section {
        id: "mailboxes",
        title: "One mailbox of each tier",
        blocks,
    }
}

/// Files, rules and rows that could not be used, as `plimsoll profile` wrote them.
fn provenance(sized: Sized<'_>) -> Section {
    let lines = sized.deployment.provenance.iter();
    Section {
        id: "provenance",
        title: "Where the figures of the mailboxes come from",
        blocks: lines.map(|line| Block::Note(line.clone())).collect(),
    }
}

fn storage(sized: Sized<'_>) -> Section {
    let mut blocks = vec![Block::Picture(pictures::capacity(sized))];
    blocks.push(Block::Table(keyed(rows(sized, STORAGE))));
    let system = &sized.deployment.file_system;
    blocks.push(Block::Note(format!(
        "File system {}, encryption {}: {} % of a disk's I/O is left ({}).",
        system.name,
        system.encryption,
        three_digits(system.iops_factor * 100.0),
        system.source
    )));
    Section {
        id: "storage",
        title: "Volumes and disks",
        blocks,
    }
}

fn failures(sized: Sized<'_>) -> Section {
    let columns = vec![
        Column::text("what fails"),
        number_column(
            "active databases of the busiest server",
            Some("active-databases"),
        ),
        number_column("megacycles", Some("megacycles")),
        number_column("processors used %", None),
    ];
    let row = |&(label, key, mode): &(&'static str, &str, &str)| {
        let active = sized.sizing.number(key)?;
        // Where the second site waits, the loss of the first is a matter of its servers.
        let number = |what: &str| {
            let of = |site: &str| sized.sizing.number(&format!("cpu.{what}_{mode}_{site}"));
            of("dc1").or_else(|| of("dc2"))
        };
        let used = number("util").map(|used| three_digits(used * 100.0));
        Some(Row::body(vec![
            Cell::plain(label),
            Cell::plain(three_digits(active)),
            Cell::or_none(number("need").map(three_digits)),
            Cell::or_none(used),
        ]))
    };
    let rows = MODES.iter().filter_map(row).collect();
    let mut blocks = table(
        "By the formulas of the workbook, for a server of a site that serves users then.",
        columns,
        rows,
    );
    blocks.push(Block::Picture(pictures::failures(sized, MODES)));
    Section {
        id: "failures",
        title: "When servers fail",
        blocks,
    }
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
    let row = |(index, day): (usize, &sizing::BackupDay)| {
        let cells = [index + 1, day.full, day.changes];
        Row::body(cells.map(|cell| Cell::plain(cell.to_string())).to_vec())
    };
    Section {
        id: "backups",
        title: "Backups of a server",
        blocks: table(
            "Databases that share a volume have their turn on different days.",
            columns,
            days.iter().enumerate().map(row).collect(),
        ),
    }
}

fn notes(sized: Sized<'_>) -> Section {
    let row = |note: &sizing::Note| {
        let values = note.values.map(|(workbook, right)| {
            [workbook, right].map(|value| Cell::plain(three_digits(value)))
        });
        let [workbook, right] = values.unwrap_or_else(|| [Cell::none(), Cell::none()]);
        Row::body(vec![
            Cell::plain(&*note.key),
            Cell::plain(note.quirk.workbook()),
            workbook,
            Cell::plain(note.quirk.corrected()),
            right,
        ])
    };
    let columns = vec![
        Column::text("key"),
        Column::text("official workbook"),
        number_column("its number", None),
        Column::text("corrected"),
        number_column("right number", None),
    ];
    let rows = sized.sizing.notes.iter().map(row).collect();
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

/// Every number with its formula.
pub(super) fn trace(sized: Sized<'_>) -> Section {
    let row = |fact: &sizing::Fact| {
        Row::body(vec![
            Cell::plain(&*fact.key),
            Cell::plain(fact.written()),
            Cell::plain(&*fact.formula),
            Cell::plain(&*fact.numbers),
            Cell::plain(&*fact.source).toned(Tone::Muted),
        ])
    };
    let columns = vec![
        Column::text("key"),
        number_column("value", None),
        Column::text("formula"),
        Column::text("numbers put in"),
        Column::text("source"),
    ];
    let rows = sized.sizing.sheet.facts().iter().map(row).collect();
    Section {
        id: "trace",
        title: "Every number and where it comes from",
        blocks: table("In the order of calculation.", columns, rows),
    }
}
