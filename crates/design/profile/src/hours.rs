//! Log files by hour of the day, from either of the two scripts that count them.

use crate::FileReport;
use crate::kind::LogKind;
use crate::sheet::{BadRow, Sheet, SheetRow};

/// Adds a file to the sums of each hour.
pub(super) fn read(mut sheet: Sheet<'_>, report: &mut FileReport, hours: &mut [f64; 24]) {
    while let Some(row) = sheet.next() {
        report.rows += 1;
        let read = match report.kind {
            LogKind::LogHours => row.and_then(|row| one_hour(row, hours)),
            _ => row.and_then(|row| one_database(row, hours)),
        };
        if let Err(bad) = read {
            report.bad(bad);
        }
    }
}

/// A row per database, a column per hour; an hour without files is empty.
fn one_database(row: SheetRow<'_>, hours: &mut [f64; 24]) -> Result<(), BadRow> {
    let mut counts = [0; 24];
    for (hour, count) in counts.iter_mut().enumerate() {
        *count = row.count_or_zero(&format!("Hour-{hour:02}"))?;
    }
    for (sum, count) in hours.iter_mut().zip(counts) {
        *sum += count as f64;
    }
    Ok(())
}

/// Reads a row per hour. The samples of an hour may cover more or less than a whole hour, so log
/// files are counted per sampled second if the script gives that number.
fn one_hour(row: SheetRow<'_>, hours: &mut [f64; 24]) -> Result<(), BadRow> {
    let hour = row.count("Hour")?;
    let place = usize::try_from(hour).ok().and_then(|hour| hours.get_mut(hour));
    let sum = place.ok_or_else(|| row.bad("Hour", "0 to 23"))?;
    let logs = row.count("TotalLogsCreated")? as f64;
    let seconds = row.text("TotalSampleIntervalSeconds").replace(',', ".");
    *sum += match seconds.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 => logs / seconds * 3600.0,
        _ => logs,
    };
    Ok(())
}
