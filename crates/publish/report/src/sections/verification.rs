//! "Checksum Statistics" and "Backup Statistics": the results of a pass over every page.

use record::{Checksum, RunRecord, SimulationDetail, TestType};

use crate::document::{Block, Cell, Column, Section, Table, TableRow, Tone};
use crate::{format, meaning};

/// Pages by kind of damage, per database.
pub(super) fn checksums(run: &RunRecord) -> Section {
    let block = if run.checksums.is_empty() {
        Block::Note(why_unchecked(run).to_owned())
    } else {
        let caption = "Every page of every database, read and verified";
        Block::Table(statistics(run, caption, &run.checksums))
    };
    Section { id: "checksum-statistics", title: "Checksum Statistics - All", blocks: vec![block] }
}

/// Why no page was verified. The settings of a simulation without pages ask for no pass, whatever
/// its plan says.
fn why_unchecked(run: &RunRecord) -> &'static str {
    let detail = run.simulated().map(|simulation| simulation.detail);
    match (detail, run.start.settings.verify_checksums) {
        (Some(SimulationDetail::Operations), _) => {
            "A simulation at level 2 stores nothing, so there are no pages to verify."
        }
        (_, true) => "The run ended before the checksum pass.",
        (_, false) => "The plan asks for no checksum pass.",
    }
}

/// Pages by kind of damage in a backup, per database; `None` without a backup test or a backup.
pub(super) fn backup(run: &RunRecord) -> Option<Section> {
    let block = match (run.backups.is_empty(), run.start.test) {
        (true, TestType::Backup) => Block::Note("No database was read to its end.".to_owned()),
        (true, _) => return None,
        (false, _) => {
            let caption = "Every database, read as a backup does";
            Block::Table(statistics(run, caption, &run.backups))
        }
    };
    Some(Section {
        id: "backup-statistics",
        title: "Database Backup Statistics - All",
        blocks: vec![block],
    })
}

pub(super) fn statistics(run: &RunRecord, caption: &'static str, pass: &[Checksum]) -> Table {
    let columns = [
        ("Seen pages", "seen-pages"),
        ("Bad pages", "bad-pages"),
        ("Correctable pages", "correctable-pages"),
        ("Wrong page-number pages", "wrong-page-number-pages"),
        ("Lost flushes", "lost-flush-pages"),
        ("Uninitialised pages", "uninitialised-pages"),
        ("Foreign pages", "foreign-pages"),
        ("File length (MiB)", "file-length"),
        ("Seconds taken", "checksum-time"),
        ("MiB/s", "checksum-rate"),
    ]
    .map(|(label, metric)| Column::metric(label, metric));
    let mut rows: Vec<TableRow> = pass
        .iter()
        .map(|of| TableRow::body(cells(&meaning::database_name(run, of.database), of)))
        .collect();
    if rows.len() > 1 {
        rows.push(TableRow::sum(cells("(Sum)", &Checksum::together(pass))));
    }
    Table { caption, columns: [vec![Column::text("Database")], columns.to_vec()].concat(), rows }
}

fn cells(name: &str, of: &Checksum) -> Vec<Cell> {
    let mebibytes = of.bytes as f64 / 1_048_576.0;
    let seconds = of.elapsed_ns as f64 / 1e9;
    let rate = of.mib_per_second().map(format::three_digits);
    vec![
        Cell::plain(name),
        Cell::plain(format::whole(of.seen_pages)),
        damage(of.bad_pages),
        damage(of.correctable_pages),
        damage(of.wrong_page_number_pages),
        damage(of.lost_flush_pages),
        Cell::plain(format::whole(of.uninitialised_pages)),
        Cell::plain(format::whole(of.foreign_pages)),
        Cell::plain(format::number(mebibytes, 1)),
        Cell::plain(format::number(seconds, 1)),
        Cell::or_none(rate),
    ]
}

fn damage(pages: u64) -> Cell {
    let tone = if pages > 0 { Tone::Fail } else { Tone::Plain };
    Cell::plain(format::whole(pages)).toned(tone)
}

#[cfg(test)]
mod tests {
    use record::SimulationDetail;

    use super::why_unchecked;
    use crate::tests::{passing, simulated};

    #[test]
    fn a_simulation_without_pages_does_not_blame_the_plan() {
        let mut run = simulated();
        run.start.settings.verify_checksums = false;
        let of_plan = "The plan asks for no checksum pass.";
        assert_eq!(why_unchecked(&run), of_plan, "level 1 has pages");
        run.start.simulated.as_mut().expect("simulated").detail = SimulationDetail::Operations;
        assert!(why_unchecked(&run).starts_with("A simulation at level 2 stores nothing"));
        run.start.settings.verify_checksums = true;
        assert!(why_unchecked(&run).starts_with("A simulation at level 2 stores nothing"));
        let mut measured = passing();
        measured.start.settings.verify_checksums = false;
        assert_eq!(why_unchecked(&measured), of_plan);
    }
}
