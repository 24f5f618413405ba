//! The layout of copies, and the effect of every failure on the surviving servers.

use std::fmt::Write as _;

use provision::layout::{Failure, Mode, Quorum};
use provision::{
    Group, QUORUM, REPLAYED, Requirements, Simulated, provision, quorum_word, simulate,
};
use report::document::{Block, Cell, Column, Picture, Section, TableRow, Tone};
use report::escape;
use sizing::{Key, ServerKind};
use units::{counted, three_digits};

use super::Sized;
use super::columns::{number_column, table};
use super::pictures::{self, left_of};

/// Maximum number of databases in the grid; the pattern repeats long before.
const MOST_COLUMNS: usize = 96;

/// Colours by activation preference; the last one applies to all further.
const INKS: [&str; 4] = ["ink-read", "ink-write", "ink-log", "ink-tail"];

/// The grid and the table; nothing without copies.
pub(super) fn section(sized: Sized<'_>) -> Section {
    let found = simulate(sized.deployment, sized.sizing);
    let blocks = found.map_or_else(Vec::new, |found| blocks(sized, &found));
    Section {
        id: "layout",
        title: "Copy layout of a group, and every failure played through",
        blocks,
    }
}

fn blocks(sized: Sized<'_>, found: &Simulated) -> Vec<Block> {
    let mut blocks = vec![Block::from(grid(found))];
    let has_replays = found.modes.iter().any(|mode| mode.replayed > 0);
    let mut columns = vec![
        Column::text("what fails"),
        number_column("ways", None),
        Column { metric: Some("quorum"), ..Column::text("quorum") },
        number_column("fewest active on a survivor", None),
        number_column("most active on a survivor", Some("active-databases")),
        number_column("most megacycles", Some("megacycles")),
        number_column("processors used %", None),
        number_column("most I/O per second", Some("database-io")),
        number_column("databases down", None),
        number_column("no copy left", None),
    ];
    let mut rows: Vec<TableRow> = found.modes.iter().map(|mode| row(&found.needs, mode)).collect();
    if has_replays {
        columns.push(number_column("down until a replay ends", None));
        for (row, mode) in rows.iter_mut().zip(&found.modes) {
            row.cells.push(toned_count(mode.replayed, Tone::Warn));
        }
    }
    let caption = "The worst of all ways in which each failure can happen.";
    blocks.extend(table(caption, columns, rows));
    blocks.push(Block::Note(QUORUM.to_owned()));
    if has_replays {
        blocks.push(Block::Note(REPLAYED.to_owned()));
    }
    blocks.extend(beyond(sized, found).map(Block::Note));
    blocks
}

/// The most active databases on a survivor after `failure`; `None` without copies.
pub(super) fn most_active(sized: Sized<'_>, failure: Failure) -> Option<usize> {
    let found = simulate(sized.deployment, sized.sizing)?;
    let mode = found.modes.iter().find(|mode| mode.failure == failure)?;
    mode.active().map(|(_, most)| most)
}

fn row(needs: &Requirements, mode: &Mode) -> TableRow {
    let burden = needs.burden(mode);
    let used = burden.and_then(|burden| burden.processor);
    let active = mode.active();
    let quorum = Cell::plain(quorum_word(mode)).toned(match mode.quorum {
        Quorum::Kept => Tone::Plain,
        Quorum::Restorable => Tone::Warn,
        Quorum::Lost => Tone::Fail,
    });
    TableRow::body(vec![
        Cell::plain(mode.failure.to_string()),
        Cell::plain(mode.cases.to_string()),
        quorum,
        Cell::or_none(active.map(|(least, _)| least.to_string())),
        Cell::or_none(active.map(|(_, most)| most.to_string())),
        Cell::or_none(burden.map(|burden| three_digits(burden.megacycles.1))),
        Cell::or_none(used.map(|used| three_digits(used * 100.0))),
        Cell::or_none(burden.map(|burden| three_digits(burden.iops.1))),
        toned_count(mode.not_active, Tone::Warn),
        toned_count(mode.lost, Tone::Fail),
    ])
}

/// A count, toned unless it is 0.
fn toned_count(count: usize, tone: Tone) -> Cell {
    Cell::plain(count.to_string()).toned(if count > 0 { tone } else { Tone::Plain })
}

/// A remark if the simulation finds more active databases than the formulas that sized the servers.
fn beyond(sized: Sized<'_>, found: &Simulated) -> Option<String> {
    let worst = sized.sizing.number(Key::ServerWorstActiveDbs(ServerKind::First))?;
    let (most, mode) = found
        .modes
        .iter()
        .filter(|mode| mode.not_active == 0)
        .map(|mode| (mode.active().map_or(0, |(_, most)| most), mode))
        .max_by_key(|(most, _)| *most)?;
    (most as f64 > worst).then(|| {
        let worst = counted(&three_digits(worst), "active database");
        let failure = &mode.failure;
        match limit(found) {
            Some(limit) if limit < most => format!(
                "Servers are sized for {worst} each. With {failure}, a survivor would have \
                 {most}, but `plimsoll plan` limits it to {limit}: some databases then stay down, \
                 unless you size for more."
            ),
            _ => format!(
                "Servers are sized for {worst} each. With {failure}, a survivor can have {most}: \
                 size for more."
            ),
        }
    })
}

/// The most databases that may be active on a server by the settings of `plimsoll plan`.
fn limit(found: &Simulated) -> Option<usize> {
    let named = provision(found.needs.clone()).ok()?;
    named.groups.first().map(|group| group.limits().most)
}

/// Servers by databases: a square for each copy, coloured by its activation preference.
fn grid(found: &Simulated) -> Picture {
    let layout = &found.layout;
    // The layout does not need names: numbers replace them.
    let named = provision(found.needs.clone()).ok();
    let group = named.as_ref().and_then(|named| named.groups.first());
    let shown = layout.databases.len().min(MOST_COLUMNS);
    let names: Vec<String> = (0..layout.servers.len())
        .map(|server| server_name(group, server, layout.servers[server].site))
        .collect();
    let left = left_of(names.iter().map(String::as_str), 64.0);
    let cell = (720.0 - left) / shown.max(24) as f64;
    let height = 14.0;
    let mut svg = format!(
        "<svg viewBox=\"0 0 720 {}\" role=\"img\" aria-label=\"Copies of databases by server\">",
        height * layout.servers.len() as f64 + 4.0
    );
    for (server, name) in names.iter().enumerate() {
        let top = height * server as f64;
        let _ = write!(svg, "<text x=\"0\" y=\"{:.1}\">{}</text>", top + 10.0, escape(name));
        for (database, preference) in layout.held_by(server).filter(|(at, _)| *at < shown) {
            let copy = layout.databases[database][preference - 1];
            let late = if copy.lagged { " fill-opacity=\"0.35\"" } else { "" };
            let _ = write!(
                svg,
                "<rect class=\"{}\"{late} x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" \
                 height=\"12\" stroke=\"none\"><title>database {}, preference {preference}\
                 </title></rect>",
                INKS[(preference - 1).min(INKS.len() - 1)],
                left + cell * database as f64,
                cell * 0.9,
                escape(&database_name(group, database)),
            );
        }
    }
    let legend = ["preference 1", "2", "3", "4 and more; pale: replays late"];
    let legend = INKS.into_iter().zip(legend.map(str::to_owned)).collect();
    let title = if shown < layout.databases.len() {
        format!("Copies of the first {shown} databases by server")
    } else {
        "Copies of databases by server".to_owned()
    };
    Picture::wide(title, svg + "</svg>", legend)
}

/// The name of a server with its site; its number if there are no names.
fn server_name(group: Option<&Group>, server: usize, site: usize) -> String {
    let named = group.and_then(|group| group.servers.get(server));
    let name = named.map_or_else(|| (server + 1).to_string(), |named| named.name.clone());
    format!("{}, site {}", pictures::named(&name), site + 1)
}

/// The name of a database; its number if there are no names.
fn database_name(group: Option<&Group>, database: usize) -> String {
    let named = group.and_then(|group| group.databases.get(database));
    named.map_or_else(|| (database + 1).to_string(), |named| named.name.clone())
}
