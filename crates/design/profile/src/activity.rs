//! The e-mail activity report of Microsoft 365: messages per user, without lengths.

use std::collections::BTreeSet;

use crate::date::day;
use crate::sheet::{BadRow, Sheet, SheetRow};
use crate::system::of_name;
use crate::{Activity, FileReport};

/// Adds a file; `known` are the users that were counted before.
pub(super) fn read(
    mut sheet: Sheet<'_>,
    report: &mut FileReport,
    activity: &mut Activity,
    known: &mut BTreeSet<String>,
) {
    while let Some(row) = sheet.next() {
        report.rows += 1;
        if let Err(bad) = row.and_then(|row| user(row, report, activity, known)) {
            report.bad(bad);
        }
    }
}

fn user(
    row: SheetRow<'_>,
    report: &mut FileReport,
    activity: &mut Activity,
    known: &mut BTreeSet<String>,
) -> Result<(), BadRow> {
    if let Some(reason) = of_name(row.text("User Principal Name")) {
        report.leave_out(reason);
        return Ok(());
    }
    if row.is_true("Is Deleted") {
        report.leave_out("deleted or disconnected");
        return Ok(());
    }
    let messages =
        row.count_or_zero("Send Count")?.saturating_add(row.count_or_zero("Receive Count")?);
    let days = row.count("Report Period")?;
    if days == 0 {
        return Err(row.bad("Report Period", "one day or more"));
    }
    let name = row.text("User Principal Name").to_lowercase();
    if !name.is_empty() && !known.insert(name) {
        report.leave_out("counted already");
        return Ok(());
    }
    let date = row.text("Report Refresh Date");
    if day(date).is_some() {
        report.saw(date);
    }
    activity.mailboxes += 1;
    activity.messages_per_day += messages as f64 / days as f64;
    Ok(())
}
