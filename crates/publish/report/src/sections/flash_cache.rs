//! The flash cache in front of the databases, if a run had one: reads that it answered, and its hit
//! ratio over time.

use record::{FlashCacheClass, FlashCacheInterval, IntervalRow, Phase, RunRecord};

use crate::document::{Block, Cell, Column, Fact, Section, Table, TableRow};
use crate::format;

/// Maximum number of rows in the table over time.
const MOST_ROWS: usize = 12;

const DAY_NS: f64 = 86_400e9;

/// Hit ratio by class, latencies with and without flash, traffic and wear; then the warm-up.
pub(crate) fn section(run: &RunRecord) -> Option<Section> {
    let measured = run.flash_cache_of(Phase::Measure)?;
    let mut blocks = vec![Block::Facts(facts(run, &measured)), Block::Table(classes(&measured))];
    blocks.extend(over_time(run).map(Block::Table));
    if let Some(failure) = &measured.failure {
        blocks.insert(0, Block::Note(failure.clone()));
    }
    Some(Section { id: "flash-cache", title: "Flash Cache", blocks })
}

fn facts(run: &RunRecord, measured: &FlashCacheInterval) -> Vec<Fact> {
    let written = measured.flash_bytes_written as f64;
    let a_day = written * DAY_NS / run.span_ns(Phase::Measure).max(1) as f64;
    let drive_writes = a_day / measured.capacity_bytes.max(1) as f64;
    let gib = a_day / f64::from(1 << 30);
    vec![
        Fact::metric(
            "Reads Answered by Flash",
            "flash-hit-ratio",
            percent(measured.all().hit_ratio()),
        ),
        Fact::metric(
            "Traffic Spared the Volumes",
            "flash-traffic-spared",
            percent(measured.traffic_saved()),
        ),
        Fact::metric(
            "Cached / Capacity",
            "flash-occupancy",
            format!(
                "{} / {}",
                format::size(measured.cached_bytes),
                format::size(measured.capacity_bytes)
            ),
        ),
        Fact::metric(
            "Written to Flash",
            "flash-written",
            format!(
                "{}; at this rate {} GiB a day, {} times its capacity",
                format::size(measured.flash_bytes_written),
                format::number(gib, 1),
                format::number(drive_writes, 2)
            ),
        ),
    ]
}

fn classes(measured: &FlashCacheInterval) -> Table {
    let rows = measured.classes().into_iter().map(|(name, class)| {
        let cells = [
            name.to_owned(),
            format::whole(class.reads),
            percent(class.hit_ratio()),
            milliseconds(class.mean_hit_ns()),
            milliseconds(class.mean_miss_ns()),
            format::whole(class.writes),
        ];
        TableRow { cells: cells.into_iter().map(Cell::plain).collect(), sum: false }
    });
    Table {
        caption: "Requests by class of traffic during the measurement",
        columns: vec![
            Column::text("Class"),
            Column::numbers("Reads"),
            Column::numbers("Answered by Flash"),
            Column::numbers("Flash: Mean (msec)"),
            Column::numbers("Volume: Mean (msec)"),
            Column::numbers("Writes"),
        ],
        rows: rows.collect(),
    }
}

/// How the hit ratio of page reads grew while the cache filled, warm-up included.
fn over_time(run: &RunRecord) -> Option<Table> {
    let with_cache: Vec<&IntervalRow> =
        run.intervals.iter().filter(|row| row.flash_cache.is_some()).collect();
    let each = with_cache.len().div_ceil(MOST_ROWS).max(1);
    let rows: Vec<TableRow> = with_cache.chunks(each).filter_map(row_over_time).collect();
    (!rows.is_empty()).then(|| Table {
        caption: "Hit ratio of page reads over time",
        columns: vec![
            Column::text("Until"),
            Column::numbers("Answered by Flash"),
            Column::numbers("Cached"),
        ],
        rows,
    })
}

fn row_over_time(rows: &[&IntervalRow]) -> Option<TableRow> {
    let mut pages = FlashCacheClass::default();
    for row in rows {
        pages += row.flash_cache.as_ref()?.database;
    }
    let last = rows.last()?;
    let cells = [
        format::offset(last.to_ns),
        percent(pages.hit_ratio()),
        format::size(last.flash_cache.as_ref()?.cached_bytes),
    ];
    Some(TableRow { cells: cells.into_iter().map(Cell::plain).collect(), sum: false })
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{} %", format::number(share * 100.0, 1)))
}

fn milliseconds(mean_ns: Option<f64>) -> String {
    mean_ns.map_or_else(|| "-".to_owned(), format::milliseconds)
}

#[cfg(test)]
mod tests {
    use record::{FlashCacheClass, FlashCacheInterval, Phase};

    use crate::tests::passing;
    use crate::text;

    #[test]
    fn a_run_without_a_cache_has_no_such_section() {
        assert!(super::section(&passing()).is_none());
    }

    #[test]
    fn hits_times_and_wear_are_shown() {
        let mut run = passing();
        for row in run.intervals.iter_mut().filter(|row| row.phase == Phase::Measure) {
            let database = FlashCacheClass {
                reads: 1_000,
                hits: 750,
                read_bytes: 32_768_000,
                hit_bytes: 24_576_000,
                hit_ns: 750 * 200_000,
                miss_ns: 250 * 12_000_000,
                ..FlashCacheClass::default()
            };
            row.flash_cache = Some(FlashCacheInterval {
                database,
                capacity_bytes: 1 << 30,
                cached_bytes: 1 << 29,
                flash_bytes_written: 8_192_000,
                ..FlashCacheInterval::default()
            });
        }
        let text = text(&run, &verdict::judge(&run));
        for expected in ["75.0 %", "0.200", "12.000", "512.0 MiB / 1.0 GiB", "Flash Cache"] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }
}
