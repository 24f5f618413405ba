//! The CSV of the script `email_stats`: messages sent and received by each user per day.

use crate::date::{DateOrder, local_day};
use crate::sheet::{BadRow, Sheet, SheetRow};
use crate::system::of_name;
use crate::tracking::{Counted, Traffic, mark};
use crate::{FileReport, Options};

/// Bytes in one of the script's MB.
const MEGABYTE: u64 = 1 << 20;

/// Adds a file to `traffic`; `known` are the rows that were counted before.
pub(super) fn read(
    mut sheet: Sheet<'_>,
    report: &mut FileReport,
    stats: &mut EmailStats,
    (options, dates): (&Options, DateOrder),
) {
    while let Some(row) = sheet.next() {
        report.rows += 1;
        if let Err(bad) = row.and_then(|row| stats.add_row(row, report, (options, dates))) {
            report.bad(bad);
        }
    }
}

/// Contents of the script's files.
#[derive(Clone, Debug, Default)]
pub(super) struct EmailStats {
    pub traffic: Traffic,
    known: std::collections::BTreeSet<[u64; 2]>,
}

impl EmailStats {
    fn add_row(
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
    let bytes = length(row.text(megabytes));
    let bytes = bytes.ok_or_else(|| row.bad(megabytes, "megabytes such as 3.00"))?;
    Ok(Counted { messages: row.count(messages)?, bytes })
}

/// Parses megabytes into bytes. The last point or comma is the decimal separator.
fn length(text: &str) -> Option<u64> {
    let (whole, part) = text.rsplit_once(['.', ',']).unwrap_or((text, ""));
    let is_plain = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | ' '));
    let digits: String = whole.chars().chain(part.chars()).filter(char::is_ascii_digit).collect();
    let scale = 10_u64.checked_pow(u32::try_from(part.len()).ok()?)?;
    let bytes = digits.parse::<u64>().ok()?.checked_mul(MEGABYTE)?;
    is_plain.then_some(bytes / scale)
}
