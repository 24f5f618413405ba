//! The CSV of the script `email_stats`: what each user sent and received on a day.

use crate::date::{DateOrder, local_day};
use crate::sheet::{BadRow, Sheet, SheetRow};
use crate::system::of_name;
use crate::tracking::{Counted, Traffic, mark};
use crate::{FileReport, Options};

/// Bytes of what the script calls MB.
const MEGABYTE: f64 = 1_048_576.0;

/// Adds a file to `traffic`; `known` are the rows that were counted before.
pub(super) fn read(
    mut sheet: Sheet<'_>,
    report: &mut FileReport,
    stats: &mut EmailStats,
    (options, dates): (&Options, DateOrder),
) {
    while let Some(row) = sheet.next() {
        report.rows += 1;
        if let Err(bad) = row.and_then(|row| stats.row(row, report, (options, dates))) {
            report.bad(bad);
        }
    }
}

/// What the files of the script say.
#[derive(Clone, Debug, Default)]
pub(super) struct EmailStats {
    pub traffic: Traffic,
    known: std::collections::BTreeSet<[u64; 2]>,
}

impl EmailStats {
    fn row(
        &mut self,
        row: SheetRow<'_>,
        report: &mut FileReport,
        (options, dates): (&Options, DateOrder),
    ) -> Result<(), BadRow> {
        let day = local_day(row.text("Date"), dates)
            .ok_or_else(|| row.bad("Date", "a date such as 11/25/2026"))?;
        let name = format!("{}@{}", row.text("User"), row.text("Domain")).to_lowercase();
        if let Some(reason) = of_name(&name) {
            self.traffic.system.insert(name);
            report.leave_out(reason);
            return Ok(());
        }
        if options.working_days_only && !day.is_working_day() {
            report.leave_out("not a working day");
            return Ok(());
        }
        let sent = counted(row, "Sent Total", "Sent MB Total")?;
        let received = counted(row, "Received Total", "Received MB Total")?;
        let unique = row.count_or_zero("Sent Unique Total")?;
        if !self.known.insert(mark(&(day, &name))) {
            report.leave_out("counted already");
            return Ok(());
        }
        report.saw(&day.to_string());
        let traffic = &mut self.traffic;
        traffic.days.insert(day);
        for (sum, more) in [(&mut traffic.sent, sent), (&mut traffic.received, received)] {
            sum.messages += more.messages;
            sum.bytes = sum.bytes.saturating_add(more.bytes);
        }
        traffic.sent_unique = Some(traffic.sent_unique.unwrap_or(0) + unique);
        traffic.mailboxes.insert(name);
        Ok(())
    }
}

fn counted(row: SheetRow<'_>, messages: &str, megabytes: &str) -> Result<Counted, BadRow> {
    let text = row.text(megabytes);
    let length = decimal(text).ok_or_else(|| row.bad(megabytes, "megabytes such as 3.00"))?;
    // No message total is near what a whole number cannot hold.
    let bytes = (length * MEGABYTE).round() as u64;
    Ok(Counted { messages: row.count(messages)?, bytes })
}

/// A number with two digits behind a point, or a comma; a separator of thousands stands further
/// left.
fn decimal(text: &str) -> Option<f64> {
    let (whole, part) = text.rsplit_once(['.', ',']).unwrap_or((text, "0"));
    let digits: String = whole.chars().filter(char::is_ascii_digit).collect();
    let is_plain = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | ' '));
    if !is_plain || digits.is_empty() {
        return None;
    }
    format!("{digits}.{part}").parse().ok()
}
