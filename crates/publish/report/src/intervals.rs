//! Every interval of a run as comma-separated values, for spreadsheets and plotting tools: the
//! counterpart of Jetstress's performance log.

use std::fmt::Write as _;

use record::{IntervalRow, RunRecord, Series, SeriesRow};

use crate::format::as_milliseconds;

/// One line per interval, database and kind of request. Times are in seconds since the start of the
/// run, latencies in milliseconds.
pub(crate) fn csv(run: &RunRecord) -> String {
    let mut csv = String::from(
        "phase,from_s,to_s,counts,database,requests,count,per_second,bytes,errors,mean_ms,p50_ms,\
         p99_ms,maximum_ms\n",
    );
    let names: Vec<String> =
        run.start.databases.iter().map(|facts| facts.name.replace('"', "\"\"")).collect();
    for interval in &run.intervals {
        for database in &interval.databases {
            let name = names.get(database.index as usize).map_or("", String::as_str);
            for (series, row) in &database.series {
                push(&mut csv, interval, name, (*series, row));
            }
        }
    }
    units::plain(&csv).into_owned()
}

fn push(csv: &mut String, interval: &IntervalRow, name: &str, (series, row): (Series, &SeriesRow)) {
    let of = &row.latency;
    let per_second = of.count as f64 / seconds(interval.span_ns().max(1));
    let _ = writeln!(
        csv,
        "{},{:.3},{:.3},{},\"{name}\",{},{},{per_second:.3},{},{},{:.6},{:.6},{:.6},{:.6}",
        interval.phase.name(),
        seconds(interval.from_ns),
        seconds(interval.to_ns),
        if interval.is_left_out { "no" } else { "yes" },
        series.name(),
        of.count,
        row.bytes,
        row.errors,
        of.mean_ns / 1e6,
        as_milliseconds(of.p50_ns),
        as_milliseconds(of.p99_ns),
        as_milliseconds(of.maximum_ns),
    );
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use record::{Phase, Series, synthetic::Synthetic};

    #[test]
    fn the_lines_add_up_to_the_run() {
        let mut run = Synthetic::default().run();
        run.start.databases[0].name = "A \"quoted\", one".to_owned();
        let csv = super::csv(&run);
        let columns = csv.lines().next().unwrap_or_default().split(',').count();
        assert!(csv.contains("\"A \"\"quoted\"\", one\""), "names are quoted");
        let reads: u64 = csv
            .lines()
            .filter(|line| line.starts_with(Phase::Measure.name()))
            .filter(|line| line.contains(",Database reads,"))
            .map(|line| {
                let cells: Vec<&str> = line.rsplit(',').collect();
                assert!(cells.len() >= columns, "{line}");
                cells[7].parse::<u64>().unwrap_or_default()
            })
            .sum();
        let sum = run.sum_of(Phase::Measure);
        assert!(reads > 0 && reads == sum.count(Series::DatabaseRead), "{reads}");
    }
}
